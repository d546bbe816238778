"""How long it takes to draw who rates what, and to add a rater to every item of a design that is under way.

python -m bench.assignment      seconds of the processor, since other work may share the machine
"""

import time
from collections.abc import Callable

from reviews.assignment import plan
from reviews.design.extension import find_raters
from tests.reviews.test_assignment import items_of, members_of
from tests.reviews.test_extension import open_set_of


def main() -> int:
    wide = items_of(5000, metrics=200)
    opened = {n: open_set_of(n, raters, 2) for n, raters in ((162, 19), (5000, 40))}
    met = [
        _timed(
            "48 items, 6 raters, 3 each",
            0.5,
            lambda: plan(items_of(48, metrics=200), members_of(3, 3), overlap=3, seed=7),
        ),
        _timed(
            "5,000 items, 40 raters, 3 each", 10.0, lambda: plan(wide, members_of(20, 20), overlap=3, seed=7)
        ),
        *(
            _timed(
                f"{n:,} items: a third rater each",
                wanted,
                lambda n=n: find_raters(opened[n], dict.fromkeys(opened[n].items["key"], 1)),
            )
            for n, wanted in ((162, 5.0), (5000, 20.0))
        ),
    ]
    return 0 if all(met) else 1


def _timed(what: str, wanted: float, draw: Callable[[], object]) -> bool:
    before = time.process_time()
    draw()
    took = time.process_time() - before
    print(f"{what:34} {took:6.2f} s   wanted: {wanted:g}", flush=True)
    return took < wanted


if __name__ == "__main__":
    raise SystemExit(main())
