"""Permutations within rows of a table with gaps: what is there changes places, the gaps stay."""

import numpy as np
from numpy.typing import NDArray


def shuffled_within_rows(
    values: NDArray[np.float64],
    present: NDArray[np.bool_],
    *,
    permutations: int,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """(permutations, rows, columns): the values of each row shuffled among its cells that are present, 0 elsewhere."""
    places = np.argsort(~present, axis=1, kind="stable")
    keys = np.where(present, generator.random((permutations, *values.shape)), np.inf)
    filled = np.where(present, values, 0.0)
    drawn = np.take_along_axis(filled[None], np.argsort(keys, axis=2), axis=2)
    shuffled = np.empty_like(drawn)
    np.put_along_axis(shuffled, np.broadcast_to(places, drawn.shape), drawn, axis=2)
    return shuffled
