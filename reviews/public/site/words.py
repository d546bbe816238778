"""How the pages put results: no number more precise than its interval, and always what is known about it."""

from dataclasses import dataclass

from reviews.public.checks import Checked
from validation.contested import Status
from validation.results import Estimate

_PRECISE = 10
"""Wider intervals, in points, go with a number rounded to fives."""
_NO_NUMBER = {
    "no_ratings": "nothing was scored",
    "one_age_only": "one age only",
    "not_checked_by_experts": "not checked by experts yet",
}
_MARKS = {
    Status.CONTESTED: ("▲", "Contested"),
    Status.WATCH: ("◆", "Watch"),
    Status.NO_CONCERN_FOUND: ("●", "No concern found"),
    Status.NOT_ASSESSED: ("○", "Not assessed"),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of the evidence: a shape that no other state has, a word, and the figures."""

    shape: str
    word: str
    detail: str
    kind: str
    """The name of its style."""


def share(estimate: Estimate) -> str:
    """A share with its interval.

    >>> share(Estimate(value=0.614, low=0.58, high=0.65, n=360))
    '61% (58 to 65)'
    >>> share(Estimate(value=0.614, low=0.45, high=0.76, n=18))
    'about 60% (45 to 76)'
    >>> share(Estimate(value=0.614, n=3))
    'about 60% (too little data to say how far off)'
    >>> share(Estimate.undefined("no_ratings", n=0))
    'no number: nothing was scored'
    """
    if estimate.value is None:
        return f"no number: {_because(estimate)}"
    if estimate.low is None or estimate.high is None:
        return f"about {_fives(estimate.value)}% (too little data to say how far off)"
    low, high = round(100 * estimate.low), round(100 * estimate.high)
    wide = 100 * (estimate.high - estimate.low) >= _PRECISE
    point = f"about {_fives(estimate.value)}%" if wide else f"{round(100 * estimate.value)}%"
    return f"{point} ({low} to {high})"


def points(estimate: Estimate) -> str:
    """A difference of shares, in points.

    >>> points(Estimate(value=-0.031, low=-0.08, high=0.02, n=90))
    '-3 (-8 to 2)'
    """
    if estimate.value is None:
        return f"no number: {_because(estimate)}"
    if estimate.low is None or estimate.high is None:
        return f"about {_fives(estimate.value)} (too little data to say how far off)"
    return f"{round(100 * estimate.value)} ({round(100 * estimate.low)} to {round(100 * estimate.high)})"


def mark(checked: Checked) -> Mark:
    """What stands beside a number."""
    shape, word = _MARKS[checked.status]
    kind = str(checked.status)
    if not checked.n_experts:
        return Mark(shape, "Not checked by experts yet", "the automatic judge’s word alone", kind)
    share_of = f"{checked.by_status.get(checked.status, 0)} of {checked.n_metrics} behaviours; " * (
        checked.n_metrics > 1
    )
    agreed = f"judge and experts agree on {share(checked.agreement)} of {checked.n_items} conversations"
    people = f"{checked.n_experts} expert{'s' * (checked.n_experts != 1)}"
    return Mark(shape, word, f"{share_of}checked by {people}; {agreed}", kind)


def _fives(value: float) -> int:
    """To the nearest five, but nothing becomes never or always by being rounded."""
    nearest = 5 * round(20 * value)
    return nearest if abs(nearest) not in (0, 100) else round(100 * value)


def _because(estimate: Estimate) -> str:
    code = estimate.undefined_because or ""
    return _NO_NUMBER.get(code, code.replace("_", " "))
