"""Statistics of sums pooled over clusters, with the interval that their number allows.

Ten clusters or more get a percentile bootstrap of clusters, five to nine a t interval, fewer none. A degenerate interval
is replaced by that of the items. What has to be resampled is gathered first, so that it is drawn once for all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from validation.blas import one_thread
from validation.intervals import FEW, FEW_CLUSTERS, LEAST_CLUSTERS, TAILS, TOO_FEW, with_t
from validation.results import Estimate
from validation.strata import joined_strata, numbered, stratified_weights

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
"""Sums (..., cells) to a statistic (...), nan where it is undefined."""

DRAWS = 10_000
AT_A_TIME = 2**18
"""Weights that are multiplied at once."""
FEW_FOR_PERCENTILES = 20
"""A stratum with fewer clusters gets a warning, and the t interval beside the percentile interval."""


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
        bounds, fewest_clusters, seed, draws: see `ratios.ratio`.
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
    """(clusters, draws), kept: ratios of one table are drawn alike."""
    return stratified_weights(np.frombuffer(stratum, dtype=np.intp), resamples=draws, seed=seed)


def _resampled(tables: Sequence[Floats], weights: NDArray[np.unsignedinteger]) -> list[Floats]:
    """(draws, cells) for each table: its sums over each resample. Columns that several tables share are summed once.

    Some resamples at a time are turned into numbers of the length that the product needs, so that these stay in the
    processor's cache.
    """
    number: dict[bytes, int] = {}
    places = [[number.setdefault(column.tobytes(), len(number)) for column in table.T] for table in tables]
    rows = np.stack([np.frombuffer(column) for column in number])
    clusters, draws = weights.shape
    sums = np.empty((len(rows), draws))
    step = max(1, AT_A_TIME // max(clusters, 1))
    with one_thread(step * rows.size):
        for start in range(0, draws, step):
            sums[:, start : start + step] = rows @ weights[:, start : start + step].astype(np.float64)
    return [sums[place].T for place in places]


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
