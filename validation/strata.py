"""Clusters within strata of a design: which strata go together, and resamples within them."""

import numpy as np
from numpy.typing import NDArray


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


def stratified_weights(
    strata: NDArray[np.integer], *, resamples: int, seed: int | np.random.Generator
) -> NDArray[np.float64]:
    """(resamples, clusters): how often each cluster is drawn, with replacement within its stratum.

    Clusters alone in their stratum are put together first.
    """
    generator = np.random.default_rng(seed)
    codes = joined_strata(strata)
    weights = np.zeros((resamples, len(codes)))
    for stratum in np.unique(codes):
        members = np.flatnonzero(codes == stratum)
        weights[:, members] = generator.multinomial(
            len(members), np.full(len(members), 1 / len(members)), size=resamples
        )
    return weights
