"""Which metrics are contested: a transparent rule with control of false flags.

The posterior probabilities of all metrics and domains are pooled, and the largest set is flagged in which the expected
share of false flags stays at q or below (Bayesian false discovery rate).
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from validation.arguments import require_at_least, require_open_share
from validation.false_discovery import bayesian_fdr
from validation.intervals import FEW_ITEMS, wilson
from validation.metric_evidence import THRESHOLDS, Domain, DomainEvidence, MetricEvidence
from validation.overlap import pass_count_pmf
from validation.results import Estimate

CERTAINTY_WITH_FEW_ITEMS = 0.95
"""With few items, expert disagreement is flagged only from this probability on."""

CORE = (Domain.EXPERT_DISAGREEMENT, Domain.JUDGE_AGAINST_EXPERTS, Domain.INDETERMINACY)
"""The domains that must be assessed before "no concern found" may be said."""

COUNTED_ONCE = (
    (Domain.JUDGE_AGAINST_EXPERTS,),
    (Domain.INDETERMINACY, Domain.UNSURE),
    (Domain.JUDGE_INSTABILITY,),
    (Domain.CONSTRUCT,),
)
"""Two of these together make a metric contested: D2, D3 (with D3u), D4, D5."""

CONCERNS: Mapping[Domain, str] = {
    Domain.EXPERT_DISAGREEMENT: "experts disagree",
    Domain.JUDGE_AGAINST_EXPERTS: "the judge differs from the experts",
    Domain.INDETERMINACY: "experts find both verdicts defensible",
    Domain.UNSURE: "experts cannot judge it",
    Domain.JUDGE_INSTABILITY: "the judge contradicts itself",
    Domain.CONSTRUCT: "reviewers doubt the definition",
    Domain.SATURATION: "nearly every model passes, or nearly every one fails",
    Domain.DIFFERENTIAL_ERROR: "the judge errs differently by age or family",
}


class Status(StrEnum):
    """Where a metric stands."""

    CONTESTED = "contested"
    WATCH = "watch"
    NO_CONCERN_FOUND = "no_concern_found"
    NOT_ASSESSED = "not_assessed"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricStatus:
    """A metric's status with its reasons."""

    metric: Hashable
    """The metric."""
    status: Status
    """contested, watch, no_concern_found or not_assessed; the last is never a sign that all is well."""
    reason: str
    """One sentence with the evidence."""
    flagged: tuple[Domain, ...]
    """Domains flagged under the false discovery rate, or by a rule without a probability."""
    not_assessed: tuple[Domain, ...]
    """Domains of which nothing can be said."""
    rubric_audit: bool
    """Whether the pass rate is so near 0 or 1 that the rubric should be read again (this is not a contest)."""
    priority: float
    """Order within a status: the sum of log-odds over domains, each capped at 3 either way, times the stakes."""
    evidence: MetricEvidence
    """The evidence row."""


def statuses(
    evidence: Sequence[MetricEvidence],
    *,
    q: float = 0.10,
    required: Collection[Domain] = CORE,
    stakes: Mapping[Hashable, float] | None = None,
) -> list[MetricStatus]:
    """The status of each metric, in the order given.

    contested: expert disagreement flagged, or two of D2 to D5. watch: one domain flagged, or any probability of a half
    or more. no_concern_found: every required domain assessed and no probability of a half. not_assessed: the rest. A
    domain without data never counts as fine: the reason names it.

    Args:
        evidence: the metrics; any subset of domains.
        q: the Bayesian false discovery rate over all assessed metrics and domains (saturation apart).
        required: domains that must be assessed before "no concern found".
        stakes: weight of each metric in the order within a status; 1 where absent.
    """
    assessed = [
        (index, domain, one.probability)
        for index, metric in enumerate(evidence)
        for domain, one in metric.domains.items()
        if one.probability is not None and domain is not Domain.SATURATION
    ]
    chosen = bayesian_fdr([probability for *_, probability in assessed], q)
    flags: list[set[Domain]] = [set() for _ in evidence]
    for (index, domain, _), flag in zip(assessed, chosen, strict=True):
        if flag and _certain_enough(evidence[index].domains[domain]):
            flags[index].add(domain)
    return [
        _status(metric, flags[index], required, (stakes or {}).get(metric.metric, 1.0))
        for index, metric in enumerate(evidence)
    ]


def queue(found: Sequence[MetricStatus]) -> list[MetricStatus]:
    """The statuses as a queue of work: by status, and within one by priority."""
    order = {status: place for place, status in enumerate(Status)}
    return sorted(found, key=lambda one: (order[one.status], -one.priority))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRow:
    """How often a metric of a given true alpha would be flagged."""

    alpha: float
    """The true alpha."""
    flagged: Estimate
    """Share of simulated metrics that the rule flags, with the Monte Carlo interval."""


def calibrate(
    n_items: int,
    n_raters: int,
    *,
    seed: int,
    alphas: Sequence[float] = (0.3, 0.5, 0.667, 0.8, 0.9),
    prevalence: float = 0.5,
    threshold: float = THRESHOLDS[Domain.EXPERT_DISAGREEMENT],
    certainty: float = 0.9,
    simulations: int = 2000,
    draws: int = 2000,
) -> tuple[CalibrationRow, ...]:
    """How often the rule "P(alpha below the threshold) above `certainty`" flags metrics of known alpha.

    At the threshold and above, the share is that of false flags; run it with the study's own design before trusting a
    flag.

    Args:
        n_items: items of a metric.
        n_raters: raters on each.
        seed: of the simulated metrics and of the Dirichlet weights.
        alphas: true values to try, each from 0 up to 1; items' pass probabilities are beta with that correlation.
        prevalence: the share of passes.
        threshold, certainty: of the rule.
        simulations: metrics simulated for each alpha.
        draws: Dirichlet draws of the Bayesian bootstrap.
    """
    require_at_least("n_items", n_items, 2)
    require_at_least("n_raters", n_raters, 2)
    require_open_share("prevalence", prevalence)
    require_open_share("certainty", certainty)
    generator = np.random.default_rng(seed)
    weights = generator.dirichlet(np.ones(n_items), size=draws) * n_items
    return tuple(
        CalibrationRow(
            alpha=alpha,
            flagged=_share(
                _flagged(
                    generator.choice(
                        n_raters + 1,
                        size=(simulations, n_items),
                        p=pass_count_pmf(alpha, prevalence, n_raters),
                    ),
                    n_raters,
                    weights,
                    threshold,
                    certainty,
                )
            ),
        )
        for alpha in alphas
    )


def _certain_enough(one: DomainEvidence) -> bool:
    few = one.domain is Domain.EXPERT_DISAGREEMENT and one.n < FEW_ITEMS
    return not few or (one.probability or 0.0) >= CERTAINTY_WITH_FEW_ITEMS


def _status(
    metric: MetricEvidence, flagged: set[Domain], required: Collection[Domain], stake: float
) -> MetricStatus:
    flagged = flagged | {domain for domain, one in metric.domains.items() if one.triggered}
    probable = {
        domain
        for domain, one in metric.domains.items()
        if domain is not Domain.SATURATION and (one.probability or 0.0) >= 0.5
    }
    missing = [domain for domain in Domain if not metric.of(domain).assessed]
    two_or_more = sum(any(domain in flagged for domain in group) for group in COUNTED_ONCE) >= 2
    if Domain.EXPERT_DISAGREEMENT in flagged or two_or_more:
        status, concerns = Status.CONTESTED, flagged
    elif flagged or probable:
        status, concerns = Status.WATCH, flagged | probable
    elif not set(required) & set(missing):
        status, concerns = Status.NO_CONCERN_FOUND, set()
    else:
        status, concerns = Status.NOT_ASSESSED, set()
    return MetricStatus(
        metric=metric.metric,
        status=status,
        reason=_reason(metric, status, concerns, missing, required),
        flagged=tuple(domain for domain in Domain if domain in flagged),
        not_assessed=tuple(missing),
        rubric_audit=(metric.of(Domain.SATURATION).probability or 0.0) >= 0.5,
        priority=stake * sum(_capped_log_odds(one.probability) for one in metric.domains.values()),
        evidence=metric,
    )


def _capped_log_odds(probability: float | None) -> float:
    if probability is None:
        return 0.0
    if probability in (0.0, 1.0):
        return 3.0 if probability else -3.0
    return max(-3.0, min(3.0, math.log(probability / (1 - probability))))


def _reason(
    metric: MetricEvidence,
    status: Status,
    concerns: set[Domain],
    missing: list[Domain],
    required: Collection[Domain],
) -> str:
    if status is Status.NOT_ASSESSED:
        short = [domain for domain in Domain if domain in missing and domain in required]
        return (
            "Not assessed: " + "; ".join(f"{domain}: {metric.of(domain).missing}" for domain in short) + "."
        )
    if status is Status.NO_CONCERN_FOUND:
        looked = ", ".join(domain for domain in Domain if metric.of(domain).assessed)
        unseen = f"; not assessed: {', '.join(missing)}" if missing else ""
        return f"No concern found in {looked}{unseen}."
    said = "; ".join(_phrase(metric.of(domain)) for domain in Domain if domain in concerns)
    return f"{said[0].upper()}{said[1:]}."


def _phrase(one: DomainEvidence) -> str:
    counted = ", ".join(f"{name.replace('_', ' ')} {number:g}" for name, number in one.counts.items())
    certainty = "" if one.probability is None else f"probability {one.probability:.2f}; "
    return f"{CONCERNS[one.domain]} ({certainty}{counted})"


def _flagged(
    passes: NDArray[np.int64],
    n_raters: int,
    weights: NDArray[np.float64],
    threshold: float,
    certainty: float,
) -> NDArray[np.bool_]:
    """(simulations,): nominal alpha of two categories under all weights, all simulated metrics in one product."""
    disagreeing = weights @ (2 * passes * (n_raters - passes) / (n_raters - 1)).T
    passed = weights @ passes.T
    ratings = passes.shape[1] * n_raters
    varied = passes.any(axis=1) & (passes < n_raters).any(axis=1)
    expected = np.where(varied, 2 * passed * (ratings - passed), 1.0)
    alphas = 1 - (ratings - 1) * disagreeing / expected
    return np.asarray(varied & ((alphas < threshold).mean(axis=0) > certainty), dtype=np.bool_)


def _share(flagged: NDArray[np.bool_]) -> Estimate:
    return replace(wilson(int(flagged.sum()), len(flagged)), method="Wilson, of simulations")
