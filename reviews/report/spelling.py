"""Numbers in words: a value with its interval and n, or why there is none."""

from collections.abc import Iterable, Sequence

from validation.bounds import Bounds
from validation.intervals import LEAST_CLUSTERS
from validation.results import Estimate

REASONS = {
    "no_items": "there are no items",
    "no_ratings": "there are no ratings",
    "no_pairable_items": "no item has two ratings",
    "no_variation": "everybody gave the same answer, so agreement cannot be told from chance",
    "one_class_only": "the reference is all passes or all fails",
    "category_not_used": "nobody chose this verdict",
    "too_few_items": "too few items",
    "too_few_ratings": "too few ratings",
    "too_few_raters": "too few raters",
    "too_few_clusters": "too few metrics",
    "too_few_groups": "too few groups",
    "too_few_placebo_families": "too few families without a judge",
    "no_clusters": "there are no metrics to compare",
    "not_two_raters": "there are not two raters",
    "not_two_categories": "there are not two verdicts",
    "not_connected": "raters in groups that share no item cannot be compared",
    "not_identified": "the data cannot answer, however many there were",
    "no_metric_with_both": "no metric has items of both kinds",
    "separation": "a group has all its verdicts alike",
    "empty_stratum": "no label where some were needed",
    "empty_verdict_stratum": "no label among the judge's passes, or among its fails",
    "judge_may_be_no_better_than_chance": "the judge may be no better than chance",
    "no_probability_sample": "the labels are no probability sample, so nothing identifies the rate",
    "no_policies": "no reading of the labels counts",
    "no_interval": "there is no interval to measure against",
    "no_extra_raters": "no item was given extra raters",
    "none_could_be_seen": "with so few items not even the largest difference could be seen",
}
"""Why a number is undefined, by its reason code."""


def because(reason: str | None) -> str:
    """A reason code in words.

    >>> because("no_pairable_items")
    'no item has two ratings'
    """
    return REASONS.get(reason or "", (reason or "no reason was given").replace("_", " "))


def spelled(estimate: Estimate, *, percent: bool = False, n: bool = True) -> str:
    """A number with its interval and n, or the reason for having none.

    >>> spelled(Estimate(value=0.384, low=0.21, high=0.53, n=36))
    '0.38 [0.21, 0.53], n = 36'
    >>> spelled(Estimate(value=0.614, n=36), percent=True)
    '61% (no interval), n = 36'
    >>> spelled(Estimate.undefined("no_variation", n=9), n=False)
    'not estimable: everybody gave the same answer, so agreement cannot be told from chance'
    """
    size = f", n = {estimate.n}" if n else ""
    if estimate.value is None:
        return f"not estimable: {because(estimate.undefined_because)}{size}"
    sign = "%" if percent else ""
    point = f"{_plain(estimate.value, percent)}{sign}"
    if estimate.low is None or estimate.high is None:
        return f"{point} (no interval){size}"
    return f"{point} [{_plain(estimate.low, percent)}, {_plain(estimate.high, percent)}]{size}"


def share_of(estimate: Estimate, whole: str) -> str:
    """A share within a sentence: what it is a share of, then n.

    >>> share_of(Estimate(value=0.39, low=0.31, high=0.48, n=39), "what they fail")
    '39% [31, 48] of what they fail (n = 39)'
    """
    return f"{spelled(estimate, percent=True, n=False)} of {whole} (n = {estimate.n})"


def bounded(bounds: Bounds, *, percent: bool = False) -> str:
    """The two ends of a range that no assumption narrows."""
    if bounds.low.value is None or bounds.high.value is None:
        return spelled(bounds.low)
    sign = "%" if percent else ""
    ends = [f"{_plain(end, percent)}{sign}" for end in (bounds.low.value, bounds.high.value)]
    return f"{' to '.join(ends)}, n = {bounds.low.n}"


def _plain(value: float, percent: bool) -> str:
    shown = f"{100 * value:.0f}" if percent else f"{value:.2f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown


def no_interval(pooled: Iterable[Estimate]) -> tuple[str, ...]:
    """Why some pooled figures have no interval, where some have none."""
    if all(one.value is None or one.low is not None for one in pooled):
        return ()
    return (
        f"Metrics are the unit where several are pooled: with fewer than {LEAST_CLUSTERS} of them there is no interval.",
    )


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "item"), counted(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def first_of(names: Sequence[str], most: int = 12) -> str:
    """The first of several names, and how many there are besides.

    >>> first_of(["a", "b", "c"]), first_of(["a", "b", "c"], most=2)
    ('a, b, c', 'a, b and 1 more')
    """
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left:,} more" if left > 0 else "")
