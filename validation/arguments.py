"""Checks of arguments: a wrong one raises a `ValueError` that names it and its value."""


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
