"""Evidence on a metric, one domain of concern at a time.

For each domain: the posterior probability that the true quantity lies beyond a threshold set beforehand, and a floor of
data below which the answer is "not assessed". Nothing here decides anything; `validation.contested` does.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from validation.blas import one_thread
from validation.intervals import FEW_ITEMS, TAILS
from validation.item_sums import alpha_sums, coefficients_of
from validation.ratings import Ratings
from validation.results import Estimate
from validation.shrinkage import shrink


class Domain(StrEnum):
    """What can be of concern about a metric."""

    EXPERT_DISAGREEMENT = "D1"
    JUDGE_AGAINST_EXPERTS = "D2"
    INDETERMINACY = "D3"
    UNSURE = "D3u"
    JUDGE_INSTABILITY = "D4"
    CONSTRUCT = "D5"
    SATURATION = "D6"
    DIFFERENTIAL_ERROR = "D7"


THRESHOLDS: Mapping[Domain, float] = {
    Domain.EXPERT_DISAGREEMENT: 0.667,
    Domain.JUDGE_AGAINST_EXPERTS: 0.75,
    Domain.INDETERMINACY: 0.20,
    Domain.UNSURE: 0.10,
    Domain.JUDGE_INSTABILITY: 0.20,
    Domain.CONSTRUCT: 0.25,
    Domain.SATURATION: 0.02,
    Domain.DIFFERENTIAL_ERROR: 0.10,
}
"""Default thresholds; a study may set its own, before looking."""

AT_A_TIME = 16
"""Metrics whose draws are held at a time: so many stay in the processor's cache."""
FEW_NOTE = f"fewer than {FEW_ITEMS} items: the interval is not to be relied on"


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainEvidence:
    """What is known of one metric in one domain."""

    domain: Domain
    """Which concern."""
    probability: float | None
    """Posterior probability that the true quantity lies beyond the threshold; None where not assessed."""
    estimate: Estimate
    """The quantity itself."""
    n: int
    """What the floor counts: items, ratings, reviewers or conversations."""
    counts: Mapping[str, float]
    """The raw counts behind it, by name."""
    missing: str | None = None
    """What is short of the floor, in words; None where the domain is assessed."""
    triggered: bool = False
    """Whether a rule without a probability has fired (two reviewers or more want the metric renamed)."""

    @property
    def assessed(self) -> bool:
        return self.probability is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricEvidence:
    """Everything known of one metric."""

    metric: Hashable
    """The metric."""
    domains: Mapping[Domain, DomainEvidence] = field(default_factory=dict)
    """The domains that were looked at; the others are not assessed."""

    def of(self, domain: Domain) -> DomainEvidence:
        """The evidence in one domain; "not assessed" where nobody looked."""
        return self.domains.get(domain) or not_assessed(domain, 0, {}, "no data were given", "no_ratings")


def gather(*domains: Mapping[Hashable, DomainEvidence]) -> list[MetricEvidence]:
    """Put the domains of each metric together; metrics keep the order of their first appearance."""
    metrics = dict.fromkeys(metric for one in domains for metric in one)
    return [
        MetricEvidence(
            metric=metric,
            domains={one[metric].domain: one[metric] for one in domains if metric in one},
        )
        for metric in metrics
    ]


def expert_disagreement(
    ratings: Mapping[Hashable, Ratings],
    *,
    seed: int,
    level: Literal["nominal", "ordinal"] = "nominal",
    threshold: float = THRESHOLDS[Domain.EXPERT_DISAGREEMENT],
    draws: int = 4000,
    least_items: int = 9,
    least_raters: int = 3,
) -> dict[Hashable, DomainEvidence]:
    """D1: P(alpha below the threshold), by the Bayesian bootstrap over items (Rubin 1981).

    Args:
        ratings: for each metric its ratings under the primary mapping.
        seed: of the Dirichlet weights.
        level: of the alpha.
        threshold: the alpha below which experts disagree too much.
        draws: Dirichlet draws.
        least_items, least_raters: the floor: so many items with so many raters.
    """
    found: dict[Hashable, DomainEvidence | None] = dict.fromkeys(ratings)
    alike: dict[tuple[object, int], list[_Rated]] = {}
    for metric, table in ratings.items():
        paired = table.select(table.pairable)
        items = len(paired.units)
        enough = int((table.ratings_per_unit >= least_raters).sum())
        split = int((paired.counts.max(axis=1, initial=0) < paired.ratings_per_unit).sum())
        counts = {"items": items, "items_with_enough_raters": enough, "split_items": split}
        if enough >= least_items:
            alike.setdefault((paired.categories, items), []).append(_Rated(metric, paired, enough, counts))
            continue
        short = f"{least_items} items with {least_raters} experts each are needed, {enough} are there"
        reason = "too_few_items" if items else "no_pairable_items"
        found[metric] = not_assessed(Domain.EXPERT_DISAGREEMENT, enough, counts, short, reason)
    for members in alike.values():
        weights = _weights(seed, len(members[0].paired.units), draws)
        for start in range(0, len(members), AT_A_TIME):
            some = members[start : start + AT_A_TIME]
            found |= zip(
                (one.metric for one in some), _disagreements(some, weights, level, threshold), strict=True
            )
    return {metric: one for metric, one in found.items() if one is not None}


class _Rated(NamedTuple):
    metric: Hashable
    paired: Ratings
    enough: int
    counts: Mapping[str, float]


def _disagreements(
    metrics: Sequence[_Rated],
    weights: NDArray[np.float64],
    level: Literal["nominal", "ordinal"],
    threshold: float,
) -> Iterator[DomainEvidence]:
    """The evidence on metrics of one size, all of their draws in one product."""
    sums = alpha_sums(np.stack([one.paired.counts for one in metrics]), level=level)
    statistics, groups, items = sums.items.shape
    with one_thread(sums.items.size * weights.shape[1]):
        drawn = sums.items.reshape(-1, items) @ weights
    alphas = sums.coefficient(drawn.reshape(statistics, groups, -1))
    ends = np.quantile(alphas, TAILS, axis=1).T.tolist()
    below = (alphas < threshold).mean(axis=1).tolist()
    for one, point, (low, high), probability in zip(
        metrics, coefficients_of(sums).tolist(), ends, below, strict=True
    ):
        if np.isnan(point):
            alike = "every expert gave the same label: there is nothing to tell agreement from chance"
            yield not_assessed(Domain.EXPERT_DISAGREEMENT, one.enough, one.counts, alike, "no_variation")
            continue
        yield DomainEvidence(
            domain=Domain.EXPERT_DISAGREEMENT,
            probability=probability,
            estimate=Estimate(
                value=point,
                low=min(low, point),
                high=max(high, point),
                n=items,
                n_ratings=one.paired.n_ratings,
                method=f"{level} alpha, Bayesian bootstrap over items",
                notes=(FEW_NOTE,) if items < FEW_ITEMS else (),
            ),
            n=one.enough,
            counts=one.counts,
        )


@lru_cache(maxsize=16)
def _weights(seed: int, items: int, draws: int) -> NDArray[np.float64]:
    """(items, draws): Dirichlet weights. Metrics of one size share them, so that no metric moves another's draws."""
    drawn = np.random.default_rng([seed, items]).dirichlet(np.ones(items), size=draws) * items
    drawn.flags.writeable = False
    return drawn.T


def judge_against_experts(
    agreeing: Mapping[Hashable, tuple[float, int]],
    *,
    threshold: float = THRESHOLDS[Domain.JUDGE_AGAINST_EXPERTS],
    groups: Mapping[Hashable, Hashable] | None = None,
    least_items: int = 6,
) -> dict[Hashable, DomainEvidence]:
    """D2: P(judge accuracy below the threshold), partially pooled over the metrics.

    Args:
        agreeing: for each metric, items on which judge and experts agree (soft labels: the sum) and items compared.
        threshold: the accuracy below which the judge is of concern.
        groups: the polarity of each metric; polarities are pooled apart where each has six metrics with data.
        least_items: the floor.
    """
    return _pooled(
        Domain.JUDGE_AGAINST_EXPERTS,
        agreeing,
        threshold,
        least_items,
        groups,
        below=True,
        what="judged items",
    )


def judge_instability(
    flips: Mapping[Hashable, tuple[float, int]],
    *,
    threshold: float = THRESHOLDS[Domain.JUDGE_INSTABILITY],
    groups: Mapping[Hashable, Hashable] | None = None,
    least_items: int = 10,
) -> dict[Hashable, DomainEvidence]:
    """D4: P(flip rate above the threshold), partially pooled over the metrics.

    Args:
        flips: for each metric, items on which the runs are not unanimous and items with three runs or more.
        threshold: the flip rate above which the judge is of concern.
        groups: the polarity of each metric; polarities are pooled apart where each has six metrics with data.
        least_items: the floor.
    """
    what = "items with three runs of the judge"
    return _pooled(Domain.JUDGE_INSTABILITY, flips, threshold, least_items, groups, below=False, what=what)


def _pooled(
    domain: Domain,
    counted: Mapping[Hashable, tuple[float, int]],
    threshold: float,
    least: int,
    groups: Mapping[Hashable, Hashable] | None,
    *,
    below: bool,
    what: str,
) -> dict[Hashable, DomainEvidence]:
    if not counted:
        return {}
    hits, sizes = zip(*counted.values(), strict=True)
    names = None if groups is None else [groups[metric] for metric in counted]
    pooled = shrink(hits, trials=sizes, threshold=threshold, groups=names)
    found: dict[Hashable, DomainEvidence] = {}
    for metric, (hit, n), rate, under in zip(
        counted, counted.values(), pooled.rates, pooled.below, strict=True
    ):
        counts = {"agreeing" if below else "flips": hit, "items": n}
        if n < least or under.value is None:
            short = f"{least} {what} are needed, {n} are there"
            found[metric] = not_assessed(domain, n, counts, short, "too_few_items" if n else "no_items")
            continue
        found[metric] = DomainEvidence(
            domain=domain,
            probability=under.value if below else 1 - under.value,
            estimate=rate,
            n=n,
            counts=counts,
        )
    return found


def not_assessed(
    domain: Domain, n: int, counts: Mapping[str, float], missing: str, reason: str
) -> DomainEvidence:
    """Evidence that is none: what is short, in words, and the reason code."""
    return DomainEvidence(
        domain=domain,
        probability=None,
        estimate=Estimate.undefined(reason, n=n),
        n=n,
        counts=counts,
        missing=missing,
    )
