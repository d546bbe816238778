"""How results are put into words: numbers with their interval and n, and reasons where there is no number."""

from validation.contested import Status
from validation.results import Estimate

REASONS = {
    "no_variation": "everybody gave the same answer, so agreement cannot be told from chance",
    "no_pairable_items": "no item has two ratings",
    "no_items": "there are no items",
    "no_ratings": "there are no ratings",
    "one_class_only": "the experts' verdicts are all the same",
    "too_few_items": "too few items",
    "too_few_clusters": "too few metrics",
    "too_few_raters": "too few raters",
}
STATUSES = {
    Status.CONTESTED: ("▲", "Contested"),
    Status.WATCH: ("◆", "Watch"),
    Status.NO_CONCERN_FOUND: ("●", "No concern found"),
    Status.NOT_ASSESSED: ("○", "Not assessed"),
}


def because(reason: str | None) -> str:
    """A reason code in words.

    >>> because("no_pairable_items")
    'no item has two ratings'
    """
    return REASONS.get(reason or "", (reason or "no reason was given").replace("_", " "))


def spell(estimate: Estimate, *, percent: bool = False) -> str:
    """A number with its interval, or why there is none.

    >>> spell(Estimate(value=0.384, low=0.21, high=0.53, n=36))
    '0.38 [0.21, 0.53]'
    >>> spell(Estimate(value=0.614, low=0.53, high=0.69, n=36), percent=True)
    '61% [53, 69]'
    >>> spell(Estimate.undefined("no_variation", n=9))
    'not defined: everybody gave the same answer, so agreement cannot be told from chance'
    """
    if estimate.value is None:
        return f"not defined: {because(estimate.undefined_because)}"
    point = f"{estimate.value:.0%}" if percent else f"{estimate.value:.2f}"
    if estimate.low is None or estimate.high is None:
        return f"{point} (no interval)"
    if percent:
        return f"{point} [{estimate.low * 100:.0f}, {estimate.high * 100:.0f}]"
    return f"{point} [{estimate.low:.2f}, {estimate.high:.2f}]"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "item"), count(3, "item")
    ('1 item', '3 items')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
