"""The sums behind nominal alpha of all raters, and of a table for each of them: without them, or with somebody in their place."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from validation.item_kinds import kinds_of_items
from validation.item_sums import ItemSums, alpha_sums
from validation.ratings import MISSING


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
