"""Whether an order of models survives other reasonable choices: judges, mappings, weights, benchmarks left out."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.arguments import require_at_least
from validation.order_comparison import Perturbation, compared_orders
from validation.ranking import Ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How an order of models holds over a set of perturbations."""

    names: tuple[Hashable, ...]
    """The models: rows and columns of the matrices."""
    perturbations: tuple[Perturbation, ...]
    """One for each choice, in the order given."""
    beats: NDArray[np.float64]
    """(models, models): share of the perturbations in which the row is above the column."""
    keeps_first: float
    """Share of the perturbations that keep the first model."""
    keeps_first_three: float
    """Share that keep the first three."""

    def established(self, ranking: Ranking, *, share: float = 0.95) -> NDArray[np.bool_]:
        """(models, models): row above column, separated in the ranking *and* in `share` of the perturbations."""
        if ranking.names != self.names:
            raise ValueError(f"the ranking is of {ranking.names!r}, the stability of {self.names!r}")
        return ranking.separated & (self.beats >= share)


def stability(
    primary: Sequence[float] | NDArray[np.float64],
    *,
    names: Sequence[Hashable],
    perturbations: Mapping[str, Sequence[float] | NDArray[np.float64]],
) -> Stability | None:
    """Compare the primary order with the order under each other choice; None where there is nothing to compare.

    Args:
        primary: (models,): the primary rates, higher is better.
        names: (models,): the models.
        perturbations: for each other choice the rates (models,) under it.
    """
    if len(primary) != len(names):
        raise ValueError(f"{len(primary)} rates do not go with {len(names)} names")
    if stray := [name for name, rates in perturbations.items() if len(rates) != len(primary)]:
        raise ValueError(f"perturbation {stray[0]!r} does not have a rate for each of {len(primary)} models")
    if not perturbations or len(primary) < 2:
        return None
    table = np.stack([np.asarray(rates, dtype=np.float64) for rates in perturbations.values()])
    first = np.asarray(primary, dtype=np.float64)
    if np.isnan(table).any() or np.isnan(first).any():
        raise ValueError("a rate is NaN: leave the model or the perturbation out")
    compared = compared_orders(first, table, list(perturbations))
    return Stability(
        names=tuple(names),
        perturbations=compared,
        beats=(table[:, :, None] > table[:, None, :]).mean(axis=0),
        keeps_first=float(np.mean([one.keeps_first for one in compared])),
        keeps_first_three=float(np.mean([one.keeps_first_three for one in compared])),
    )


def reweightings(
    rates: NDArray[np.float64], *, draws: int = 2000, seed: int | np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    """Overall rates under random weights of the benchmarks, uniform on the simplex.

    Args:
        rates: (benchmarks, models): the rate of each model on each benchmark.
        draws: how many weightings.
        seed: of the weights.
    """
    require_at_least("draws", draws, 1)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(rates)), size=draws)
    return {f"weights {k + 1}": row for k, row in enumerate(weights @ rates)}


def leave_one_out(
    rates: NDArray[np.float64], *, names: Sequence[Hashable], weights: NDArray[np.float64] | None = None
) -> dict[str, NDArray[np.float64]]:
    """Overall rates with each benchmark left out in turn.

    Args:
        rates: (benchmarks, models).
        names: (benchmarks,).
        weights: (benchmarks,): None weighs them alike.
    """
    sizes = np.ones(len(rates)) if weights is None else np.asarray(weights, dtype=np.float64)
    if len(rates) < 2:
        return {}
    without = (sizes @ rates - sizes[:, None] * rates) / (sizes.sum() - sizes)[:, None]
    return {f"without {name}": row for name, row in zip(names, without, strict=True)}


def expected_discordance(spearman: float, *, models: int) -> tuple[float, float]:
    """Kendall's tau and the number of discordant pairs to expect at a Spearman correlation (bivariate normal).

    >>> tau, pairs = expected_discordance(0.61, models=14)
    >>> round(tau, 2), round(pairs)
    (0.43, 26)
    """
    if not -1 <= spearman <= 1:
        raise ValueError(f"spearman={spearman!r} is not between -1 and 1")
    tau = 2 / math.pi * math.asin(2 * math.sin(math.pi * spearman / 6))
    return tau, (1 - tau) / 2 * models * (models - 1) / 2
