"""Ratios of sums over items (shares, means, error rates), with the interval that their design allows.

Items alone get Wilson's interval (Clopper-Pearson under ten). Ten clusters or more get a percentile bootstrap of
clusters, five to nine a t interval, fewer none. A degenerate interval is replaced by that of
the items.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.arguments import require_one_length
from validation.blas import one_thread
from validation.intervals import (
    FEW,
    FEW_CLUSTERS,
    LEAST_CLUSTERS,
    TAILS,
    TOO_FEW,
    clopper_pearson,
    wilson,
    with_t,
)
from validation.item_sums import quotient
from validation.results import Estimate
from validation.strata import joined_strata, numbered, stratified_weights

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Sums (..., cells) to a statistic (...), nan where it is undefined."""

DRAWS = 10_000
AT_A_TIME = 2**18
"""Weights that are multiplied at once."""
FEWEST_FOR_WILSON = 10
FEW_FOR_PERCENTILES = 20
"""A stratum with fewer clusters gets a warning, and the t interval beside the percentile interval."""


def ratio(
    numerator: ArrayLike,
    denominator: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    fewest_clusters: int = LEAST_CLUSTERS,
    seed: int = 0,
    draws: int = DRAWS,
    policy: str | None = None,
) -> Estimate:
    """The ratio sum(numerator) / sum(denominator): a share, a mean, or a weighted one.

    Args:
        numerator: (items,) what counts; items with a denominator of 0 or nan are left out.
        denominator: (items,) out of how much, weights included; ones by default.
        clusters: (items,) cluster of each item; None where items are independent.
        strata: (items,) design stratum of each item's cluster; clusters are drawn within strata.
        bounds: the least and the largest value that the ratio can have.
        fewest_clusters: with fewer clusters there is no pooled interval.
        seed: of the bootstrap. Equal seeds draw equal clusters, so that ratios of one table stay paired.
        draws: resamples.
        policy: carried into the estimate.

    Raises:
        ValueError: the arrays differ in length.

    >>> agreement = ratio([1] * 30 + [0] * 6)
    >>> round(agreement.value, 4), round(agreement.low, 4), round(agreement.high, 4)
    (0.8333, 0.6811, 0.9213)
    """
    return settled(
        [
            open_ratio(
                numerator,
                denominator,
                clusters=clusters,
                strata=strata,
                bounds=bounds,
                fewest_clusters=fewest_clusters,
                seed=seed,
                draws=draws,
                policy=policy,
            )
        ]
    )[0]


def open_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    fewest_clusters: int = LEAST_CLUSTERS,
    seed: int = 0,
    draws: int = DRAWS,
    policy: str | None = None,
) -> "Estimate | Resampling":
    """As `ratio`, but where it has to be resampled that is left to `settled`, which does so for many ratios at once."""
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.ones_like(top) if denominator is None else np.asarray(denominator, dtype=np.float64)
    require_one_length(numerator=top, denominator=bottom, clusters=clusters, strata=strata)
    kept = (np.nan_to_num(bottom) > 0) & ~np.isnan(top)
    top, bottom = top[kept], bottom[kept]
    if len(top) == 0:
        return Estimate.undefined("no_items", n=0, policy=policy)
    alone = of_items(top, bottom, bounds=bounds, policy=policy)
    if clusters is None:
        return alone
    return open_clusters(
        np.stack([top, bottom], axis=1),
        statistic=lambda sums: quotient(sums[..., 0], sums[..., 1]),
        alone=alone,
        clusters=np.asarray(clusters)[kept],
        strata=None if strata is None else np.asarray(strata)[kept],
        bounds=bounds,
        fewest_clusters=fewest_clusters,
        seed=seed,
        draws=draws,
    )


def of_items(top: Floats, bottom: Floats, *, bounds: tuple[float, float], policy: str | None) -> Estimate:
    """A ratio over independent items; unequal weights count as their effective number (Kish 1965)."""
    n, value = len(top), float(top.sum() / bottom.sum())
    effective = float(bottom.sum() ** 2 / (bottom**2).sum())
    if bounds == (0.0, 1.0):
        return replace(share(min(max(value, 0.0), 1.0), n=n, effective_n=effective), policy=policy)
    point = Estimate(value=value, n=n, policy=policy)
    if n < 2:
        return point.noting("one item: no interval")
    residual = top - value * bottom
    se = float(np.sqrt(n / (n - 1) * (residual**2).sum()) / bottom.sum())
    return with_t(point, se=se, df=n - 1, bounds=bounds, method="t of items")


def share(value: float, *, n: int, effective_n: float | None = None) -> Estimate:
    """A share of n items: Wilson from ten items on, Clopper-Pearson under ten; soft counts may be fractions.

    >>> share(1.0, n=9).method, round(share(1.0, n=9).low, 3)
    ('Clopper-Pearson', 0.664)
    """
    worth = float(n) if effective_n is None or abs(effective_n - n) < 1e-9 * n else effective_n
    interval = wilson if worth >= FEWEST_FOR_WILSON else clopper_pearson
    return interval(value * n, n, effective_n=None if worth == n else worth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """A pooled statistic that lacks the percentiles of its resamples."""

    point: Estimate
    guard: Estimate
    """What it becomes where the resamples do not vary."""
    statistic: Statistic
    sums: Floats
    """(clusters, cells)."""
    stratum: NDArray[np.intp]
    holding: NDArray[np.bool_]
    """(clusters,): whether the statistic rests on it."""
    se: float
    df: float
    bounds: tuple[float, float]
    seed: int
    draws: int


def open_clusters(
    cells: Floats,
    *,
    statistic: Statistic,
    alone: Estimate,
    clusters: NDArray[np.generic],
    strata: NDArray[np.generic] | None = None,
    informative: NDArray[np.bool_] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    fewest_clusters: int = LEAST_CLUSTERS,
    seed: int,
    draws: int = DRAWS,
) -> Estimate | Resampling:
    """A statistic of sums of cells, pooled over clusters; what has to be resampled is left to `settled`.

    Args:
        cells: (items, cells) what is summed.
        statistic: from sums to the statistic.
        alone: the same statistic with the interval of independent items: its value, and the guard at the boundary.
        clusters: (items,).
        strata: (items,) or None.
        informative: (items,) items that the statistic rests on; clusters without any do not count. All by default.
        bounds, fewest_clusters, seed, draws: see `ratio`.
    """
    if alone.value is None:
        return alone
    sums, stratum, of_item = cluster_sums(cells, clusters, strata)
    resting = np.ones(len(cells), dtype=bool) if informative is None else informative
    holding = np.bincount(of_item, resting, minlength=len(sums)) > 0
    n_clusters = int(holding.sum())
    point = replace(alone, low=None, high=None, method="", n_clusters=n_clusters)
    if n_clusters < max(fewest_clusters, 2):
        return point.noting(
            TOO_FEW.format(n=n_clusters) if n_clusters < LEAST_CLUSTERS else FEW.format(n=n_clusters)
        )
    guard = replace(
        alone,
        n_clusters=n_clusters,
        notes=(*alone.notes, "no spread between clusters: the interval of the items"),
    )
    se, df = jackknife(sums[holding], statistic, stratum[holding])
    if alone.value in bounds or se == 0:
        return guard
    if n_clusters < FEW_CLUSTERS:
        if np.isnan(se):
            return point.noting("all that varies lies in one cluster: no interval")
        return with_t(point, se=se, df=df, bounds=bounds, method=f"t({df:.3g}) of cluster means").noting(
            FEW.format(n=n_clusters)
        )
    return Resampling(
        point=point,
        guard=guard,
        statistic=statistic,
        sums=sums,
        stratum=stratum,
        holding=holding,
        se=se,
        df=df,
        bounds=bounds,
        seed=seed,
        draws=draws,
    )


def settled(found: Sequence[Estimate | Resampling]) -> list[Estimate]:
    """The estimates, once all that is open was resampled: what is drawn alike in one product."""
    alike: dict[tuple[bytes, int, int], list[Resampling]] = {}
    for one in found:
        if isinstance(one, Resampling):
            alike.setdefault((one.stratum.tobytes(), one.seed, one.draws), []).append(one)
    values: dict[int, Floats] = {}
    for drawn, members in alike.items():
        sums = _resampled([one.sums for one in members], _resamples(*drawn))
        values |= {id(one): one.statistic(of_one) for one, of_one in zip(members, sums, strict=True)}
    return [one if isinstance(one, Estimate) else _percentiles(one, values[id(one)]) for one in found]


def cluster_sums(
    cells: Floats, clusters: NDArray[np.generic], strata: NDArray[np.generic] | None
) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """(clusters, cells) sums, (clusters,) stratum numbers, (items,) cluster numbers.

    Strata of one cluster are put together (`joined_strata`): nothing can be drawn within one.
    """
    first, of_item = numbered(clusters)
    columns = [np.bincount(of_item, column, minlength=len(first)) for column in cells.T]
    sums = np.stack(columns, axis=1).astype(np.float64)
    if strata is None:
        return sums, np.zeros(len(first), dtype=np.intp), of_item
    return sums, joined_strata(np.unique(strata[first], return_inverse=True)[1]), of_item


def jackknife(sums: Floats, statistic: Statistic, stratum: NDArray[np.intp]) -> tuple[float, float]:
    """Standard error by leaving out one cluster at a time within strata, and Satterthwaite's degrees of freedom.

    For equal clusters and a mean this is the standard error of the cluster means. The error is nan where leaving a
    cluster out leaves nothing to compute.
    """
    left_out = statistic(sums.sum(axis=0) - sums)
    size = np.bincount(stratum)
    mean = np.bincount(stratum, left_out, minlength=len(size)) / np.maximum(size, 1)
    spread = np.bincount(stratum, (left_out - mean[stratum]) ** 2, minlength=len(size))
    part = np.where(size > 1, (size - 1) / np.maximum(size, 1) * spread, 0)
    variance = float(part.sum())
    # Rounding in sums of ones leaves a spread of about 1e-16 where there is none.
    if np.isnan(variance) or variance < 1e-24:
        return (float("nan") if np.isnan(variance) else 0.0), float(len(sums) - 1)
    df = variance**2 / float((part**2 / np.maximum(size - 1, 1)).sum())
    return float(np.sqrt(variance)), df


@lru_cache(maxsize=16)
def _resamples(stratum: bytes, seed: int, draws: int) -> NDArray[np.unsignedinteger]:
    """(draws, clusters), kept: ratios of one table are drawn alike. Small counts, in the smallest type that holds them."""
    drawn = stratified_weights(np.frombuffer(stratum, dtype=np.intp), resamples=draws, seed=seed)
    return drawn.astype(np.min_scalar_type(int(drawn.max(initial=0))))


def _resampled(tables: Sequence[Floats], weights: NDArray[np.unsignedinteger]) -> list[Floats]:
    """(draws, cells) for each table: its sums over each resample. Columns that several tables share are summed once.

    Some resamples at a time are turned into numbers of the length that the product needs, so that these stay in the
    processor's cache.
    """
    number: dict[bytes, int] = {}
    places = [[number.setdefault(column.tobytes(), len(number)) for column in table.T] for table in tables]
    columns = np.stack([np.frombuffer(column) for column in number], axis=1)
    sums = np.empty((len(weights), columns.shape[1]))
    step = max(1, AT_A_TIME // max(weights.shape[1], 1))
    with one_thread(step * columns.size):
        for start in range(0, len(weights), step):
            np.matmul(
                weights[start : start + step].astype(np.float64), columns, out=sums[start : start + step]
            )
    return [sums[:, place] for place in places]


def _percentiles(open_: Resampling, values: Floats) -> Estimate:
    point, se, df, stratum = open_.point, open_.se, open_.df, open_.stratum[open_.holding]
    defined = values[~np.isnan(values)]
    notes = []
    if lost := len(values) - len(defined):
        notes.append(f"{lost} of {len(values)} resamples undefined and left out")
    if len(defined) == 0:
        return point.noting(*notes, "no interval")
    low, high = (float(end) for end in np.quantile(defined, TAILS))
    if high - low < 1e-12:
        return open_.guard.noting(*notes)
    smallest = int(np.bincount(stratum)[np.unique(stratum)].min())
    if smallest < FEW_FOR_PERCENTILES and not np.isnan(se):
        beside = with_t(point, se=se, df=df, bounds=open_.bounds, method="")
        notes.append(
            f"a stratum of only {smallest} clusters: the percentile interval tends to be short;"
            f" t({df:.3g}) gives {beside.low:.3f} to {beside.high:.3f}"
        )
    return replace(
        point, low=low, high=high, method=f"percentile bootstrap of clusters, {len(values)} draws"
    ).noting(*notes)
