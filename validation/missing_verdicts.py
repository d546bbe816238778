"""Verdicts that a judge did not give: data, not gaps to be passed over."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from validation.arguments import require_one_length
from validation.bounds import Bounds
from validation.confusion import checked
from validation.ratios import share
from validation.results import Estimate

LARGEST_RANGE = 0.02
SMALLEST_P = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingVerdicts:
    """How many verdicts are missing, and what they could have changed."""

    n_missing: int
    """Items without a verdict."""
    share: Estimate
    """Share of all items without a verdict."""
    pass_rate: Bounds
    """The judge's pass rate if every missing verdict had been fail, or pass."""
    accuracy: Bounds
    """Accuracy if every missing verdict had been wrong, or right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingByGroup:
    """Whether groups (models) lose verdicts at different rates, which blocks pooled claims."""

    shares: tuple[Estimate, ...]
    """One for each group, in the order of first appearance."""
    groups: tuple[object, ...]
    """The names of the groups."""
    p_value: Estimate
    """Chi-square test of equal shares."""
    blocks_pooling: bool
    """p < .01, or shares that lie more than two percentage points apart."""


def missing_verdicts(reference: ArrayLike, judge_pass: ArrayLike) -> MissingVerdicts:
    """Count the missing verdicts and bound what they hide (Manski 2003).

    >>> found = missing_verdicts([1, 1, 0, 0], [1, None, 0, 0])
    >>> found.n_missing, found.accuracy.low.value, found.accuracy.high.value
    (1, 0.75, 1.0)
    """
    y, j, _ = checked(reference, judge_pass, None)
    missing = np.isnan(j)
    if len(j) == 0:
        nothing = Bounds.undefined("no_items", n=0)
        return MissingVerdicts(n_missing=0, share=nothing.low, pass_rate=nothing, accuracy=nothing)
    rated = ~np.isnan(y)
    agreement = 1 - np.abs(np.where(missing, 0, j) - y)[rated]
    if_fail, if_pass = 1 - y[rated], y[rated]
    gone = missing[rated]
    worst = np.where(gone, np.minimum(if_fail, if_pass), agreement)
    best = np.where(gone, np.maximum(if_fail, if_pass), agreement)
    return MissingVerdicts(
        n_missing=int(missing.sum()),
        share=share(float(missing.mean()), n=len(j)),
        pass_rate=_bounds(np.where(missing, 0, j), np.where(missing, 1, j)),
        accuracy=_bounds(worst, best),
    )


def missing_by_group(judge_pass: ArrayLike, *, groups: ArrayLike) -> MissingByGroup:
    """Shares of missing verdicts by group, and whether they differ so much that nothing may be pooled."""
    j, group = np.asarray(judge_pass, dtype=np.float64), np.asarray(groups)
    require_one_length(judge_pass=j, groups=group)
    names = list(dict.fromkeys(group.tolist()))
    missing = np.array([np.isnan(j[group == name]).sum() for name in names])
    size = np.array([(group == name).sum() for name in names])
    shares = tuple(share(float(gone / n), n=int(n)) for gone, n in zip(missing, size, strict=True))
    if len(names) < 2 or missing.sum() in (0, len(j)):
        reason = "one_class_only" if len(names) >= 2 else "too_few_groups"
        p_value = Estimate.undefined(reason, n=len(j))
        return MissingByGroup(shares=shares, groups=tuple(names), p_value=p_value, blocks_pooling=False)
    p = float(stats.chi2_contingency(np.stack([missing, size - missing]), correction=False).pvalue)
    apart = float(np.ptp(missing / size))
    return MissingByGroup(
        shares=shares,
        groups=tuple(names),
        p_value=Estimate(value=p, n=len(j), method="chi-square test of equal shares"),
        blocks_pooling=p < SMALLEST_P or apart > LARGEST_RANGE,
    )


def _bounds(low: ArrayLike, high: ArrayLike) -> Bounds:
    ends = [np.asarray(end, dtype=np.float64) for end in (low, high)]
    n = len(ends[0])
    if n == 0:
        return Bounds.undefined("no_ratings", n=0)
    return Bounds(
        low=Estimate(value=float(ends[0].mean()), n=n, method="Manski bound"),
        high=Estimate(value=float(ends[1].mean()), n=n, method="Manski bound"),
    )
