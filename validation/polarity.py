"""Metrics that look as if their polarity or their definition were turned around."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from validation.arguments import require_one_length
from validation.confusion import checked, item_cells, kappas
from validation.intervals import FEW_ITEMS
from validation.judge_accuracy import accuracy_by_cluster
from validation.results import Estimate

Floats = NDArray[np.float64]

INVERTED_BELOW, INVERTED_ABOVE, INVERTED_POSTERIOR = 0.5, 0.8, 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PolarityAlarm:
    """Whether a metric looks as if its polarity or its definition were turned around."""

    cluster: Hashable
    """The metric."""
    accuracy: Estimate
    """Judge against reference."""
    posterior: Estimate
    """Posterior probability of an accuracy below one half (Jeffreys prior)."""
    kappa: Estimate
    """Cohen's kappa of the same items: below 0, they agree less than chance would have it."""
    raised: bool
    """Accuracy below .5 with posterior above .8, and the inverted accuracy above .8: exclude until checked."""
    suspected: bool
    """The weaker level: `raised`, or 30 items or more with the whole interval of kappa below 0. Look before you show."""


def polarity_tripwire(
    reference: ArrayLike, judge_pass: ArrayLike, *, clusters: ArrayLike
) -> tuple[PolarityAlarm, ...]:
    """Every metric with the alarms that it may be inverted.

    `raised` where the judge contradicts the reference almost throughout, `suspected` where it agrees less than chance.

    >>> alarm, = polarity_tripwire([1, 1, 1, 0, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1, 0, 1], clusters=["m"] * 8)
    >>> alarm.raised, round(alarm.posterior.value, 3)
    (True, 0.999)
    """
    y, j, w = checked(reference, judge_pass, None)
    require_one_length(reference=y, clusters=clusters)
    cells, usable = item_cells(y, j, w)
    group = np.asarray(clusters)[usable]
    alarms = []
    accuracies = accuracy_by_cluster(cells, group, None)
    number, _ = pd.factorize(group)
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=len(accuracies)))[:-1]
    of_cluster = np.split(cells[order], ends) if accuracies else []
    for (cluster, accuracy), against in zip(accuracies, kappas(of_cluster), strict=True):
        below_chance = accuracy.n >= FEW_ITEMS and against.high is not None and against.high < 0
        agreed = (accuracy.value or 0.0) * accuracy.n
        inverted = float(stats.beta.cdf(INVERTED_BELOW, agreed + 0.5, accuracy.n - agreed + 0.5))
        raised = agreed < (1 - INVERTED_ABOVE) * accuracy.n and inverted > INVERTED_POSTERIOR
        alarms.append(
            PolarityAlarm(
                cluster=cluster,
                accuracy=accuracy,
                posterior=Estimate(
                    value=inverted, n=accuracy.n, method="Jeffreys posterior of accuracy < .5"
                ),
                kappa=against,
                raised=raised,
                suspected=raised or below_chance,
            )
        )
    return tuple(alarms)
