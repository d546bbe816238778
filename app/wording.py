"""How results are put into words: numbers with their interval and n, and reasons where there is no number."""

from reviews.public.evidence_marks import SHAPES
from reviews.public.wording import count
from reviews.report.reasons import in_a_sentence
from validation.bounds import Bounds
from validation.results import Estimate

__all__ = ["STATUSES", "because", "count", "in_a_sentence", "spell", "spell_bounds", "spell_p"]

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
STATUSES = SHAPES


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


def spell_p(p: float) -> str:
    """A p-value to two decimals.

    >>> spell_p(0.021), spell_p(0.0004)
    ('= 0.02', '< 0.01')
    """
    return f"= {p:.2f}" if p >= 0.01 else "< 0.01"


def spell_bounds(bounds: Bounds) -> str:
    """What the data leave open, as shares.

    >>> spell_bounds(Bounds(low=Estimate(value=0.4, n=9), high=Estimate(value=0.52, n=9)))
    '40% to 52%'
    """
    low, high = bounds.low, bounds.high
    if low.value is None or high.value is None:
        return spell(low if low.value is None else high)
    return f"{low.value:.0%} to {high.value:.0%}"
