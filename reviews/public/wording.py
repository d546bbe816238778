"""How results are put for everybody: no number more precise than its interval allows, and never without it."""

from reviews.report.spelling import because
from validation.results import Estimate

PRECISE = 10
"""Wider intervals, in points, go with a number rounded to fives."""
_NO_NUMBER = {
    "no_ratings": "nothing was scored",
    "one_age_only": "one age only",
    "one_polarity_only": "one kind of behaviour only",
    "no_other_benchmark": "there is no other benchmark",
    "not_checked_by_experts": "not checked by experts yet",
}


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "item"), count(3, "item")
    ('1 item', '3 items')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def in_hundred(estimate: Estimate) -> str:
    """A share with its interval.

    >>> in_hundred(Estimate(value=0.614, low=0.58, high=0.65, n=360))
    '61% (58 to 65)'
    >>> in_hundred(Estimate(value=0.614, low=0.45, high=0.76, n=18))
    'about 60% (45 to 76)'
    >>> in_hundred(Estimate(value=0.614, n=3))
    'about 60% (range unknown)'
    >>> in_hundred(Estimate.undefined("no_ratings", n=0))
    'no number: nothing was scored'
    """
    if estimate.value is None:
        return without_number(estimate)
    point = 100 * estimate.value
    if estimate.low is None or estimate.high is None:
        return f"about {roughly(point)}% (range unknown)"
    low, high = 100 * estimate.low, 100 * estimate.high
    shown = f"{point:.0f}%" if high - low < PRECISE else f"about {roughly(point)}%"
    return f"{shown} ({low:.0f} to {high:.0f})"


def points(estimate: Estimate) -> str:
    """A difference of shares, in points.

    >>> points(Estimate(value=-0.031, low=-0.08, high=0.02, n=90))
    '-3 (-8 to +2)'
    >>> points(Estimate(value=0.2, n=3))
    'about +20 (range unknown)'
    """
    if estimate.value is None:
        return without_number(estimate)
    point = 100 * estimate.value
    if estimate.low is None or estimate.high is None:
        return f"about {_signed(roughly(point))} (range unknown)"
    return f"{_signed(point)} ({_signed(100 * estimate.low)} to {_signed(100 * estimate.high)})"


def correlation(estimate: Estimate) -> str:
    """A rank correlation.

    >>> correlation(Estimate(value=0.8, n=4))
    '0.80 (range unknown)'
    """
    if estimate.value is None:
        return without_number(estimate)
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} (range unknown)"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def without_number(estimate: Estimate) -> str:
    """Why there is no number."""
    code = estimate.undefined_because
    return f"no number: {_NO_NUMBER.get(code or '') or because(code)}"


def roughly(point: float) -> int:
    """To the nearest five, but nothing becomes never or always by being rounded.

    >>> roughly(61.4), roughly(1.2), roughly(98.9), roughly(-61.4)
    (60, 1, 99, -60)
    """
    nearest = 5 * round(point / 5)
    return nearest if 0 < abs(nearest) < 100 else round(point)


def _signed(point: float) -> str:
    """With its sign, and a nought without one.

    >>> _signed(-3.1), _signed(2.0), _signed(-0.2)
    ('-3', '+2', '0')
    """
    shown = f"{point:+.0f}"
    return "0" if float(shown) == 0 else shown
