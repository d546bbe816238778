"""Whether a judge favours its own family, measured against people's labels.

A judge that passes its own family more often may simply be right. What counts is judge minus human, or the judge's errors
among items that people fail or pass.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from statsmodels.stats.proportion import confint_proportions_2indep

from validation.intervals import FEW, FEW_CLUSTERS, LEAST_CLUSTERS, TOO_FEW, with_t
from validation.mantel_haenszel import odds_ratio, risk_difference
from validation.planning import detectable_difference
from validation.results import Estimate

Floats = NDArray[np.float64]

FEWEST_PER_ARM = 8
"""With fewer own-family items that people fail (or pass) a gap is not claimed either way."""


class Kinship(StrEnum):
    """How a target model is related to the judge."""

    SELF = "self"
    SIBLING = "sibling"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Own-family items against the items of other families."""

    false_pass_gap: Estimate
    """P(judge passes | people fail, own) - P(same | other): above 0, own failures are let through."""
    false_fail_gap: Estimate
    """P(judge fails | people pass, own) - P(same | other): below 0, own passes are spared."""
    leniency: Estimate
    """Mean (judge - human) on own items minus that on others, in points of pass rate: the primary estimate."""
    criterion_shift: Estimate
    """Difference of the signal-detection criterion c: below 0, more lenient to its own."""
    discrimination_shift: Estimate
    """Difference of d': not 0 means that the judge is better or worse on its own, which is not a preference."""
    odds_ratio: Estimate
    """Mantel-Haenszel odds ratio of a judge's pass, own to other, within metric and human label."""
    false_pass_by_metric: Estimate
    """Mantel-Haenszel risk difference of false passes within metrics."""
    n_own_fail: int
    """Own items that people fail: the only place where a false pass can be seen."""
    n_other_fail: int
    """Other items that people fail."""
    detectable: float | None
    """Smallest false-pass gap that these numbers detect with 80% power; None where none could be."""
    verdict: str
    """`not_identified`, `not_detected` or `detected` (by the interval of `leniency`)."""

    @property
    def sentence(self) -> str:
        """The verdict in the fixed words."""
        if self.verdict == "not_identified":
            return "no own-family items with human labels: not identified"
        if self.verdict == "detected":
            shown = self.leniency
            return f"detected: D = {shown.value:.2f} [{shown.low:.2f}, {shown.high:.2f}]"
        size = "none could be" if self.detectable is None else f"MDE = {self.detectable:.2f}"
        return f"not detected; {size}"


def self_preference(
    *,
    judge: ArrayLike,
    human: ArrayLike,
    kinship: Sequence[Kinship | str],
    metric: Sequence[Hashable] | None = None,
) -> dict[str, Comparison]:
    """Compare the judge's errors on its own and on other families: itself, its siblings, and both together.

    Args:
        judge: (items,) 1 pass, 0 fail, NaN where the judge gave none.
        human: (items,) the reference pass, 1, 0 or a share between; NaN where nobody labelled the item.
        kinship: (items,) the target's relation to the judge: self, sibling or other.
        metric: (items,) the metric, over which intervals are made.

    Returns:
        `self`, `sibling` and `family` (both), each against `other`.
    """
    j, h = np.asarray(judge, dtype=np.float64), np.asarray(human, dtype=np.float64)
    kin = np.array([Kinship(one) for one in kinship])
    if not len(j) == len(h) == len(kin) or (metric is not None and len(metric) != len(j)):
        raise ValueError(f"judge, human, kinship and metric differ in length: {len(j)}, {len(h)}, {len(kin)}")
    if ((j[~np.isnan(j)] != 0) & (j[~np.isnan(j)] != 1)).any():
        raise ValueError("judge holds a value that is neither 0, 1 nor NaN")
    codes = (
        np.zeros(len(j), dtype=np.int64)
        if metric is None
        else pd.factorize(np.asarray(metric, dtype=object))[0]
    )
    known = ~np.isnan(j) & ~np.isnan(h)
    groups = {
        "self": kin == Kinship.SELF,
        "sibling": kin == Kinship.SIBLING,
        "family": kin != Kinship.OTHER,
    }
    return {
        name: _compare(
            j[used], h[used], own[used], codes[used].astype(np.int64), by_metric=metric is not None
        )
        for name, own in groups.items()
        for used in [known & (own | (kin == Kinship.OTHER))]
    }


def rate_gap(own: tuple[float, float], other: tuple[float, float]) -> Estimate:
    """The difference of two rates with Newcombe's hybrid score interval.

    Args:
        own: events and trials among own-family items.
        other: events and trials among the others.

    References:
        Newcombe (1998), Statistics in Medicine 17.

    >>> gap = rate_gap((12, 40), (24, 160))
    >>> round(gap.value, 2), round(gap.low, 4), round(gap.high, 4)
    (0.15, 0.0149, 0.3113)
    """
    (hits, n), (other_hits, other_n) = own, other
    total = round(n + other_n)
    if n <= 0 or other_n <= 0:
        return Estimate.undefined("no_items", n=total)
    low, high = confint_proportions_2indep(hits, n, other_hits, other_n, method="newcomb", compare="diff")
    gap = hits / n - other_hits / other_n
    found = Estimate(
        value=float(gap),
        low=float(min(low, gap)),
        high=float(max(high, gap)),
        n=total,
        method="Newcombe hybrid score",
    )
    return found.noting("too few") if min(n, other_n) < FEWEST_PER_ARM else found


def role_overlap(roles: Mapping[str, Sequence[Hashable]]) -> pd.DataFrame:
    """Which families play which role: one row a role, one column a family, True where the family plays it.

    >>> role_overlap({"judge": ["OpenAI"], "target": ["OpenAI", "Anthropic"]}).loc["judge"].tolist()
    [True, False]
    """
    families = list(dict.fromkeys(family for members in roles.values() for family in members))
    return pd.DataFrame(
        [[family in members for family in families] for members in roles.values()],
        index=list(roles),
        columns=families,
        dtype=bool,
    )


def _compare(
    judge: Floats, human: Floats, own: NDArray[np.bool_], metric: NDArray[np.int64], *, by_metric: bool
) -> Comparison:
    def count(group: NDArray[np.bool_], weight: Floats, verdict: Floats) -> float:
        return float((weight * verdict)[group].sum())

    fail, passed = 1 - human, human
    fails = [(count(g, fail, judge), float(fail[g].sum())) for g in (own, ~own)]
    passes = [(count(g, passed, 1 - judge), float(passed[g].sum())) for g in (own, ~own)]
    strata = metric if by_metric else np.zeros_like(metric)
    leniency = _leniency(judge - human, own, metric if by_metric else None)
    detectable = None
    if fails[1][1]:
        base = fails[1][0] / fails[1][1]
        if base in (0, 1):  # none seen of so many: half an event more, as for the signal-detection rates
            base = (fails[1][0] + 0.5) / (fails[1][1] + 1)
        detectable = detectable_difference(base, n_first=fails[0][1], n_second=fails[1][1])
    verdict = "not_identified"
    if own.any() and (~own).any():
        clear = (
            leniency.low is not None and leniency.high is not None and not leniency.low <= 0 <= leniency.high
        )
        verdict = "detected" if clear else "not_detected"
    shift, discrimination = _signal_shifts(fails, passes)
    return Comparison(
        false_pass_gap=rate_gap(fails[0], fails[1]),
        false_fail_gap=rate_gap(passes[0], passes[1]),
        leniency=leniency,
        criterion_shift=shift,
        discrimination_shift=discrimination,
        odds_ratio=odds_ratio(judge, human, own, strata),
        false_pass_by_metric=risk_difference(judge, fail, own, strata),
        n_own_fail=round(fails[0][1]),
        n_other_fail=round(fails[1][1]),
        detectable=detectable,
        verdict=verdict,
    )


def _leniency(excess: Floats, own: NDArray[np.bool_], metric: NDArray[np.int64] | None) -> Estimate:
    n = len(excess)
    if not own.any() or own.all():
        return Estimate.undefined("not_identified", n=n)
    if metric is None:
        value = float(excess[own].mean() - excess[~own].mean())
        error = math.sqrt(sum(group.var() / len(group) for group in (excess[own], excess[~own])))
        point = Estimate(value=value, n=n)
        return with_t(point, se=error, df=math.inf, bounds=(-2.0, 2.0), method="normal, items independent")
    size = int(metric.max()) + 1
    means = []
    for group in (own, ~own):
        counts = np.bincount(metric[group], minlength=size)
        sums = np.bincount(metric[group], excess[group], minlength=size)
        means.append(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))
    differences = means[0] - means[1]
    differences = differences[~np.isnan(differences)]
    clusters = len(differences)
    if clusters == 0:
        return Estimate.undefined("no_metric_with_both", n=n)
    point = Estimate(value=float(differences.mean()), n=n, n_clusters=clusters)
    if clusters < LEAST_CLUSTERS:
        return point.noting(TOO_FEW.format(n=clusters))
    error = float(differences.std(ddof=1)) / math.sqrt(clusters)
    method = f"t({clusters - 1}) of metric differences"
    found = with_t(point, se=error, df=clusters - 1, bounds=(-2.0, 2.0), method=method)
    return found.noting(FEW.format(n=clusters)) if clusters < FEW_CLUSTERS else found


def _signal_shifts(
    fails: list[tuple[float, float]], passes: list[tuple[float, float]]
) -> tuple[Estimate, Estimate]:
    n = round(sum(trials for _, trials in (*fails, *passes)))
    if any(trials == 0 for _, trials in (*fails, *passes)):
        nothing = Estimate.undefined("one_class_only", n=n)
        return nothing, nothing
    notes: tuple[str, ...] = ("no interval",)
    edge = any(events in (0, trials) for events, trials in (*fails, *passes))
    if edge:
        notes = (*notes, "a rate is 0 or 1: half an event was added to each")

    def z(events: float, trials: float) -> float:
        return float(norm.ppf((events + 0.5) / (trials + 1) if edge else events / trials))

    false_pass = [z(*one) for one in fails]
    true_pass = [-z(*one) for one in passes]
    criterion = [-(hit + false) / 2 for hit, false in zip(true_pass, false_pass, strict=True)]
    d = [hit - false for hit, false in zip(true_pass, false_pass, strict=True)]
    return (
        Estimate(value=criterion[0] - criterion[1], n=n, notes=notes),
        Estimate(value=d[0] - d[1], n=n, notes=notes),
    )
