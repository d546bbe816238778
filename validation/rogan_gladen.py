"""Pass rates corrected by a judge's sensitivity and specificity that were measured elsewhere.

It needs an assumption that nothing in the group can check: that the judge errs there as it erred where it was
validated. Labels from the group itself are better used by `prevalence.post_stratified`.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from validation.arguments import require_count
from validation.bounds import Bounds
from validation.intervals import Z, wilson
from validation.results import Estimate

TRANSPORT = "transport assumption: sensitivity and specificity are those of the items they were measured on"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCounts:
    """What a validation found about a judge."""

    true_pass: int
    """Reference passes that the judge passes."""
    passes: int
    """Reference passes."""
    true_fail: int
    """Reference fails that the judge fails."""
    fails: int
    """Reference fails."""

    def __post_init__(self) -> None:
        if not (0 <= self.true_pass <= self.passes and 0 <= self.true_fail <= self.fails):
            raise ValueError(f"impossible counts: {self}")


def rogan_gladen(judge_passes: int, *, judged: int, errors: ErrorCounts) -> Estimate:
    """Pass rate (p + Sp - 1) / (Se + Sp - 1), with the interval of Lang and Reiczigel.

    Refused where the lower end of the 95% interval of Se + Sp - 1 is not above 0: the judge may then be no better
    than chance, and the rate anything. Biased where the validation items were balanced by verdict.

    Raises:
        ValueError: counts that are impossible.

    Source: Rogan, W. J., and Gladen, B., American Journal of Epidemiology 1978,
        doi:10.1093/oxfordjournals.aje.a112510; Lang, Z., and Reiczigel, J., Preventive Veterinary Medicine 2014,
        doi:10.1016/j.prevetmed.2013.09.015.

    >>> found = rogan_gladen(650, judged=1000, errors=ErrorCounts(true_pass=45, passes=50, true_fail=34, fails=40))
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (0.6667, 0.5696, 0.7789)
    """
    require_count(judge_passes, judged)
    n = errors.passes + errors.fails
    if judged == 0:
        return Estimate.undefined("no_items", n=n)
    if errors.passes == 0 or errors.fails == 0:
        return Estimate.undefined("one_class_only" if n else "no_ratings", n=n)
    if youden_lower_end(errors) <= 0:
        return Estimate.undefined("judge_may_be_no_better_than_chance", n=n)
    se, sp = errors.true_pass / errors.passes, errors.true_fail / errors.fails
    value = (judge_passes / judged + sp - 1) / (se + sp - 1)
    interval = lang_reiczigel(judge_passes, judged=judged, errors=errors)
    if interval is None:
        return Estimate.undefined("judge_may_be_no_better_than_chance", n=n)
    low, high = interval
    cut = () if 0 <= value <= 1 else (f"the estimate {value:.3f} was cut to what a rate can be",)
    return Estimate(
        value=min(max(value, 0.0), 1.0),
        low=low,
        high=high,
        n=n,
        method="Lang-Reiczigel",
        notes=(TRANSPORT, *cut),
    )


def lang_reiczigel(judge_passes: int, *, judged: int, errors: ErrorCounts) -> tuple[float, float] | None:
    """The 95% interval of Lang and Reiczigel (2014); None where it does not exist."""
    n1, n0 = errors.passes + 2, errors.fails + 2
    se, sp = (errors.true_pass + 1) / n1, (errors.true_fail + 1) / n0
    trials = judged + Z**2
    p = (judge_passes + Z**2 / 2) / trials
    youden = se + sp - 1
    if youden <= 0:
        return None
    theta = (p + sp - 1) / youden
    of_se, of_sp = se * (1 - se) / n1, sp * (1 - sp) / n0
    shift = 2 * Z**2 * (theta * of_se - (1 - theta) * of_sp)
    reach = Z * (p * (1 - p) / trials + theta**2 * of_se + (1 - theta) ** 2 * of_sp) ** 0.5 / youden
    low, high = max(theta + shift - reach, 0.0), min(theta + shift + reach, 1.0)
    return (low, high) if low <= high else None


def youden_lower_end(errors: ErrorCounts) -> float:
    """Lower 95% end of Se + Sp - 1, put together from the two Wilson intervals (Newcombe 1998)."""
    se, sp = wilson(errors.true_pass, errors.passes), wilson(errors.true_fail, errors.fails)
    se_value, se_low, sp_value, sp_low = (x or 0.0 for x in (se.value, se.low, sp.value, sp.low))
    return float(se_value + sp_value - 1 - np.hypot(se_value - se_low, sp_value - sp_low))


def rate_bounds(
    judge_passes: int,
    *,
    judged: int,
    sensitivity: tuple[float, float],
    specificity: tuple[float, float],
) -> Bounds:
    """The pass rates that are compatible with ranges of sensitivity and specificity: no correction, only limits.

    For labels that are no probability sample (hand-picked metrics). Where the ranges allow a judge no better than
    chance, everything from 0 to 1 is possible.

    Raises:
        ValueError: counts or ranges that are impossible.

    >>> found = rate_bounds(650, judged=1000, sensitivity=(.8, .9), specificity=(.8, .9))
    >>> round(found.low.value, 3), round(found.high.value, 3)
    (0.643, 0.786)
    """
    for name, (low, high) in (("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0 <= low <= high <= 1:
            raise ValueError(f"{name} must be a range within 0 and 1, not {(low, high)!r}")
    require_count(judge_passes, judged)
    if judged == 0:
        return Bounds.undefined("no_items", n=0)
    p, method = judge_passes / judged, "bound over ranges of sensitivity and specificity"
    corners = list(itertools.product(sensitivity, specificity))
    if min(se + sp for se, sp in corners) <= 1:
        rates = [0.0, 1.0]
    else:
        rates = [min(max((p + sp - 1) / (se + sp - 1), 0.0), 1.0) for se, sp in corners]
    return Bounds(
        low=Estimate(value=min(rates), n=judged, method=method),
        high=Estimate(value=max(rates), n=judged, method=method),
    )
