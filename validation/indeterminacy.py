"""Judges against raters who may find several verdicts defensible (rating indeterminacy).

Rows of the arrays are items, columns options, the positive option (pass) first. `forced` are shares of forced
choices; `multilabel` the share of raters in whose response set an option lies (rows need not sum to 1).

Source: Guerdan et al. 2025, arXiv:2503.05965. The definitions are theirs; where ours differ the functions say so.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from validation.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from validation.ratings import MISSING, Ratings
from validation.ratios import ratio
from validation.results import Estimate

Floats = NDArray[np.float64]
Ties = Literal["drop", "first"]

SMALLEST_SHARE = 1e-10


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


def _paired(
    human: ArrayLike, judge: ArrayLike, clusters: ArrayLike | None
) -> tuple[Floats, Floats, NDArray[np.generic] | None]:
    h, j = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    if h.ndim != 2 and h.size == 0:
        h = j = np.zeros((0, 2))
    if h.shape != j.shape or h.ndim != 2:
        raise ValueError(f"human {h.shape} and judge {j.shape} must both be (items, options)")
    kept = ~(np.isnan(h) | np.isnan(j)).any(axis=1)
    return h[kept], j[kept], None if clusters is None else np.asarray(clusters)[kept]


def _hard(h: Floats, j: Floats, decided: NDArray[np.bool_], group: NDArray[np.generic] | None) -> Ratings:
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
    # Against the sum and not the mean, which is 0 where the smallest of all numbers meets 0.
    both: Floats = rel_entr(2 * h, h + j) + rel_entr(2 * j, h + j)
    return np.asarray(np.maximum(both.sum(axis=1) / 4, 0.0), dtype=np.float64)
