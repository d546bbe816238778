"""The metric-cluster bootstrap of pass rates: every rate of every model on the same resampled metrics.

A rate is a sum of passed conversations over a sum of scored ones, so a resample needs no conversation: how often each
metric is drawn, times the sums of each metric, is one matrix product for all models, and the sums of any group of
metrics are one more.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Floats = NDArray[np.float64]
Drawn = NDArray[np.floating]
"""Resampled values in the last axis, NaN where a resample leaves a value undefined."""

LEVEL = 0.95
DRAWS_AT_A_TIME = 1_000
"""Part of what a seed means: another number draws other metrics."""
EXACT_IN_SINGLE = 2**24
"""Whole numbers below this are exact in single precision, so sums of conversations are the same on every machine."""


def resampled_rates(
    passed: NDArray[np.int64],
    scored: NDArray[np.int64],
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
    order, cells = _cells(strata, groups)
    sums = np.concatenate([passed, scored], axis=1)[order]
    kind = _precision(sums, strata[order])
    by_column = np.ascontiguousarray(sums.T.astype(kind))
    of_cell = np.stack([groups[:, order[cell.start]] for _, cell in cells], axis=1).astype(kind)
    members = [[cell for stratum, cell in cells if stratum == s] for s in dict.fromkeys(s for s, _ in cells)]
    columns, n_groups = passed.shape[1], len(groups)
    rates = np.full((n_groups, columns, draws), np.nan, dtype=kind)
    in_cells = np.empty((len(cells), 2 * columns, min(draws, DRAWS_AT_A_TIME)), dtype=kind)
    with one_blas_thread():
        for start, drawn in multiplicities(strata, draws=draws, seed=seed):
            several, number = 0, 0
            for weights, own in zip(drawn, members, strict=True):
                several, first = len(weights), own[0].start
                for cell in own:
                    times = weights[:, cell.start - first : cell.stop - first].astype(kind, copy=False)
                    np.matmul(by_column[:, cell], times.T, out=in_cells[number, :, :several])
                    number += 1
            flat = in_cells[:, :, :several].reshape(len(cells), -1)
            passes, conversations = np.split((of_cell @ flat).reshape(n_groups, -1, several), 2, axis=1)
            here = rates[:, :, start : start + several]
            np.divide(passes, conversations, out=here, where=conversations > 0)
    return rates


def multiplicities(
    strata: NDArray[np.int64], *, draws: int, seed: int
) -> Iterator[tuple[int, list[NDArray[np.float32]]]]:
    """How often each metric is in each resample: the resamples from `start` on, a few at a time.

    Yields:
        The number of the first resample, and for each stratum in ascending order its (resamples, metrics of the
        stratum in the order given).
    """
    sizes = np.unique(strata, return_counts=True)[1].tolist()
    generator = np.random.default_rng(seed)
    for start in range(0, draws, DRAWS_AT_A_TIME):
        several = min(DRAWS_AT_A_TIME, draws - start)
        yield start, [_multinomial(size, several, generator) for size in sizes]


def _multinomial(size: int, several: int, generator: np.random.Generator) -> NDArray[np.float32]:
    """(several, size): counts of `size` draws with replacement, by counting: numpy's multinomial is ten times slower."""
    kind = np.uint16 if size < 2**16 else np.int64
    chosen = generator.integers(size, size=(several, size), dtype=kind)
    place = chosen + (np.arange(several) * size)[:, None]
    counts = np.bincount(place.ravel(), minlength=several * size)
    return counts.reshape(several, size).astype(np.float32)


def percentiles(drawn: Drawn) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """The 2.5% and 97.5% quantiles of the last axis over its defined values, and how many are not.

    The values are reordered in place: a copy would double the memory. An end is NaN where nothing is defined.

    Args:
        drawn: (..., draws).
    """
    rows = drawn.reshape(-1, drawn.shape[-1])
    undefined = np.isnan(rows).sum(axis=1)
    ends = np.full((2, len(rows)), np.nan)
    for missing in np.unique(undefined).tolist():
        left = rows.shape[1] - missing
        if left:
            same = undefined == missing
            ends[:, same] = _quantiles(rows if same.all() else rows[same], left)
    low, high = ends.reshape(2, *drawn.shape[:-1])
    return low, high, undefined.reshape(drawn.shape[:-1])


def _quantiles(rows: Drawn, left: int) -> Floats:
    """(2, rows): quantiles of the `left` smallest of each row: undefined values are partitioned to its end."""
    at = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2]) * (left - 1)
    below = np.floor(at).astype(int)
    above = np.minimum(below + 1, left - 1)
    rows.partition(np.unique([below, above]), axis=1)
    lower, upper = rows[:, below].astype(np.float64), rows[:, above].astype(np.float64)
    return np.asarray((lower + (at - below) * (upper - lower)).T)


def _cells(
    strata: NDArray[np.int64], groups: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], list[tuple[int, slice]]]:
    """The metrics in order of stratum, and runs of them that are in the same groups: (stratum, run)."""
    alike = np.unique(np.packbits(groups, axis=0), axis=1, return_inverse=True)[1].reshape(-1)
    order = np.lexsort([alike, strata])
    first = np.flatnonzero(
        np.r_[True, (np.diff(strata[order]) != 0) | (np.diff(alike[order]) != 0)] if len(order) else []
    )
    runs = [slice(int(a), int(b)) for a, b in zip(first, [*first[1:], len(order)], strict=True)]
    return order, [(int(strata[order[run.start]]), run) for run in runs]


def _precision(sums: NDArray[np.int64], strata: NDArray[np.int64]) -> type[np.floating]:
    """Single precision where no resample can hold more conversations than it counts exactly."""
    largest = sum(int(sums[strata == s].max(initial=0)) * int((strata == s).sum()) for s in np.unique(strata))
    return np.float32 if largest < EXACT_IN_SINGLE else np.float64


def require_draws(draws: int) -> None:
    if draws < 1:
        raise ValueError(f"draws={draws!r} must be at least 1")


def one_blas_thread() -> AbstractContextManager[object]:
    """Two threads make these products slower: they are many, and small."""
    limit: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
