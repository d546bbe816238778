"""Where verdicts vary: components of variance of a nested design (metric, conversation, re-simulation, re-judgment)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from validation.results import Estimate


def variance_components(frame: pd.DataFrame, *, value: str, levels: Sequence[str]) -> dict[str, Estimate]:
    """Components of variance by nested analysis of variance (method of moments, unequal sizes allowed).

    Each level is nested in those before it; what is left inside the last level is `residual` (say, one run of the judge
    against another). The components add up to about the variance of the values. One that comes out below zero is shown as
    0, and a note says so: it means that the level adds no more than chance.

    Args:
        frame: one row a verdict; rows without a value are left out.
        value: the column of values (present 1, absent 0).
        levels: the nested columns, outermost first.

    References:
        Searle, Casella and McCulloch (1992), Variance Components, chapter 3.
    """
    if not levels:
        raise ValueError("levels=[] names no level")
    if absent := [name for name in (value, *levels) if name not in frame.columns]:
        raise ValueError(f"there is no column {absent[0]!r}")
    rows = frame.dropna(subset=[value, *levels])
    y = rows[value].to_numpy(dtype=np.float64)
    n = len(y)
    names = [*levels, "residual"]
    if n == 0:
        return {name: Estimate.undefined("no_ratings", n=0) for name in names}
    codes: list[NDArray[np.intp]] = [np.zeros(n, dtype=np.intp)]
    codes += [
        np.asarray(rows.groupby(list(levels[: k + 1]), sort=False).ngroup(), dtype=np.intp)
        for k in range(len(levels))
    ]
    codes.append(np.arange(n))
    freedom = np.diff([int(code.max()) + 1 for code in codes])
    explained = np.array([_explained(y, code) for code in codes])
    squares = np.diff(explained)
    if (freedom == 0).any():
        empty = names[int(np.argmax(freedom == 0))]
        return {name: Estimate.undefined(f"no_replication_of_{empty}", n=n) for name in names}
    components = np.linalg.solve(_expected_squares(codes), squares)
    return {
        name: Estimate(
            value=float(max(component, 0.0)),
            n=n,
            n_clusters=int(codes[1].max()) + 1,
            method="nested analysis of variance",
            notes=("below zero, shown as 0",) if component < -1e-12 else (),
        )
        for name, component in zip(names, components, strict=True)
    }


def _explained(y: NDArray[np.float64], code: NDArray[np.intp]) -> float:
    return float((np.bincount(code, y) ** 2 / np.bincount(code)).sum())


def _expected_squares(codes: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """(levels, levels): coefficient of each component (column) in the expected sum of squares of each level (row)."""
    sizes = [np.bincount(code).astype(np.float64) for code in codes]

    def share(outer: int, inner: int) -> float:
        """Sum over outer groups of (sum of squared inner sizes) / outer size: n where inner is no finer."""
        if inner <= outer:
            return float(sizes[0][0])
        parent = np.zeros(len(sizes[inner]), dtype=np.intp)
        parent[codes[inner]] = codes[outer]
        return float((np.bincount(parent, sizes[inner] ** 2) / sizes[outer]).sum())

    levels = len(codes) - 1
    return np.array(
        [
            [share(row + 1, column + 1) - share(row, column + 1) for column in range(levels)]
            for row in range(levels)
        ]
    )
