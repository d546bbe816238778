"""Invented tables of ratings, and what tests of agreement share."""

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from validation.agreement import (
    Agreement,
)
from validation.ratings import MISSING, Ratings
from validation.results import Estimate

few = settings(max_examples=40, deadline=None)


def of_codes(codes: NDArray[np.int64], q: int) -> Ratings:
    n, r = codes.shape
    return Ratings(codes, tuple(range(q)), tuple(range(n)), tuple(f"r{k}" for k in range(r)))


@st.composite
def tables(
    draw: st.DrawFn, *, complete: bool = False, raters: int | None = None, q: int | None = None
) -> Ratings:
    q = q or draw(st.integers(2, 4))
    n, r = draw(st.integers(2, 12)), raters or draw(st.integers(2, 5))
    least = 0 if complete else MISSING
    cells = draw(st.lists(st.integers(least, q - 1), min_size=n * r, max_size=n * r))
    return of_codes(np.array(cells, dtype=np.int64).reshape(n, r), q)


def values(report: Agreement, *names: str) -> list[float | None]:
    names = names or tuple(f.name for f in fields(report) if isinstance(getattr(report, f.name), Estimate))
    return [getattr(report, name).value for name in names]


def same(first: Sequence[float | None], second: Sequence[float | None]) -> bool:
    return all(
        (a is None) == (b is None) and (a is None or b is None or abs(a - b) < 1e-9)
        for a, b in zip(first, second, strict=True)
    )
