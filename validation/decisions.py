"""Decisions from shares of raters who find a verdict defensible: consistency, bias, and what indeterminacy changes.

Source: Guerdan et al. 2025, arXiv:2503.05965.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.ratios import ratio, require_one_length
from validation.results import Estimate

BETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """How consistent and how biased the judge's decisions are, whatever share of raters a decision asks for."""

    thresholds: tuple[float, ...]
    consistency: tuple[Estimate, ...]
    """C: share of items that judge and humans decide alike."""
    bias: tuple[Estimate, ...]
    """B: the judge's positive rate minus that of the humans; 0 no bias, above 0 lenient."""


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


def decision_consistency(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    tau: float,
    strict: bool = False,
    clusters: ArrayLike | None = None,
    seed: int = 0,
) -> Estimate:
    """C(tau): share of items that judge and humans decide alike, where positive means at least tau.

    Args:
        human, judge: (items,) shares of raters, or runs, in whose set the positive option lies.
        tau: best a value that no share can have, see `thresholds`.
        strict: positive means more than tau (as the published code has it downstream).
        clusters: (items,).
        seed: of the cluster bootstrap.
    """
    h, j, group = _decided(human, judge, tau, strict, clusters)
    return ratio(h == j, clusters=group, seed=seed)


def prevalence_bias(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    tau: float,
    strict: bool = False,
    clusters: ArrayLike | None = None,
    seed: int = 0,
) -> Estimate:
    """B(tau): positive rate of the judge minus that of the humans; 0 no bias, above 0 lenient. As C(tau)."""
    h, j, group = _decided(human, judge, tau, strict, clusters)
    return ratio(j.astype(float) - h.astype(float), clusters=group, bounds=(-1.0, 1.0), seed=seed)


def thresholds(n_raters: int) -> tuple[float, ...]:
    """The thresholds between the shares that n raters can give: (k - 1/2) / n.

    >>> thresholds(5)
    (0.1, 0.3, 0.5, 0.7, 0.9)
    """
    if n_raters < 1:
        raise ValueError(f"there must be at least one rater, not {n_raters}")
    return tuple((2 * k - 1) / (2 * n_raters) for k in range(1, n_raters + 1))


def curves(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    taus: Sequence[float],
    clusters: ArrayLike | None = None,
    seed: int = 0,
) -> Curves:
    """C(tau) and B(tau) over thresholds; with equal numbers of raters take them from `thresholds`."""
    at = partial(decision_consistency, human, judge, clusters=clusters, seed=seed)
    biased = partial(prevalence_bias, human, judge, clusters=clusters, seed=seed)
    return Curves(
        thresholds=tuple(taus),
        consistency=tuple(at(tau=tau) for tau in taus),
        bias=tuple(biased(tau=tau) for tau in taus),
    )


def beta_sweep(
    human_forced: ArrayLike,
    judges: Mapping[str, ArrayLike],
    *,
    betas: Sequence[float] = BETAS,
    tau: float = 0.5,
    claim: float = 0.75,
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


def _decided(
    human: ArrayLike, judge: ArrayLike, tau: float, strict: bool, clusters: ArrayLike | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.generic] | None]:
    if not 0 <= tau <= 1:
        raise ValueError(f"tau={tau!r} is not between 0 and 1")
    h, j = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    require_one_length(human=h, judge=j, clusters=clusters)
    kept = ~(np.isnan(h) | np.isnan(j))
    positive = np.greater if strict else np.greater_equal
    return (
        positive(h[kept], tau),
        positive(j[kept], tau),
        None if clusters is None else np.asarray(clusters)[kept],
    )
