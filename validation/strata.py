"""Clusters within strata of a design: which strata go together, and resamples within them."""

import numpy as np
from numpy.typing import NDArray

DRAWN_AT_A_TIME = 2**18
"""Clusters that are drawn before they are counted. Part of what a seed means: another number draws other clusters."""


def joined_strata(strata: NDArray[np.integer]) -> NDArray[np.int64]:
    """Strata of one put together, a single such one with the smallest other: drawn alone it would never vary.

    Args:
        strata: (clusters,) stratum numbers.

    Returns:
        (clusters,) stratum numbers from 0 without a gap.

    >>> joined_strata(np.array([0, 0, 0, 1, 1, 2])).tolist()
    [0, 0, 0, 1, 1, 1]
    >>> joined_strata(np.array([0, 0, 1, 2])).tolist()
    [0, 0, 1, 1]
    """
    _, codes, counts = np.unique(strata, return_inverse=True, return_counts=True)
    alone = counts[codes] == 1
    home = len(counts)
    if alone.sum() == 1 and len(counts) > 1:
        home = int(np.argmin(np.where(counts == 1, len(strata) + 1, counts)))
    return np.unique(np.where(alone, home, codes), return_inverse=True)[1].astype(np.int64)


def numbered(clusters: NDArray[np.generic]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(clusters,) the first item of each cluster in the order of their names, and (items,) cluster numbers.

    >>> [found.tolist() for found in numbered(np.array([7, 2, 7, 2]))]
    [[1, 0], [1, 0, 1, 0]]
    """
    if (
        clusters.dtype.kind in "iu"
        and clusters.min(initial=0) >= 0
        and clusters.max(initial=0) <= 4 * len(clusters)
    ):
        # Small whole numbers need no sorting.
        there = np.bincount(clusters.astype(np.intp)) > 0
        of_item = (np.cumsum(there) - 1)[clusters]
        first = np.empty(int(there.sum()), dtype=np.intp)
        first[of_item[::-1]] = np.arange(len(clusters))[::-1]
        return first, of_item
    _, first, of_item = np.unique(clusters, return_index=True, return_inverse=True)
    return first, of_item


def stratified_weights(
    strata: NDArray[np.integer], *, resamples: int, seed: int | np.random.Generator
) -> NDArray[np.unsignedinteger]:
    """(clusters, resamples): how often each cluster is drawn, with replacement within its stratum.

    Clusters alone in their stratum are put together first.
    """
    generator = np.random.default_rng(seed)
    codes = joined_strata(strata)
    of_stratum = [np.flatnonzero(codes == stratum) for stratum in np.unique(codes)]
    weights = np.empty((len(codes), resamples), dtype=np.min_scalar_type(len(codes)))
    step = max(1, DRAWN_AT_A_TIME // max(len(codes), 1))
    for start in range(0, resamples, step):
        end = min(start + step, resamples)
        for members in of_stratum:
            weights[members, start:end] = times_drawn(len(members), end - start, generator)
    return weights


def times_drawn(columns: int, resamples: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """(columns, resamples): how often each column is among as many as there are, drawn with replacement.

    They are drawn and counted: numpy's multinomial takes nine times as long.

    >>> times_drawn(5, 3, np.random.default_rng(0)).sum(axis=0).tolist()
    [5, 5, 5]
    """
    kind = np.uint16 if columns < 2**16 else np.int64
    chosen = generator.integers(columns, size=(columns, resamples), dtype=kind)
    place = np.multiply(chosen, resamples, dtype=np.int64)
    place += np.arange(resamples)
    return np.bincount(place.ravel(), minlength=columns * resamples).reshape(columns, resamples)
