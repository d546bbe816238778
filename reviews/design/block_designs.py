"""Perfectly even teams, where the numbers allow them: every pair of raters meets in the same number of items.

A cyclic design: a few base blocks, each shifted round all raters (Bose 1939). The Fano plane is {0, 1, 3} modulo 7.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

_MOST_STEPS = 20_000


@lru_cache(maxsize=64)
def cyclic_design(raters: int, *, overlap: int, items: int) -> tuple[tuple[int, ...], ...] | None:
    """(items,): the team of each item, so that all pairs meet equally often; None where none was found.

    >>> cyclic_design(7, overlap=3, items=7)
    ((0, 1, 3), (1, 2, 4), (2, 3, 5), (3, 4, 6), (0, 4, 5), (1, 5, 6), (0, 2, 6))
    >>> cyclic_design(7, overlap=3, items=8) is None
    True
    """
    meetings = items * overlap * (overlap - 1)
    if not 2 <= overlap < raters or items % raters or meetings % (raters * (raters - 1)):
        return None
    family = _difference_family(
        raters, overlap, blocks=items // raters, each=meetings // (raters * (raters - 1))
    )
    if family is None:
        return None
    return tuple(
        tuple(sorted((rater + shift) % raters for rater in block))
        for block in family
        for shift in range(raters)
    )


def _difference_family(raters: int, size: int, *, blocks: int, each: int) -> list[tuple[int, ...]] | None:
    """Base blocks in whose differences every number from 1 to raters - 1 comes up `each` times."""
    steps = iter(range(_MOST_STEPS))

    def search(chosen: list[tuple[int, ...]], counts: list[int]) -> Iterator[list[tuple[int, ...]]]:
        if len(chosen) == blocks:
            yield chosen
            return
        smallest = next(d for d in range(1, raters) if counts[d] < each)
        for block in _blocks_with(smallest, raters, size):
            if next(steps, None) is None:
                return
            more = counts.copy()
            for one, other in combinations(block, 2):
                more[other - one] += 1
                more[raters - (other - one)] += 1
            if max(more) <= each:
                yield from search([*chosen, block], more)

    return next(search([], [0] * raters), None)


def _blocks_with(difference: int, raters: int, size: int) -> Iterator[tuple[int, ...]]:
    """Blocks that hold 0 and `difference`: every block with that difference is a shift of one of them."""
    others = [rater for rater in range(1, raters) if rater != difference]
    for rest in combinations(others, size - 2):
        yield tuple(sorted((0, difference, *rest)))
