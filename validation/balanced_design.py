"""Balanced incomplete block designs: every pair of raters shares as many items."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancedDesign:
    """A balanced incomplete block design: blocks are items, points are raters."""

    raters: int
    """v: the number of raters."""
    items: int
    """b: the number of blocks."""
    raters_per_item: int
    """k: the size of every block."""
    items_per_rater: int
    """r: blocks that every rater is in."""
    items_per_pair: int
    """lambda: blocks that every pair of raters shares."""


def balanced_design(teams: Sequence[Sequence[int]], *, raters: int) -> BalancedDesign | None:
    """The parameters of a balanced incomplete block design, or None where the teams are not one.

    >>> fano = [[0, 1, 3], [1, 2, 4], [2, 3, 5], [3, 4, 6], [4, 5, 0], [5, 6, 1], [6, 0, 2]]
    >>> balanced_design(fano, raters=7)
    BalancedDesign(raters=7, items=7, raters_per_item=3, items_per_rater=3, items_per_pair=1)
    """
    loads = np.zeros(raters, dtype=np.int64)
    pairs = np.zeros((raters, raters), dtype=np.int64)
    for team in teams:
        if len(set(team)) != len(team) or not all(0 <= rater < raters for rater in team):
            return None
        loads[list(team)] += 1
        for first, second in combinations(sorted(team), 2):
            pairs[first, second] += 1
    sizes = {len(team) for team in teams}
    shared = set(pairs[np.triu_indices(raters, 1)].tolist())
    if (
        len(sizes) != 1
        or len(set(loads.tolist())) != 1
        or len(shared) != 1
        or min(sizes) >= raters
        or 0 in shared
    ):
        return None
    return BalancedDesign(
        raters=raters,
        items=len(teams),
        raters_per_item=sizes.pop(),
        items_per_rater=int(loads[0]),
        items_per_pair=shared.pop(),
    )
