"""In which order a rater meets their items, where hidden repeats stand, and which option comes first."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from impactbench.domain import Panel

SCALE = ("pass", "borderline", "fail")
"""The options in the order that half of the raters see; the other half sees them reversed."""
REPEAT_DISTANCE = 15
"""Positions that lie between an item and its hidden repeat, at least."""


def order_items(scenarios: Sequence[str], generator: np.random.Generator) -> list[int]:
    """A random order of items in which a base scenario follows itself only where there is no other way.

    Args:
        scenarios: the base scenario of each item.
    """
    rest = generator.permutation(len(scenarios)).tolist()
    left = Counter(scenarios)
    order: list[int] = []
    last = ""
    while rest:
        scenario, most = max(left.items(), key=lambda entry: (entry[1], entry[0]))
        if 2 * most > len(rest) and scenario != last:
            wanted = scenario
        else:
            wanted = next((scenarios[item] for item in rest if scenarios[item] != last), last)
        item = next(item for item in rest if scenarios[item] == wanted)
        rest.remove(item)
        left[wanted] -= 1
        order.append(item)
        last = wanted
    return order


def count_repeats(items: int, share: float) -> int:
    """How many of a rater's items are shown again.

    >>> count_repeats(25, 0.1), count_repeats(4, 0.1)
    (3, 0)
    """
    return int(items * share + 0.5)


def far_enough(items: int, share: float) -> bool:
    """Whether a list has room to keep every hidden repeat its distance from the first showing.

    >>> far_enough(20, 0.1), far_enough(15, 0.1)
    (True, False)
    """
    return items - REPEAT_DISTANCE + 1 >= count_repeats(items, share)


def insert_repeats(
    order: Sequence[int], scenarios: Sequence[str], *, share: float, generator: np.random.Generator
) -> list[tuple[int, int]]:
    """(item, repeat) in order: every item with repeat 0, and a share of them once more with repeat 1.

    A repeat stands at least `REPEAT_DISTANCE` positions after the item where the list is long enough, else at the end;
    beside an item of its own base scenario only where there is no other way.
    """
    wanted = count_repeats(len(order), share)
    early = len(order) - REPEAT_DISTANCE + 1
    pool = list(order[: early if early >= wanted else wanted])
    chosen = [pool[place] for place in generator.permutation(len(pool))[:wanted].tolist()]
    sequence = [(item, 0) for item in order]
    for item in chosen:
        first = sequence.index((item, 0)) + REPEAT_DISTANCE
        gaps = list(range(min(first, len(sequence)), len(sequence) + 1))
        apart = [
            gap
            for gap in gaps
            if all(scenarios[other] != scenarios[item] for other, _ in sequence[gap - 1 : gap + 1])
        ]
        gap = int(generator.choice(apart or gaps))
        sequence.insert(gap, (item, 1))
    return sequence


def draw_option_orders(
    panels: Sequence[Panel | None], generator: np.random.Generator
) -> list[tuple[str, ...]]:
    """The options of each rater: half of them see them reversed, within a panel as nearly as overall."""
    shuffled = generator.permutation(len(panels)).tolist()
    shuffled.sort(key=lambda rater: panels[rater] or "")
    first = int(generator.integers(2))
    orders = {rater: SCALE if (place + first) % 2 else SCALE[::-1] for place, rater in enumerate(shuffled)}
    return [orders[rater] for rater in range(len(panels))]
