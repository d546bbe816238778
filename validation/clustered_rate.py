"""Pass rates pooled over metrics: the judge's rate, put right by its mean error within each metric.

A few metrics say little about the next one, whatever the number of labels: the metrics are the unit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.arguments import require_one_length, require_share
from validation.intervals import LEAST_CLUSTERS, TOO_FEW, with_t
from validation.results import Estimate
from validation.sampling_weights import probabilities

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredRate:
    """A corrected pass rate pooled over metrics."""

    rate: Estimate
    """With the t interval of the variation between metrics."""
    standard_error: Estimate
    """From the variation between metrics."""
    item_standard_error: Estimate
    """As if the items were independent."""
    inflation: Estimate
    """The one divided by the other: above 1 a warning that intervals over items are too short."""


def clustered_rate(
    reference: ArrayLike,
    judge_pass: ArrayLike,
    *,
    clusters: ArrayLike,
    inclusion: ArrayLike | None = None,
    fewest_clusters: int = LEAST_CLUSTERS,
) -> ClusteredRate:
    """The judge's rate, put right by the mean error within each metric; metrics are the unit.

    Every metric with a label stands for the metrics without. It weighs by its number of conversations.

    Args:
        reference: (items,) labels of all conversations judged, nan where not reviewed.
        judge_pass: (items,) verdicts, nan where missing (left out).
        clusters: (items,) metrics.
        inclusion: (items,) inclusion probabilities of the labels; equal within metrics by default.
        fewest_clusters: with fewer reviewed metrics there is no interval.
    """
    y, j, group = (np.asarray(x) for x in (reference, judge_pass, clusters))
    pi = np.ones(len(j)) if inclusion is None else probabilities(inclusion)
    require_one_length(reference=y, judge_pass=j, clusters=group, inclusion=pi)
    judged = ~np.isnan(j.astype(np.float64))
    y, j, pi = y[judged].astype(np.float64), j[judged].astype(np.float64), pi[judged]
    _, of_item = np.unique(group[judged], return_inverse=True)
    labelled = ~np.isnan(y)
    if not labelled.any():
        return _no_clustered_rate("no_ratings" if len(j) else "no_items")
    error, weight = (y - j)[labelled], (1 / pi)[labelled]
    member, size = of_item[labelled], np.bincount(of_item)
    total = np.bincount(member, weight, minlength=len(size))
    reviewed = total > 0
    rectifiers = np.bincount(member, weight * error, minlength=len(size))[reviewed] / total[reviewed]
    n_each = np.bincount(member, minlength=len(size))[reviewed]
    spread = np.bincount(member, (error - _at(rectifiers, reviewed)[member]) ** 2, minlength=len(size))
    share_of = size[reviewed] / size[reviewed].sum()
    item_variance = float((share_of**2 * spread[reviewed] / np.maximum(n_each, 1) ** 2).sum())
    return rate_from_rectifiers(
        rectifiers,
        judge_rate=float(j.mean()),
        weights=share_of,
        item_standard_error=item_variance**0.5,
        n=int(labelled.sum()),
        fewest_clusters=fewest_clusters,
    )


def rate_from_rectifiers(
    rectifiers: ArrayLike,
    *,
    judge_rate: float,
    weights: ArrayLike | None = None,
    item_standard_error: float | None = None,
    n: int,
    fewest_clusters: int = LEAST_CLUSTERS,
) -> ClusteredRate:
    """The judge's rate plus the weighted mean of each metric's mean (label - verdict), with t over metrics.

    Args:
        rectifiers: (metrics,).
        judge_rate: of all conversations.
        weights: (metrics,) they need not sum to 1; equal by default.
        item_standard_error: as if items were independent, where it is known.
        n: labels behind the rectifiers.
        fewest_clusters: with fewer metrics there is no interval.

    >>> found = rate_from_rectifiers([-1/9, -.5/9, 0, -2/9], judge_rate=.687, n=36, fewest_clusters=2)
    >>> round(found.rate.value, 3), round(found.rate.low, 3), round(found.rate.high, 3)
    (0.59, 0.439, 0.741)
    """
    r = np.asarray(rectifiers, dtype=np.float64)
    w = np.ones_like(r) if weights is None else np.asarray(weights, dtype=np.float64)
    require_one_length(rectifiers=r, weights=w)
    require_share("judge_rate", judge_rate)
    if len(r) == 0:
        return _no_clustered_rate("no_ratings")
    w, G = w / w.sum(), len(r)
    value = float(judge_rate + w @ r)
    notes = () if 0 <= value <= 1 else (f"the estimate {value:.3f} was cut to what a rate can be",)
    rate = Estimate(value=min(max(value, 0.0), 1.0), n=n, n_clusters=G, notes=notes)
    if G < 2:
        nothing = Estimate.undefined("too_few_clusters", n=n)
        return ClusteredRate(
            rate=rate.noting(TOO_FEW.format(n=G)),
            standard_error=nothing,
            item_standard_error=_plain(item_standard_error, n),
            inflation=nothing,
        )
    se = float(np.sqrt(G / (G - 1) * (w**2 * (r - w @ r) ** 2).sum()))
    if fewest_clusters > G:
        rate = rate.noting(TOO_FEW.format(n=G))
    else:
        rate = with_t(rate, se=se, df=G - 1, bounds=(0.0, 1.0), method=f"t({G - 1}) over clusters")
        rate = rate.noting(*([f"few clusters ({G})"] if G < 10 else []))
    return ClusteredRate(
        rate=rate,
        standard_error=_plain(se, n),
        item_standard_error=_plain(item_standard_error, n),
        inflation=_plain(se / item_standard_error if item_standard_error else None, n),
    )


def _at(values: Floats, where: NDArray[np.bool_]) -> Floats:
    spread_out = np.zeros(len(where))
    spread_out[where] = values
    return spread_out


def _plain(value: float | None, n: int) -> Estimate:
    if value is None:
        return Estimate.undefined("not_identified", n=n)
    return Estimate(value=value, n=n, method="no interval")


def _no_clustered_rate(reason: str) -> ClusteredRate:
    nothing = Estimate.undefined(reason, n=0)
    return ClusteredRate(rate=nothing, standard_error=nothing, item_standard_error=nothing, inflation=nothing)
