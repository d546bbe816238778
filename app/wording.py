"""How results are put into words: numbers with their interval and n, and reasons where there is no number."""

from validation.bounds import Bounds
from validation.contested import MetricStatus, Status
from validation.metric_evidence import THRESHOLDS, Domain, DomainEvidence
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
_PRECISE = 10
"""Wider intervals, in points, go with a number rounded to fives."""
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


def spell_bounds(bounds: Bounds) -> str:
    """What the data leave open, as shares.

    >>> spell_bounds(Bounds(low=Estimate(value=0.4, n=9), high=Estimate(value=0.52, n=9)))
    '40% to 52%'
    """
    low, high = bounds.low, bounds.high
    if low.value is None or high.value is None:
        return spell(low if low.value is None else high)
    return f"{low.value:.0%} to {high.value:.0%}"


def in_hundred(estimate: Estimate) -> str:
    """A share for everybody: no more precise than its interval allows, and never without it.

    >>> in_hundred(Estimate(value=0.614, low=0.58, high=0.65, n=360))
    '61% (58 to 65)'
    >>> in_hundred(Estimate(value=0.614, low=0.45, high=0.76, n=18))
    'about 60% (45 to 76)'
    >>> in_hundred(Estimate(value=0.614, n=3))
    'about 60% (range unknown)'
    >>> in_hundred(Estimate.undefined("no_ratings", n=0))
    'no number: there are no ratings'
    """
    if estimate.value is None:
        return f"no number: {because(estimate.undefined_because)}"
    point = estimate.value * 100
    exact = f"{point:.0f}%"
    if estimate.low is None or estimate.high is None:
        return f"{_roughly(point)} (range unknown)"
    low, high = estimate.low * 100, estimate.high * 100
    return f"{exact if high - low < _PRECISE else _roughly(point)} ({low:.0f} to {high:.0f})"


def _roughly(point: float) -> str:
    """To the nearest five, but nothing becomes never or always by being rounded."""
    nearest = 5 * round(point / 5)
    return f"about {nearest if 0 < nearest < 100 else round(point)}%"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> count(1, "item"), count(3, "item")
    ('1 item', '3 items')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def in_a_sentence(one: MetricStatus) -> str:
    """Why a metric has its status: what was found in each domain that speaks, or what is missing."""
    speaking = [evidence for evidence in one.evidence.domains.values() if _speaks(evidence)]
    if one.status is Status.NOT_ASSESSED:
        missing = [evidence.missing for evidence in one.evidence.domains.values() if evidence.missing]
        return "; ".join(dict.fromkeys(missing)) or "no data"
    if not speaking:
        return "enough data, and nothing of concern in them"
    return "; ".join(_finding(evidence) for evidence in speaking)


def _speaks(evidence: DomainEvidence) -> bool:
    return evidence.triggered or (evidence.probability or 0) >= 0.5


def _finding(evidence: DomainEvidence) -> str:
    """One domain in words, from its raw counts."""
    counts = {name: f"{number:g}" for name, number in evidence.counts.items()}
    limit = THRESHOLDS.get(evidence.domain)
    match evidence.domain:
        case Domain.EXPERT_DISAGREEMENT:
            found = f"experts split on {counts['split_items']} of {counts['items']} items; α {spell(evidence.estimate)}"
            return f"{found}, below {limit:g} with probability {evidence.probability:.2f}"
        case Domain.JUDGE_AGAINST_EXPERTS:
            found = f"the judge agrees with the experts on {counts['agreeing']} of {counts['items']} items"
            return f"{found}, accuracy below {limit:g} with probability {evidence.probability:.2f}"
        case Domain.INDETERMINACY:
            found = f"{counts['marked']} of {counts['ratings']} labels are borderline"
        case Domain.UNSURE:
            found = f"{counts['marked']} of {counts['ratings']} answers are “I can’t judge this”"
        case Domain.JUDGE_INSTABILITY:
            found = f"the judge contradicts itself on {counts['flips']} of {counts['items']} items"
        case _:
            return ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items())
    return f"{found}, above {limit:.0%} with probability {evidence.probability:.2f}"
