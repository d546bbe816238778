"""How far two categories lie apart, from 0 (the same) to 1 (the ends of the declared scale)."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Weights = Literal["identity", "linear", "quadratic", "ordinal"]


def disagreement_weights(n_categories: int, *, weights: Weights) -> NDArray[np.float64]:
    """The (categories, categories) matrix of disagreement: one minus the agreement weights of the literature.

    Categories count by their place on the declared scale. `ordinal` are Gwet's weights, the share of category pairs
    that lie between two categories; they are not the distance of Krippendorff's ordinal alpha.

    Raises:
        ValueError: `weights` is not one of the four.

    Source: Gwet, K. L., Handbook of Inter-Rater Reliability, 4th ed. 2014, chapter 3.

    >>> disagreement_weights(3, weights="quadratic").tolist()
    [[0.0, 0.25, 1.0], [0.25, 0.0, 0.25], [1.0, 0.25, 0.0]]
    """
    place = np.arange(n_categories)
    steps = np.abs(place[:, None] - place[None, :]).astype(np.float64)
    match weights:
        case "identity":
            apart = np.minimum(steps, 1)
        case "linear":
            apart = steps
        case "quadratic":
            apart = steps**2
        case "ordinal":
            apart = steps * (steps + 1) / 2
        case _:
            raise ValueError(f"weights must be one of {', '.join(get_args(Weights))}, not {weights!r}")
    scaled: NDArray[np.float64] = apart / max(apart.max(initial=0), 1)
    return scaled
