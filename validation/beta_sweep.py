"""What rating indeterminacy would change: conclusions from forced choices under sensitivity analysis.

Source: Guerdan et al. 2025, arXiv:2503.05965.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from validation.arguments import require_one_length
from validation.decisions import decision_consistency
from validation.ratios import ratio
from validation.results import Estimate

BETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
CLAIMED = 0.75
"""The decision consistency that is claimed of a judge where nobody says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaSweep:
    """What would change if raters who chose "fail" had found "pass" defensible too, with probability beta."""

    betas: tuple[float, ...]
    mse: dict[str, tuple[Estimate, ...]]
    """For each judge and beta: mean squared difference of the positive shares."""
    consistency: dict[str, tuple[Estimate, ...]]
    """For each judge and beta: decision consistency at the threshold."""
    rankings: tuple[tuple[str, ...], ...]
    """For each beta the judges from the smallest MSE to the largest."""
    ranking_flips_at: float | None
    """The smallest beta at which the ranking differs from that at the first beta; None if it never does."""
    claim_flips_at: dict[str, float | None]
    """For each judge the smallest beta at which "consistency >= claim" is no longer what it was."""


def beta_sweep(
    human_forced: ArrayLike,
    judges: Mapping[str, ArrayLike],
    *,
    betas: Sequence[float] = BETAS,
    tau: float = 0.5,
    claim: float = CLAIMED,
    clusters: ArrayLike | None = None,
    seed: int = 0,
) -> BetaSweep:
    """Whether conclusions from forced choices survive indeterminacy: omega = O + beta (1 - O) for every beta.

    Args:
        human_forced: (items,) share of raters who chose the positive option.
        judges: by name (items,) the judge's positive multi-label share.
        betas: probability that the positive option was in the set of a rater who chose the other.
        tau: threshold of a decision.
        claim: the least decision consistency that is claimed of a judge.
        clusters: (items,).
        seed: of the cluster bootstrap.
    """
    if not betas or not all(0 <= beta <= 1 for beta in betas):
        raise ValueError(f"betas must be probabilities, at least one, not {list(betas)!r}")
    forced = np.asarray(human_forced, dtype=np.float64)
    omegas = [forced + beta * (1 - forced) for beta in betas]
    mse, consistency = {}, {}
    for name, judge in judges.items():
        positive = np.asarray(judge, dtype=np.float64)
        require_one_length(human_forced=forced, judge=positive)
        mse[name] = tuple(
            ratio((omega - positive) ** 2, clusters=clusters, bounds=(0.0, 1.0 + 1e-12), seed=seed)
            for omega in omegas
        )
        consistency[name] = tuple(
            decision_consistency(omega, positive, tau=tau, clusters=clusters, seed=seed) for omega in omegas
        )
    rankings = tuple(
        tuple(sorted(judges, key=lambda name: (mse[name][at].value or 0.0, name))) for at in range(len(betas))
    )
    return BetaSweep(
        betas=tuple(betas),
        mse=mse,
        consistency=consistency,
        rankings=rankings,
        ranking_flips_at=_first_change(betas, rankings),
        claim_flips_at={
            name: _first_change(betas, [c.defined and (c.value or 0.0) >= claim for c in found])
            for name, found in consistency.items()
        },
    )


def _first_change(betas: Sequence[float], states: Sequence[object]) -> float | None:
    return next((beta for beta, state in zip(betas, states, strict=True) if state != states[0]), None)
