"""Numbers as a judge card has them: `{"value", "n", ...}` or `{"not_estimable": reason}`, never a bare float."""

from collections.abc import Mapping
from typing import Any

from validation.bounds import Bounds
from validation.results import Estimate

Card = dict[str, Any]

DIGITS = 10
"""Significant digits of every number: enough to recompute to, few enough to be the same on every machine."""


def number(estimate: Estimate) -> Card:
    """An estimate as the card has it.

    >>> number(Estimate(value=0.5, low=0.25, high=0.75, n=12, method="Wilson"))
    {'value': 0.5, 'ci': [0.25, 0.75], 'n': 12, 'method': 'Wilson'}
    >>> number(Estimate.undefined("no_variation", n=9))
    {'not_estimable': 'no_variation', 'n': 9}
    """
    if estimate.value is None:
        return {"not_estimable": estimate.undefined_because, "n": estimate.n}
    found: Card = {"value": rounded(estimate.value)}
    if estimate.low is not None and estimate.high is not None:
        found["ci"] = [rounded(estimate.low), rounded(estimate.high)]
    found["n"] = estimate.n
    optional = {
        "n_ratings": estimate.n_ratings,
        "n_clusters": estimate.n_clusters,
        "method": estimate.method,
        "policy": estimate.policy,
        "notes": list(estimate.notes),
    }
    return found | {name: value for name, value in optional.items() if value not in (None, "", [])}


def rounded(value: float) -> float:
    """A float to `DIGITS` significant digits."""
    return float(f"{value:.{DIGITS}g}")


def bounds(found: Bounds) -> Card:
    return {"low": number(found.low), "high": number(found.high)}


def numbers(named: Mapping[str, Estimate]) -> Card:
    return {name: number(estimate) for name, estimate in named.items()}


def optional(value: float | None, n: int, *, reason: str = "not_identified") -> Card:
    return number(Estimate.undefined(reason, n=n) if value is None else Estimate(value=value, n=n))
