"""One order of models beside another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from validation.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """How one other choice orders the models, compared with the primary order."""

    name: str
    """The choice."""
    kendall: Estimate
    """Kendall's tau-b with the primary order: 1 the same order, -1 reversed."""
    spearman: Estimate
    """Spearman's rho with the primary order."""
    keeps_first: bool
    """Whether the same model comes first."""
    keeps_first_three: bool
    """Whether the same three models come first, in any order."""
    discordant_pairs: int
    """Pairs of models in the opposite order."""


def compared_orders(
    primary: NDArray[np.float64], table: NDArray[np.float64], labels: list[str]
) -> tuple[Perturbation, ...]:
    """Each row of `table` (perturbations, models) beside the primary rates (models,)."""
    upper = np.triu_indices(len(primary), 1)
    first = np.sign(primary[:, None] - primary[None, :])[upper]
    others = np.sign(table[:, :, None] - table[:, None, :])[:, *upper]
    concordance = others @ first
    untied = np.sqrt(np.abs(first).sum() * np.abs(others).sum(axis=1))
    discordant = (others * first < 0).sum(axis=1)
    tops = np.argsort(-table, axis=1, kind="stable")[:, :3]
    top = np.argsort(-primary, kind="stable")[:3]
    ranks, rank = rankdata(table, axis=1), rankdata(primary)
    covariance = (ranks - ranks.mean(axis=1, keepdims=True)) @ (rank - rank.mean())
    spread = np.sqrt(ranks.var(axis=1) * rank.var()) * len(primary)
    return tuple(
        Perturbation(
            name=label,
            kendall=_correlation(concordance[k], untied[k], len(primary)),
            spearman=_correlation(covariance[k], spread[k], len(primary)),
            keeps_first=bool(tops[k, 0] == top[0]),
            keeps_first_three=set(tops[k].tolist()) == set(top.tolist()),
            discordant_pairs=int(discordant[k]),
        )
        for k, label in enumerate(labels)
    )


def _correlation(numerator: float, denominator: float, models: int) -> Estimate:
    if denominator <= 0:
        return Estimate.undefined("no_variation", n=models)
    return Estimate(
        value=float(numerator / denominator), n=models, notes=("the models are all there are: no interval",)
    )
