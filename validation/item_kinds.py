"""Items whose ratings are alike: few kinds of item make up a study of any size, and what an item says depends on its kind."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from validation.item_sums import ItemSums, alpha_sums
from validation.ratings import MISSING


def kinds_of_items(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """(kinds, categories) the counts that there are, and (items,) which of them an item has.

    Args:
        counts: (items, categories) how many raters put an item into a category.

    >>> kinds, kind = kinds_of_items(np.array([[3, 0], [1, 2], [3, 0]]))
    >>> kinds.tolist(), kind.tolist()
    ([[1, 2], [3, 0]], [1, 0, 1])
    """
    if not counts.size:
        return counts[:0], np.zeros(len(counts), dtype=np.intp)
    base = int(counts.max()) + 1
    if base ** counts.shape[1] > np.iinfo(np.int64).max:
        kinds, kind = np.unique(counts, axis=0, return_inverse=True)
        return kinds, kind
    # A row as the digits of one number is sorted a hundred times as fast as a row.
    number = counts @ base ** np.arange(counts.shape[1])
    _, first, kind = np.unique(number, return_index=True, return_inverse=True)
    return counts[first], kind


def alpha_of_all(counts: NDArray[np.int64]) -> ItemSums:
    """The sums behind nominal alpha.

    Args:
        counts: (items, categories).
    """
    kinds, kind = kinds_of_items(counts)
    return _alpha_sums(kinds, np.bincount(kind, minlength=len(kinds))[None])


def alpha_by_rater(
    counts: NDArray[np.int64], codes: NDArray[np.int64], *, instead: NDArray[np.int64] | None = None
) -> ItemSums:
    """The sums behind nominal alpha, in a table for each rater: without what they said, or with something in its place.

    Args:
        counts: (items, categories).
        codes: (items, raters): what each said, or `MISSING`.
        instead: (items,): what stands in the rater's place; nothing by default.
    """
    item, rater = np.nonzero(codes != MISSING)
    changed = counts[item]
    places = np.arange(len(item))
    changed[places, codes[item, rater]] -= 1
    if instead is not None:
        changed[places, instead[item]] += 1
    kinds, kind = kinds_of_items(np.concatenate([counts, changed]))
    before, after = kind[: len(counts)], kind[len(counts) :]
    cells = codes.shape[1] * len(kinds)
    more = np.bincount(rater * len(kinds) + after, minlength=cells)
    less = np.bincount(rater * len(kinds) + before[item], minlength=cells)
    times = np.bincount(before, minlength=len(kinds)) + (more - less).reshape(codes.shape[1], len(kinds))
    return _alpha_sums(kinds, times)


def _alpha_sums(kinds: NDArray[np.int64], times: NDArray[np.int64]) -> ItemSums:
    return replace(alpha_sums(kinds, level="nominal"), times=times.astype(np.float64))
