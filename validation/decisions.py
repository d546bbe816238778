"""Decisions from shares of raters who find a verdict defensible: consistency, bias, and what indeterminacy changes.

Source: Guerdan et al. 2025, arXiv:2503.05965.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.arguments import require_at_least, require_one_length, require_share
from validation.ratios import ratio
from validation.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """How consistent and how biased the judge's decisions are, whatever share of raters a decision asks for."""

    thresholds: tuple[float, ...]
    consistency: tuple[Estimate, ...]
    """C: share of items that judge and humans decide alike."""
    bias: tuple[Estimate, ...]
    """B: the judge's positive rate minus that of the humans; 0 no bias, above 0 lenient."""


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
    require_at_least("n_raters", n_raters, 1)
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


def _decided(
    human: ArrayLike, judge: ArrayLike, tau: float, strict: bool, clusters: ArrayLike | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.generic] | None]:
    require_share("tau", tau)
    h, j = np.asarray(human, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    require_one_length(human=h, judge=j, clusters=clusters)
    kept = ~(np.isnan(h) | np.isnan(j))
    positive = np.greater if strict else np.greater_equal
    return (
        positive(h[kept], tau),
        positive(j[kept], tau),
        None if clusters is None else np.asarray(clusters)[kept],
    )
