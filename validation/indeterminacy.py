"""Judges against raters who may find several verdicts defensible (rating indeterminacy).

Rows of the arrays are items, columns options, the positive option (pass) first. `forced` are shares of forced
choices; `multilabel` the share of raters in whose response set an option lies (rows need not sum to 1).

Source: Guerdan et al. 2025, arXiv:2503.05965. The definitions are theirs; where ours differ the functions say so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from validation.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from validation.ratings import MISSING, Ratings
from validation.ratios import ratio, require_one_length
from validation.results import Estimate

Floats = NDArray[np.float64]
Ties = Literal["drop", "first"]

SMALLEST_SHARE = 1e-10
BETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedChoice:
    """Judge and humans compared on their forced choices: biased where the two resolve indeterminacy differently."""

    hit_rate: Estimate
    """Share of items on which the most frequent choices are the same; items with a tie are left out."""
    ties: int
    """Items with a tie for the most frequent choice on either side."""
    kappa: Estimate
    """Cohen's kappa of the most frequent choices."""
    fleiss: Estimate
    """Fleiss' kappa of the same."""
    alpha: Estimate
    """Krippendorff's alpha of the same."""
    kl_human_judge: Estimate
    """Mean Kullback-Leibler divergence of the judge from the humans, in nats; 0 where they are equal."""
    kl_judge_human: Estimate
    """The other direction."""
    cross_entropy: Estimate
    """Mean cross-entropy of the judge under the humans, in nats."""
    js_divergence: Estimate
    """Mean Jensen-Shannon divergence, in nats; between 0 (equal) and ln 2."""
    js_distance: Estimate
    """Mean of its square roots, which the published code calls JS."""
    mse: Estimate
    """Mean squared difference, summed over options (with two options twice the usual Brier score)."""


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


def compare_forced(
    human: ArrayLike,
    judge: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    ties: Ties = "drop",
    seed: int = 0,
) -> ForcedChoice:
    """Compare (items, options) shares of forced choices.

    Args:
        human, judge: each row sums to 1; items with a nan are left out.
        clusters: (items,).
        ties: what an item without a single most frequent choice counts as: left out, or its first option (as in the
            published code).
        seed: of the cluster bootstrap.
    """
    h, j, group = _paired(human, judge, clusters)
    if not np.allclose(h.sum(axis=1), 1) or not np.allclose(j.sum(axis=1), 1):
        raise ValueError("shares of forced choices must sum to 1 in every row")
    mean = partial(ratio, clusters=group, seed=seed)
    tied = ((h == h.max(axis=1, keepdims=True)).sum(axis=1) > 1) | (
        (j == j.max(axis=1, keepdims=True)).sum(axis=1) > 1
    )
    decided = ~tied if ties == "drop" else np.ones(len(h), dtype=bool)
    hits = np.where(decided, h.argmax(axis=1) == j.argmax(axis=1), np.nan)
    hard = _hard(h, j, decided, group)
    p, q = np.maximum(h, SMALLEST_SHARE), np.maximum(j, SMALLEST_SHARE)
    divergence = _js_divergence(h, j)
    return ForcedChoice(
        hit_rate=mean(hits),
        ties=int(tied.sum()),
        kappa=cohen_kappa(hard, "human", "judge"),
        fleiss=fleiss_kappa(hard),
        alpha=krippendorff_alpha(hard, level="nominal"),
        kl_human_judge=mean(rel_entr(p, q).sum(axis=1), bounds=(0.0, np.inf)),
        kl_judge_human=mean(rel_entr(q, p).sum(axis=1), bounds=(0.0, np.inf)),
        cross_entropy=mean(-(p * np.log(q)).sum(axis=1), bounds=(0.0, np.inf)),
        js_divergence=mean(divergence, bounds=(0.0, float(np.log(2)))),
        js_distance=mean(np.sqrt(divergence), bounds=(0.0, float(np.sqrt(np.log(2))))),
        mse=mean(((h - j) ** 2).sum(axis=1), bounds=(0.0, 2.0)),
    )


def coverage(
    human_multilabel: ArrayLike,
    judge_forced: ArrayLike,
    *,
    tau: float = 0.5,
    clusters: ArrayLike | None = None,
    seed: int = 0,
) -> Estimate:
    """Share of items whose judge's choice is one that at least a share `tau` of the raters find defensible."""
    h, j, group = _paired(human_multilabel, judge_forced, clusters)
    chosen = h[np.arange(len(h)), j.argmax(axis=1)] if len(h) else np.zeros(0)
    return ratio(chosen >= tau, clusters=group, seed=seed)


def multilabel_mse(
    human: ArrayLike, judge: ArrayLike, *, clusters: ArrayLike | None = None, seed: int = 0
) -> Estimate:
    """Mean squared difference of multi-label shares, summed over options: the score to select judges by; 0 is best.

    >>> mse = multilabel_mse([[1, 0], [0.8, 0.6], [0.8, 0.8], [0.2, 1]], [[1, 0], [0.9, 0.5], [0.7, 0.8], [0.2, 1]])
    >>> round(mse.value, 4)
    0.0075
    """
    h, j, group = _paired(human, judge, clusters)
    return ratio(
        ((h - j) ** 2).sum(axis=1), clusters=group, bounds=(0.0, float(max(h.shape[1], 2))), seed=seed
    )


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


def _paired(
    human: ArrayLike, judge: ArrayLike, clusters: ArrayLike | None
) -> tuple[Floats, Floats, NDArray[np.generic] | None]:
    """Both arrays with the items that have no nan in either."""
    h, j = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    if h.ndim != 2 and h.size == 0:
        h = j = np.zeros((0, 2))
    if h.shape != j.shape or h.ndim != 2:
        raise ValueError(f"human {h.shape} and judge {j.shape} must both be (items, options)")
    kept = ~(np.isnan(h) | np.isnan(j)).any(axis=1)
    return h[kept], j[kept], None if clusters is None else np.asarray(clusters)[kept]


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


def _hard(h: Floats, j: Floats, decided: NDArray[np.bool_], group: NDArray[np.generic] | None) -> Ratings:
    """The most frequent choices as the ratings of two raters."""
    codes = np.stack([h.argmax(axis=1), j.argmax(axis=1)], axis=1) if len(h) else np.zeros((0, 2), np.int64)
    numbers = None if group is None else np.unique(group, return_inverse=True)[1].astype(np.int64)
    return Ratings(
        codes=np.where(decided[:, None], codes, MISSING).astype(np.int64),
        categories=tuple(range(h.shape[1])),
        units=tuple(range(len(h))),
        raters=("human", "judge"),
        clusters=numbers,
    )


def _js_divergence(h: Floats, j: Floats) -> Floats:
    middle = (h + j) / 2
    halves: Floats = rel_entr(h, middle) + rel_entr(j, middle)
    return np.asarray(np.maximum(halves.sum(axis=1) / 2, 0.0), dtype=np.float64)
