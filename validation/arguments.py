"""Checks of arguments: a wrong one raises a `ValueError` that names it and its value."""

import numpy as np
from numpy.typing import ArrayLike


def require_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value!r} is not between 0 and 1")


def require_open_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name}={value!r} is not strictly between 0 and 1")


def require_positive(name: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"{name}={value!r} must be above 0")


def require_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name}={value!r} must be at least {least}")


def require_count(successes: float, trials: float) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"there cannot be {successes!r} of {trials!r}")


def require_one_length(**arrays: ArrayLike | None) -> None:
    shapes = {name: np.shape(array) for name, array in arrays.items() if array is not None}
    if len(set(shapes.values())) > 1 or any(len(shape) != 1 for shape in shapes.values()):
        raise ValueError(
            "these must be lists of one length: " + ", ".join(f"{n} {s}" for n, s in shapes.items())
        )
