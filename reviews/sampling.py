"""Which conversations go before experts: a stratified sample whose inclusion probabilities are known.

Everything follows from the stable keys of the conversations (run and key) and the seed: neither row numbers nor the
order in which the rows come change what is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reviews.assignment import PlanRefused

KEY = ["run", "conversation"]
STRATA = ("benchmark", "metric", "polarity", "family", "model", "age", "base_scenario", "run")
"""The columns that may name strata."""
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One cell of the design."""

    name: str
    """The values of the stratum's columns, joined by ` | `."""
    population: int
    """Conversations of the frame in it."""
    sampled: int
    """Conversations drawn from it."""
    inclusion_probability: float
    """The chance that each of its conversations had, before the draw, of being in the sample."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """What was drawn, and with which chances."""

    items: pd.DataFrame
    """The sampled rows in key order, with the columns `stratum` and `inclusion_probability` added."""
    strata: tuple[Stratum, ...]
    """Every stratum of the frame, those without a draw too."""


def draw_sample(
    frame: pd.DataFrame,
    *,
    strata: Sequence[str],
    seed: int,
    items: int | None = None,
    per_stratum: int | None = None,
) -> Sample:
    """Draw conversations at random within strata, as many from each as can be.

    Args:
        frame: the conversations that may be drawn, with the columns `run`, `conversation` and those of `strata`.
        strata: the columns whose combinations are the strata.
        seed: of the generator; the same seed and conversations give the same sample.
        items: how many to draw in all, allocated equally: a stratum that is too small gives all it has, what cannot be
            divided goes to strata at random, so with fewer items than strata some have none.
        per_stratum: how many to draw from each stratum; a smaller stratum gives all it has.

    With neither number, every conversation is taken, with probability 1.

    Raises:
        PlanRefused: a number or a stratum that cannot be, or an empty frame.
    """
    _require_possible(frame, strata, items, per_stratum)
    generator = np.random.default_rng(seed)
    ordered = frame.sort_values(KEY).reset_index(drop=True)
    names = _name_strata(ordered, strata)
    groups = {str(name): rows.to_numpy() for name, rows in names.groupby(names).groups.items()}
    population = np.array([len(rows) for rows in groups.values()])

    if items is not None:
        drawn, expected = _allocate_equally(items, population, generator)
    else:
        drawn = np.minimum(population, per_stratum) if per_stratum is not None else population
        expected = drawn.astype(np.float64)

    chosen = np.concatenate(
        [
            generator.choice(rows, size=size, replace=False)
            for rows, size in zip(groups.values(), drawn, strict=True)
        ]
    )
    probability = expected / population
    of_stratum = dict(zip(groups, probability, strict=True))
    ordered["stratum"] = names
    ordered["inclusion_probability"] = names.map(of_stratum).astype(float)
    return Sample(
        items=ordered.loc[np.sort(chosen)].reset_index(drop=True),
        strata=tuple(
            Stratum(name=name, population=int(size), sampled=int(n), inclusion_probability=float(chance))
            for name, size, n, chance in zip(groups, population, drawn, probability, strict=True)
        ),
    )


def _require_possible(
    frame: pd.DataFrame, strata: Sequence[str], items: int | None, per_stratum: int | None
) -> None:
    if unknown := [name for name in strata if name not in STRATA]:
        raise PlanRefused(f"{unknown[0]!r} cannot name strata; choose from {', '.join(STRATA)}")
    if frame.empty:
        raise PlanRefused("there is no complete conversation to draw from; import a run first")
    if items is not None and per_stratum is not None:
        raise PlanRefused("give a number of items in all or a number per stratum, not both")
    if items is not None and not 1 <= items <= len(frame):
        raise PlanRefused(
            f"{items} items cannot be drawn from {len(frame)} conversations; give a number from 1 to {len(frame)}, "
            "or none to take them all"
        )
    if per_stratum is not None and per_stratum < 1:
        raise PlanRefused(f"{per_stratum} items per stratum cannot be drawn; give 1 or more")


def _name_strata(frame: pd.DataFrame, strata: Sequence[str]) -> pd.Series:
    if not strata:
        return pd.Series("all", index=frame.index)
    columns = [
        frame[name].map(lambda value: _UNKNOWN if pd.isna(value) or value == "" else str(value))
        for name in strata
    ]
    return pd.Series([" | ".join(values) for values in zip(*columns, strict=True)], index=frame.index)


def _allocate_equally(
    items: int, population: NDArray[np.int64], generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many each stratum gives, and how many it was expected to give before the remainder was dealt out."""
    level = 0
    while np.minimum(population, level + 1).sum() <= items and level < population.max():
        level += 1
    drawn = np.minimum(population, level)
    remainder = items - int(drawn.sum())
    open_strata = np.flatnonzero(population > level)
    expected = drawn.astype(np.float64)
    if remainder:
        expected[open_strata] += remainder / len(open_strata)
        drawn[generator.choice(open_strata, size=remainder, replace=False)] += 1
    return drawn, expected
