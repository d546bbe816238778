"""Scores on a scale, standardised within raters: who is harsh, and who uses little of the scale, no longer counts."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from validation.intervals import FEW, FEW_CLUSTERS, LEAST_CLUSTERS, TOO_FEW, stratified_t
from validation.results import Estimate

ANYWHERE = (-np.inf, np.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardisedGroup:
    """One group of items, such as the conversations of one simulator."""

    group: Hashable
    mean: Estimate
    """Mean standardised score over clusters: 0 is what raters give on the average, 1 is one of their own standard
    deviations above it."""
    behind_best: Estimate | None
    """Paired within clusters: this group minus the one with the highest mean; None for that one."""
    raw_mean: float
    """Mean score as given."""
    n_ratings: int


def standardised(scores: Sequence[float], raters: Sequence[Hashable]) -> NDArray[np.float64]:
    """Each score minus its rater's mean, in that rater's standard deviations; NaN where a rater's scores do not vary.

    >>> standardised([2, 4, 9, 10], ["a", "a", "b", "b"]).round(3).tolist()
    [-0.707, 0.707, -0.707, 0.707]
    """
    frame = pd.DataFrame({"score": np.asarray(scores, dtype=np.float64), "rater": list(raters)})
    of_rater = frame.groupby("rater", sort=False)["score"]
    spread = of_rater.transform("std").to_numpy(dtype=np.float64)
    away = (frame["score"] - of_rater.transform("mean")).to_numpy(dtype=np.float64)
    found = np.full(len(frame), np.nan)
    np.divide(away, spread, out=found, where=spread > 0)
    return found


def standardised_groups(
    scores: Sequence[float],
    *,
    raters: Sequence[Hashable],
    groups: Sequence[Hashable],
    clusters: Sequence[Hashable],
) -> list[StandardisedGroup]:
    """Groups by their mean standardised score, highest first, with t intervals over clusters.

    The intervals speak of other clusters (scenarios) rated by these raters. They suppose that raters saw groups in about
    the same mixture: who saw the better ones alone would be standardised to the mean of all.

    Args:
        scores: one a rating.
        raters: who gave it.
        groups: what is compared, such as the simulator of the conversation.
        clusters: what items share across groups, such as the scenario.

    Raises:
        ValueError: they differ in number.
    """
    if not len(scores) == len(raters) == len(groups) == len(clusters):
        raise ValueError(
            f"{len(scores)} scores need as many raters, groups and clusters, not {len(raters)}, {len(groups)} and"
            f" {len(clusters)}"
        )
    frame = pd.DataFrame(
        {"raw": np.asarray(scores, dtype=np.float64), "group": list(groups), "cluster": list(clusters)}
    )
    frame["z"] = standardised(scores, raters)
    rated = frame.dropna(subset=["z"])
    if rated.empty:
        return []
    table = rated.pivot_table(index="cluster", columns="group", values="z", aggfunc="mean")
    best = table.mean().idxmax()
    found = [
        StandardisedGroup(
            group=group,
            mean=_mean(table[group]),
            behind_best=None if group == best else _mean(table[group] - table[best]),
            raw_mean=float(rated.loc[rated["group"] == group, "raw"].mean()),
            n_ratings=int((rated["group"] == group).sum()),
        )
        for group in table.columns
    ]
    return sorted(found, key=lambda one: -(one.mean.value or 0.0))


def _mean(by_cluster: "pd.Series[float]") -> Estimate:
    values: NDArray[np.float64] = np.asarray(by_cluster.dropna(), dtype=np.float64)
    if 0 < len(values) < LEAST_CLUSTERS:
        return Estimate(
            value=float(values.mean()),
            n=len(values),
            n_clusters=len(values),
            notes=(TOO_FEW.format(n=len(values)),),
        )
    found = stratified_t(values, strata=["all"] * len(values), bounds=ANYWHERE)
    return found.noting(FEW.format(n=len(values))) if 0 < len(values) < FEW_CLUSTERS else found
