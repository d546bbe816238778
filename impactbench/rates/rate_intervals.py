"""Intervals of rates that resampled metrics give, and what replaces or stands beside them where metrics are few."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from impactbench.rates.metric_bootstrap import LEVEL, Floats, percentiles
from impactbench.rates.rate_sample import RateSample, quotient
from validation.intervals import FEW_CLUSTERS, LEAST_CLUSTERS, clopper_pearson
from validation.results import Estimate

FEW_IN_STRATUM = 20
"""A stratum with fewer metrics varies too little when resampled: the t interval stands beside the percentiles."""
NO_WIDTH = 1e-6
METHOD = "percentile bootstrap of metrics within benchmark x polarity, {draws} draws"
SHORT = "a stratum of {size} metrics (below 20): this interval is too short; {t}: [{low:.3f}, {high:.3f}]"

Bounds = tuple[float, float]
RATE: Bounds = (0.0, 1.0)
DIFFERENCE: Bounds = (-1.0, 1.0)


class _Evidence(NamedTuple):
    """What one estimate is made of."""

    value: float
    n: int
    clusters: int
    smallest: int
    """Metrics in the smallest stratum."""
    low: float
    high: float
    """Percentiles of the resamples."""
    undefined: int
    """Resamples without a value."""
    t_low: float
    t_high: float
    df: float
    """The t interval within strata."""
    means_low: float
    means_high: float
    """The t interval of metric means."""


def estimates(
    sample: RateSample, *, strata: NDArray[np.int64], bounds: Bounds = RATE, reason: str = "no_ratings"
) -> NDArray[np.object_]:
    """(...): the values of the sample with their 95% intervals.

    Ten metrics or more have percentiles, five to nine a t interval, fewer none. Where a stratum has fewer than twenty
    metrics a note gives Satterthwaite's t interval within strata. A rate of 0 or 1 has Clopper and Pearson's on
    metrics.

    Args:
        sample: the values and their resamples.
        strata: (metrics,): what the metrics were drawn within.
        bounds: what a value can be at least and at most.
        reason: why a value is undefined, where it is.
    """
    clusters = sample.counted.sum(axis=-1)
    columns = (
        *(sample.value, sample.n, clusters, _smallest_stratum(sample, strata)),
        *percentiles(sample.drawn),
        *_stratified_t(sample, strata, bounds),
        *_t_of_means(sample, clusters, bounds),
    )
    found = np.empty(sample.value.size, dtype=object)
    for k, row in enumerate(zip(*(column.ravel().tolist() for column in columns), strict=True)):
        evidence = _Evidence(*row)
        if evidence.n == 0:
            found[k] = Estimate.undefined(reason, n=0)
        elif evidence.clusters < LEAST_CLUSTERS:
            found[k] = _estimate(
                evidence, notes=(f"fewer than 5 metrics ({evidence.clusters}): no interval",)
            )
        elif bounds == RATE and evidence.value in bounds:
            found[k] = _at_the_boundary(evidence)
        elif evidence.clusters < FEW_CLUSTERS:
            found[k] = _of_few(evidence)
        else:
            found[k] = _of_many(evidence, draws=sample.drawn.shape[-1])
    return found.reshape(sample.value.shape)


def _at_the_boundary(of: _Evidence) -> Estimate:
    exact = clopper_pearson(round(of.value) * of.clusters, of.clusters)
    return _estimate(of, exact.low, exact.high, method="Clopper-Pearson on metrics")


def _of_few(of: _Evidence) -> Estimate:
    method = f"t({of.clusters - 1}) of metric means"
    return _estimate(of, of.means_low, of.means_high, method=method, notes=(f"few metrics ({of.clusters})",))


def _of_many(of: _Evidence, *, draws: int) -> Estimate:
    t = f"stratified t, Satterthwaite df {of.df:.1f}"
    notes: tuple[str, ...] = ()
    if of.undefined:
        notes = (f"{of.undefined} of {draws} resamples undefined and left out",)
    if not of.high - of.low > NO_WIDTH:
        return _estimate(of, of.t_low, of.t_high, method=t, notes=(*notes, "the bootstrap has no width"))
    if of.smallest < FEW_IN_STRATUM:
        notes = (*notes, SHORT.format(size=of.smallest, t=t, low=of.t_low, high=of.t_high))
    return _estimate(of, of.low, of.high, method=METHOD.format(draws=draws), notes=notes)


def _estimate(
    of: _Evidence,
    low: float | None = None,
    high: float | None = None,
    *,
    method: str = "",
    notes: tuple[str, ...] = (),
) -> Estimate:
    """The value with its ends, or without them where they have no width."""
    if low is not None and high is not None and not high - low > NO_WIDTH:
        low, high, method = None, None, ""
        notes = (*notes, "all metrics are alike: no interval")
    return Estimate(
        value=of.value, low=low, high=high, n=of.n, n_clusters=of.clusters, method=method, notes=notes
    )


def _t_of_means(sample: RateSample, clusters: NDArray[np.int64], bounds: Bounds) -> tuple[Floats, Floats]:
    """Ends of the t interval of metric means, without strata."""
    variance = (sample.influence**2).sum(axis=-1) * clusters / np.maximum(clusters - 1, 1)
    return _t_ends(sample.value, variance, clusters - 1.0, bounds)


def _stratified_t(
    sample: RateSample, strata: NDArray[np.int64], bounds: Bounds
) -> tuple[Floats, Floats, Floats]:
    """Ends and degrees of freedom of Satterthwaite's t interval of metrics drawn within strata, as `validation.intervals.stratified_t`, all at once.

    Where a value rests on some metrics of a stratum, only these bring degrees of freedom.
    """
    size = _by_stratum(np.ones(len(strata)), strata)
    sums, squares = _by_stratum(sample.influence, strata), _by_stratum(sample.influence**2, strata)
    part = (squares - sums**2 / size) * size / np.maximum(size - 1, 1)
    part = np.where(part > 1e-20, part, 0.0)
    variance = part.sum(axis=-1)
    counted = _by_stratum(sample.counted, strata)
    df = quotient(variance**2, (part**2 / np.maximum(counted - 1, 1)).sum(axis=-1))
    return *_t_ends(sample.value, variance, df, bounds), df


def _smallest_stratum(sample: RateSample, strata: NDArray[np.int64]) -> NDArray[np.int64]:
    """(...): the fewest metrics that a value rests on in a stratum where it rests on any."""
    counted = _by_stratum(sample.counted, strata).astype(np.int64)
    return np.asarray(np.where(counted > 0, counted, len(strata) + FEW_IN_STRATUM).min(axis=-1))


def _by_stratum(values: NDArray[np.float64] | NDArray[np.bool_], strata: NDArray[np.int64]) -> Floats:
    """(..., strata): sums over the last axis, in ascending order of the strata."""
    if (np.diff(strata) < 0).any():
        order = np.argsort(strata, kind="stable")
        values, strata = values[..., order], strata[order]
    starts = np.flatnonzero(np.diff(strata, prepend=-1))
    return np.add.reduceat(values, starts, axis=-1, dtype=np.float64)


def _t_ends(
    value: Floats, variance: Floats, df: NDArray[np.floating], bounds: Bounds
) -> tuple[Floats, Floats]:
    reach = stats.t.ppf((1 + LEVEL) / 2, np.maximum(np.nan_to_num(df), 1)) * np.sqrt(variance)
    return np.maximum(value - reach, bounds[0]), np.minimum(value + reach, bounds[1])
