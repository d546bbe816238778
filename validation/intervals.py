"""Intervals of 95%: which one a number gets, and what is said when it cannot have one.

Chance-corrected coefficients get a delete-one jackknife of log(1 - coefficient) and a zero rule; shares get Wilson's
interval with an effective n; means over strata get Satterthwaite's t.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from validation.arguments import require_count
from validation.item_sums import FloatArray, ItemSums, quotient
from validation.results import Estimate
from validation.strata import joined_strata

LEVEL = 0.95
TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
Z = float(stats.norm.ppf(TAILS[1]))
FEW_ITEMS = 30
"""Below this many items the interval of a chance-corrected coefficient is not to be relied on."""
FEW_CLUSTERS = 10
"""Below this many clusters an interval says so."""
LEAST_CLUSTERS = 5
"""Below this many clusters there is no pooled interval."""

ZERO_RULE = "zero rule (no disagreement was seen)"
ONE_ITEM = "one item: no interval"
ALL_IN_ONE = (
    "all that varies lies in one {block}: without it the coefficient is undefined, so there is no interval"
)
NO_WIDTH = "leaving out any one item (or cluster) changes nothing, so there is no interval"
FEW = "few clusters ({n})"
TOO_FEW = "fewer than 5 clusters ({n}): no pooled interval"


def jackknife_t_log(sums: ItemSums, *, clusters: NDArray[np.int64] | None = None) -> Estimate:
    """A coefficient with the t interval of its jackknife on the scale log(1 - coefficient).

    One item is left out at a time, or one cluster where `clusters` has two or more of them. Where no disagreement
    is seen at all the jackknife has no width and the zero rule gives the lower end (it counts items, also with
    clusters, so that one dissent more never raises the lower end). Where leaving one block out
    leaves no disagreement, its log is not finite, and the jackknife of the coefficient itself is carried to the log
    scale by its slope. Fewer than five clusters have no pooled interval.

    Args:
        sums: the coefficient, of one group.
        clusters: (items,) cluster numbers.

    Source: Tukey, J. W., Annals of Mathematical Statistics 1958 (the jackknife).
    """
    return jackknife_t_logs(sums.by_cluster(clusters))[0]


def jackknife_t_logs(sums: ItemSums) -> list[Estimate]:
    """The estimates of all groups at once, by leaving out one column at a time."""
    total = sums.total()
    observed, expected = sums.disagreement(total)
    observed_without, expected_without = sums.disagreement(total[..., None] - sums.items)
    counted = sums.times * (sums.items != 0).any(axis=0)
    se = _jackknife_se_of_log(observed_without, expected_without, counted, quotient(observed, expected))
    lost = ((counted > 0) & ~(expected_without > 0)).any(axis=-1)
    n, blocks, ratings = sums.n_items, sums.n_blocks, sums.n_ratings
    reach = stats.t.ppf(0.5 + LEVEL / 2, np.maximum(blocks - 1, 1)) * se
    by_group = (observed, expected, sums.largest, reach, lost, n, blocks, ratings)
    rows = zip(*(column.tolist() for column in by_group), strict=True)
    return [_coefficient_estimate(_Jackknifed(*row), clustered=sums.clustered) for row in rows]


class _Jackknifed(NamedTuple):
    observed: float
    expected: float
    largest: float
    reach: float  # half the width of the interval of log(1 - coefficient); NaN where it has none
    lost: bool  # whether the coefficient is undefined without one of the blocks
    items: float
    blocks: float
    ratings: float


def _jackknife_se_of_log(
    observed: FloatArray, expected: FloatArray, times: FloatArray, departure: FloatArray
) -> FloatArray:
    """(groups,): standard error of log(1 - coefficient) from its replicates; NaN where it has none."""
    left_out = quotient(observed, expected)
    seen = times > 0
    finite = (~seen | (left_out > 0)).all(axis=-1, keepdims=True)
    slope = quotient(left_out, departure[:, None])
    logs = np.log(left_out, out=np.zeros_like(left_out), where=seen & (left_out > 0))
    replicates = np.where(seen, np.where(finite, logs, slope), 0.0)
    n = times.sum(axis=-1)
    mean = quotient((replicates * times).sum(axis=-1), n)
    spread = (times * (replicates - mean[:, None]) ** 2).sum(axis=-1)
    return np.sqrt(quotient((n - 1) * spread, n))


def _coefficient_estimate(found: _Jackknifed, *, clustered: bool) -> Estimate:
    n, ratings = int(found.items), int(found.ratings)
    if n == 0:
        return Estimate.undefined("no_pairable_items", n=0, n_ratings=0)
    if not found.expected > 0:
        return Estimate.undefined("no_variation", n=n, n_ratings=ratings)
    departure = found.observed / found.expected
    clusters = int(found.blocks) if clustered else None
    point = Estimate(value=1 - departure, n=n, n_ratings=ratings, n_clusters=clusters)
    if clusters is not None and clusters < LEAST_CLUSTERS:
        return point.noting(TOO_FEW.format(n=clusters))
    if n == 1:
        return point.noting(ONE_ITEM)
    if clusters is not None and clusters < FEW_CLUSTERS:
        point = point.noting(FEW.format(n=clusters))
    if found.observed == 0:
        unseen = zero_rule(n, ratings_per_item=ratings / n) / (found.expected / found.largest)
        return _within(point, 1 - unseen, 1.0, ZERO_RULE)
    if found.lost or not np.isfinite(found.reach):
        return point.noting(ALL_IN_ONE.format(block="cluster" if clustered else "item"))
    if found.reach < 1e-9:
        return point.noting(NO_WIDTH)
    low, high = 1 - departure * np.exp(found.reach), 1 - departure * np.exp(-found.reach)
    left_out = "clusters" if clustered else "items"
    return _within(point, low, high, f"jackknife t on log(1 - coefficient), {left_out} left out")


def zero_rule(n_items: int, *, ratings_per_item: float) -> float:
    """The largest disagreement that may still hide where none was seen in n items, at 97.5%.

    The share of items with a dissent is below 1 - .025^(1/n); one dissent among m raters makes 2/m of the pairs.

    >>> round(zero_rule(9, ratings_per_item=5), 4)
    0.1345
    """
    return float((1 - ((1 - LEVEL) / 2) ** (1 / n_items)) * 2 / ratings_per_item)


def _within(point: Estimate, low: float, high: float, method: str) -> Estimate:
    return replace(point, low=max(float(low), -1.0), high=min(float(high), 1.0), method=method)


def wilson(successes: float, n: int, *, effective_n: float | None = None) -> Estimate:
    """A share with Wilson's score interval.

    Args:
        successes: how many of the n; may be fractional (soft labels).
        n: how many there are.
        effective_n: how many independent ones they are worth; n by default.

    Raises:
        ValueError: successes is below 0 or above n.

    Source: Wilson, E. B., Journal of the American Statistical Association 1927, doi:10.1080/01621459.1927.10502953.

    >>> w = wilson(30, 36)
    >>> round(w.low, 4), round(w.high, 4)
    (0.6811, 0.9213)
    """
    require_count(successes, n)
    if n == 0:
        return Estimate.undefined("no_items", n=0)
    worth = float(n) if effective_n is None else effective_n
    low, high = _confidence_interval(successes / n * worth, worth, "wilson")
    method = "Wilson" if effective_n is None else f"Wilson, effective n {effective_n:.1f}"
    # The score interval meets 0 and 1 only up to rounding.
    low, high = (0.0 if successes == 0 else float(low)), (1.0 if successes == n else float(high))
    return Estimate(value=successes / n, low=low, high=high, n=n, method=method)


def clopper_pearson(successes: float, n: int, *, effective_n: float | None = None) -> Estimate:
    """A share with the exact interval of Clopper and Pearson.

    Args:
        successes: how many of the n; may be fractional (soft labels).
        n: how many there are.
        effective_n: how many independent ones they are worth; n by default.

    Raises:
        ValueError: successes is below 0 or above n.

    Source: Clopper, C. J., and Pearson, E. S., Biometrika 1934, doi:10.1093/biomet/26.4.404.

    >>> c = clopper_pearson(0, 10)
    >>> c.low, round(c.high, 4)
    (0.0, 0.3085)
    """
    require_count(successes, n)
    if n == 0:
        return Estimate.undefined("no_items", n=0)
    worth, value = float(n) if effective_n is None else effective_n, successes / n
    low, high = _confidence_interval(value * worth, worth, "beta")
    method = "Clopper-Pearson" if effective_n is None else f"Clopper-Pearson, effective n {effective_n:.1f}"
    low, high = (0.0 if value == 0 else float(low)), (1.0 if value == 1 else float(high))
    return Estimate(value=value, low=min(low, value), high=max(high, value), n=n, method=method)


@lru_cache(maxsize=65_536)
def _confidence_interval(count: float, n: float, method: str) -> tuple[float, float]:
    # Audits ask for the same few counts thousands of times, and the library takes a millisecond for each.
    low, high = proportion_confint(count, n, alpha=1 - LEVEL, method=method)
    return float(low), float(high)


def wilson_of_ratio(sums: ItemSums, *, clusters: NDArray[np.int64] | None = None) -> Estimate:
    """A share of agreeing pairs with Wilson's interval at its effective n.

    The share is 1 - (sum of disagreement) / (sum of weight). Its variance v comes from the residuals of items (of
    clusters, where there are two or more), and the effective n is p(1 - p) / v: the number of independent yes-or-no
    observations with that variance. It is never more than half the ratings, the number of disjoint pairs, and with
    clusters it shrinks by (z / t)^2 with t on G - 1 degrees of freedom and never exceeds that of independent items.
    Two raters an item and no clusters give the number of items, so the ordinary Wilson interval. A share of exactly
    0 or 1 has no variance, and counts the items.

    Source: Korn, E. L., and Graubard, B. I., Survey Methodology 1998 (the effective n and its t correction).
    """
    n, ratings = int(sums.n_items[0]), int(sums.n_ratings[0])
    if n == 0:
        return Estimate.undefined("no_pairable_items", n=0, n_ratings=0)
    share = float(sums.coefficient(sums.total())[0])
    grouped = sums.by_cluster(clusters)
    groups = int(grouped.n_blocks[0]) if grouped.clustered else None
    worth = float(n)
    if 0 < share < 1:
        worth = min(_effective_n(sums, share), ratings / 2)
        if groups is not None:
            t = stats.t.ppf(0.5 + LEVEL / 2, groups - 1)
            worth = min(worth, _effective_n(grouped, share) * (groups - 1) / groups * (Z / t) ** 2)
    found = wilson(share * n, n, effective_n=worth)
    point = Estimate(value=share, n=n, n_ratings=ratings, n_clusters=groups)
    if n == 1:
        return point.noting(ONE_ITEM)
    if groups is not None and groups < LEAST_CLUSTERS:
        return point.noting(TOO_FEW.format(n=groups))
    notes = () if groups is None or groups >= FEW_CLUSTERS else (FEW.format(n=groups),)
    return replace(point, low=found.low, high=found.high, method=found.method, notes=notes)


def _effective_n(sums: ItemSums, share: float) -> float:
    apart, weight = sums.items[0, 0], sums.items[1, 0]
    residual = apart - (1 - share) * weight
    variance = float((residual**2).sum() / weight.sum() ** 2)
    return share * (1 - share) / variance if variance > 0 else np.inf


def with_t(
    point: Estimate,
    *,
    se: float,
    df: float,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    method: str,
) -> Estimate:
    """The estimate with value +- t se, within what it can be; infinite degrees of freedom are the normal."""
    if point.value is None or se < 1e-12:
        return point.noting("no spread at all: no interval")
    reach = float(stats.t.ppf(TAILS[1], df)) * se
    low, high = max(point.value - reach, bounds[0]), min(point.value + reach, bounds[1])
    return replace(point, low=low, high=high, method=method)


def stratified_t(
    values: Sequence[float] | FloatArray,
    *,
    strata: Sequence[Hashable],
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """The mean of values (one a cluster) drawn within strata, with Satterthwaite's t interval.

    Every value counts alike, so a stratum weighs by its size. The values of strata of one are put together; a lone
    one joins the smallest other stratum.

    Args:
        values: one a cluster, such as the pass rate of a metric.
        strata: the stratum of each value, such as benchmark and polarity.
        bounds: what the mean can be at least and at most.

    Raises:
        ValueError: values and strata differ in number.

    Source: Satterthwaite, F. E., Biometrics Bulletin 1946, doi:10.2307/3002019.

    >>> e = stratified_t([0.2, 0.4, 0.7, 0.9], strata=["a", "a", "b", "b"])
    >>> round(e.value, 2), round(e.low, 3), round(e.high, 3)
    (0.55, 0.246, 0.854)
    """
    x = np.asarray(values, dtype=np.float64)
    if len(x) != len(strata):
        raise ValueError(f"{len(x)} values need as many strata, not {len(strata)}")
    n = len(x)
    if n == 0:
        return Estimate.undefined("no_items", n=0)
    mean = float(x.mean())
    if n == 1:
        return Estimate(value=mean, n=1, n_clusters=1, notes=("one cluster: no interval",))
    number = {name: i for i, name in enumerate(dict.fromkeys(strata))}
    declared = np.array([number[name] for name in strata], dtype=np.int64)
    merged = bool((np.bincount(declared) == 1).any())
    stratum = joined_strata(declared)
    size = np.bincount(stratum).astype(np.float64)
    means = np.bincount(stratum, x) / size
    within = np.bincount(stratum, (x - means[stratum]) ** 2) / (size - 1)
    part = (size / n) ** 2 * within / size
    variance = float(part.sum())
    notes = ("strata of one cluster were put together",) if merged else ()
    if variance <= 0:
        return _constant_mean(mean, n, bounds).noting(*notes)
    df = variance**2 / float((part**2 / (size - 1)).sum())
    point = Estimate(value=mean, n=n, n_clusters=n, notes=notes)
    method = f"stratified t, Satterthwaite df {df:.1f}"
    return with_t(point, se=variance**0.5, df=df, bounds=bounds, method=method)


def _constant_mean(mean: float, n: int, bounds: tuple[float, float]) -> Estimate:
    if bounds == (0.0, 1.0) and mean in bounds:
        exact = clopper_pearson(round(mean * n), n)
        return Estimate(
            value=mean,
            low=exact.low,
            high=exact.high,
            n=n,
            n_clusters=n,
            method="Clopper-Pearson on clusters",
        )
    return Estimate(value=mean, n=n, n_clusters=n, notes=("all values are equal: no interval",))
