"""The metric-cluster bootstrap of pass rates: every rate of every model on the same resampled metrics.

A rate is a sum of passed conversations over a sum of scored ones, so a resample needs no conversation: how often each
metric is drawn, times the sums of each metric, is one matrix product for all models, and the sums of any group of
metrics are one more.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from validation.blas import one_thread
from validation.strata import times_drawn

Floats = NDArray[np.float64]
Drawn = NDArray[np.floating]
"""Resampled values in the last axis, NaN where a resample leaves a value undefined."""

LEVEL = 0.95
DRAWS_AT_A_TIME = 1_000
"""Part of what a seed means: another number draws other metrics."""
ENOUGH_FOR_BOUNDS = 1_000
EXACT_IN_SINGLE = 2**24
"""Whole numbers below this are exact in single precision, so sums of conversations are the same on every machine."""


def resampled_rates(
    passed: NDArray[np.int64] | Floats,
    scored: NDArray[np.int64] | Floats,
    *,
    strata: NDArray[np.int64],
    groups: NDArray[np.bool_],
    draws: int,
    seed: int,
) -> Drawn:
    """The rate of each group of metrics in each column, in each resample of the metrics.

    Metrics are drawn with replacement within their stratum, and a drawn metric brings all its columns (models, ages).
    Equal seeds and strata draw equal metrics, whatever the columns and groups: results of separate calls stay paired.

    Args:
        passed: (metrics, columns): conversations that passed.
        scored: (metrics, columns): conversations that have a verdict.
        strata: (metrics,): the number of each metric's stratum.
        groups: (groups, metrics): which metrics a rate is of.
        draws: how many resamples.
        seed: of the resamples.

    Returns:
        (groups, columns, draws), NaN where no conversation of the group was scored.

    Raises:
        ValueError: draws is below 1.
    """
    require_draws(draws)
    strata = np.unique(strata, return_inverse=True)[1]
    order, cells = _cells(strata, groups)
    bottoms, bottom_of = np.unique(scored, axis=1, return_inverse=True)
    sums = np.concatenate([passed, bottoms], axis=1)[order]
    kind = _precision(sums, strata[order])
    by_column = np.ascontiguousarray(sums.T.astype(kind))
    of_cell = np.stack([groups[:, order[cell.run.start]] for cell in cells], axis=1).astype(kind)
    columns = passed.shape[1]
    rates = np.empty((len(groups), columns, draws), dtype=kind)
    in_cells = np.empty((len(cells), sums.shape[1], min(draws, DRAWS_AT_A_TIME)), dtype=kind)
    of_stratum = {s: [k for k, cell in enumerate(cells) if cell.stratum == s] for s in set(strata.tolist())}
    with one_thread(sums.size * draws):
        for start, drawn in multiplicities(strata, draws=draws, seed=seed):
            several = min(DRAWS_AT_A_TIME, draws - start)
            for stratum, weights in enumerate(drawn):
                for k in of_stratum[stratum]:
                    times = weights[cells[k].places].astype(kind, copy=False)
                    np.matmul(by_column[:, cells[k].run], times, out=in_cells[k, :, :several])
            flat = in_cells[:, :, :several].reshape(len(cells), -1)
            in_groups = (of_cell @ flat).reshape(len(groups), -1, several)
            conversations = in_groups[:, columns:]
            if bottoms.shape[1] > 1:  # else it broadcasts, without a copy
                conversations = conversations[:, bottom_of]
            _divide(in_groups[:, :columns], conversations, out=rates[:, :, start : start + several])
    return rates


def _divide(passed: Drawn, scored: Drawn, *, out: Drawn) -> None:
    if scored.all():
        np.divide(passed, scored, out=out)
    else:
        out[:] = np.nan
        np.divide(passed, scored, out=out, where=scored > 0)


def multiplicities(
    strata: NDArray[np.int64], *, draws: int, seed: int
) -> Iterator[tuple[int, Iterator[NDArray[np.float32]]]]:
    """How often each metric is in each resample: the resamples from `start` on, a few at a time.

    Yields:
        The number of the first resample, and for each stratum in ascending order (metrics of the stratum in the
        order given, resamples): to be taken before the next.
    """
    sizes = np.unique(strata, return_counts=True)[1].tolist()
    generator = np.random.default_rng(seed)
    for start in range(0, draws, DRAWS_AT_A_TIME):
        several = min(DRAWS_AT_A_TIME, draws - start)
        yield start, (times_drawn(size, several, generator).astype(np.float32) for size in sizes)


def percentiles(drawn: Drawn) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The 2.5% and 97.5% quantiles of the last axis over its defined values, and how many are not.

    An end is NaN where nothing is defined.

    Args:
        drawn: (..., draws).
    """
    rows = drawn.reshape(-1, drawn.shape[-1])
    ends, undefined = np.full((2, len(rows)), np.nan), np.zeros(len(rows), dtype=np.int64)
    holed = np.isnan(rows.sum(axis=1))
    for k, row in enumerate(rows):
        values = row[~np.isnan(row)] if holed[k] else row
        undefined[k] = len(row) - len(values)
        if len(values):
            ends[:, k] = _ends(values)
    low, high = ends.reshape(2, *drawn.shape[:-1])
    return low, high, undefined.reshape(drawn.shape[:-1])


def _ends(values: Drawn) -> tuple[float, float]:
    """Both quantiles, interpolated as `numpy.quantile` does, which is three times slower over these many rows.

    Only the tails beyond bounds from every twentieth value are ordered, unless the bounds prove too narrow.
    """
    last = len(values) - 1
    at = (1 - LEVEL) / 2 * last
    below, part = int(at), at % 1
    above = min(below + 1, last)
    low = high = values
    if last > ENOUGH_FOR_BOUNDS:
        some = np.sort(values[::20])
        reach = len(some) // 18
        low, high = values[values <= some[reach]], values[values >= some[-1 - reach]]
        low, high = (tail if len(tail) > above else values for tail in (low, high))
    low, high = np.sort(low), np.sort(high)
    return (
        (1 - part) * float(low[below]) + part * float(low[above]),
        (1 - part) * float(high[-1 - below]) + part * float(high[-1 - above]),
    )


class _Cell(NamedTuple):
    """Metrics of one stratum that are in the same groups."""

    run: slice
    """Where they are in the order of all."""
    stratum: int
    """The number of the stratum, from 0."""
    places: slice | NDArray[np.int64]
    """Where they are among the metrics of the stratum, as given."""


def _cells(strata: NDArray[np.int64], groups: NDArray[np.bool_]) -> tuple[NDArray[np.int64], list[_Cell]]:
    """An order of the metrics in which each cell is a run, and the cells."""
    alike = np.unique(np.packbits(groups, axis=0), axis=1, return_inverse=True)[1].reshape(-1)
    order = np.lexsort([alike, strata])
    changes = (np.diff(strata[order]) != 0) | (np.diff(alike[order]) != 0)
    starts = [0, *(np.flatnonzero(changes) + 1).tolist()]
    place = np.empty(len(strata), dtype=np.int64)
    for stratum in range(strata.max() + 1):
        members = np.flatnonzero(strata == stratum)
        place[members] = np.arange(len(members))
    return order, [
        _Cell(slice(a, b), int(strata[order[a]]), _as_slice(place[order[a:b]]))
        for a, b in pairwise([*starts, len(order)])
    ]


def _as_slice(places: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """Neighbours as a slice, which spares a copy of their weights."""
    neighbours = bool((np.diff(places) == 1).all())
    return slice(int(places[0]), int(places[-1]) + 1) if neighbours else places


def _precision(sums: NDArray[np.int64] | Floats, strata: NDArray[np.int64]) -> type[np.floating]:
    """Single precision where sums are whole numbers and no resample can hold more than it counts exactly."""
    if not np.issubdtype(sums.dtype, np.integer):
        return np.float64
    largest = sum(int(sums[strata == s].max(initial=0)) * int((strata == s).sum()) for s in np.unique(strata))
    return np.float32 if largest < EXACT_IN_SINGLE else np.float64


def require_draws(draws: int) -> None:
    if draws < 1:
        raise ValueError(f"draws={draws!r} must be at least 1")
