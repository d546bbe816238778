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
    if present.all():
        return generator.permuted(np.broadcast_to(values, (permutations, *values.shape)), axis=2)
    shuffled = np.zeros((permutations, *values.shape))
    cells = present.sum(axis=1)
    for number in np.unique(cells[cells > 0]):
        rows = np.flatnonzero(cells == number)
        places = np.nonzero(present[rows])[1].reshape(len(rows), number)
        own = np.take_along_axis(values[rows], places, axis=1)
        drawn = generator.permuted(np.broadcast_to(own, (permutations, *own.shape)), axis=2)
        shuffled[:, rows[:, None], places] = drawn
    return shuffled
