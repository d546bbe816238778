"""Which conversations go before experts: a stratified sample whose inclusion probabilities are known.

Everything follows from the stable keys of the conversations (run and key) and the seed: neither row numbers nor the
order in which the rows come change what is drawn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reviews.assignment import PlanRefused
from reviews.design.allocation import (
    LEAST_OF_EACH,
    OWN_FAMILY,
    allocate,
    allocate_by_spread,
    stratum_weights,
)

KEY = ["run", "conversation"]
OF_THE_JUDGE = ("kinship", "verdict")
STRATA = (
    "benchmark",
    "metric",
    "polarity",
    "family",
    "model",
    "age",
    "base_scenario",
    "run",
    *OF_THE_JUDGE,
)
"""The columns that may name strata; the last two compare a conversation with the judge."""
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
    own_family: float = 1.0,
    balance_verdicts: bool = False,
    spread: Mapping[str, float] | None = None,
) -> Sample:
    """Draw conversations at random within strata, as many from each as can be.

    Args:
        frame: the conversations that may be drawn, with the columns `run`, `conversation` and those of `strata`.
        strata: the columns whose combinations are the strata.
        seed: of the generator; the same seed and conversations give the same sample.
        items: how many to draw in all, allocated equally: a stratum that is too small gives all it has, what cannot be
            divided goes to strata at random, so with fewer items than strata some have none.
        per_stratum: how many to draw from each stratum; a smaller stratum gives all it has.
        own_family: how many times the share of other families the models of the judge's own family have in `items`.
        balance_verdicts: whether each metric gives as many items that the judge passes as that it fails.
        spread: stratum -> how much what is to be estimated varies in it, by which `items` are allocated then.

    With neither number, every conversation is taken, with probability 1.

    Raises:
        PlanRefused: a number or a stratum that cannot be, or an empty frame.
    """
    strata = complete_strata(strata, own_family=own_family, balance_verdicts=balance_verdicts)
    _require_possible(frame, strata, items, per_stratum)
    _require_sense(items, own_family=own_family, balance_verdicts=balance_verdicts)
    _require_one_aim(items, balance_verdicts=balance_verdicts, spread=spread)
    generator = np.random.default_rng(seed)
    ordered = frame.sort_values(KEY).reset_index(drop=True)
    names = name_strata(ordered, strata)
    groups = {str(name): rows.to_numpy() for name, rows in names.groupby(names).groups.items()}
    population = np.array([len(rows) for rows in groups.values()])

    if items is not None:
        first_rows = ordered.iloc[[rows[0] for rows in groups.values()]]
        weights = stratum_weights(first_rows, own_family=own_family, balance_verdicts=balance_verdicts)
        if spread is not None:
            _require_room(items, population.tolist())
            deviations = [spread[name] for name in groups]
            drawn, expected = allocate_by_spread(items, population.tolist(), weights, deviations, generator)
        else:
            drawn, expected = allocate(
                items,
                population.tolist(),
                weights,
                generator,
                groups=list(zip(first_rows["metric"], first_rows["verdict"], strict=True))
                if balance_verdicts
                else (),
            )
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


def complete_strata(
    strata: Sequence[str], *, own_family: float = 1.0, balance_verdicts: bool = False
) -> list[str]:
    """The columns of the strata, with those that oversampling and balancing need."""
    needed = ["kinship"] * (own_family != 1) + ["metric", "verdict"] * balance_verdicts
    return [*strata, *(name for name in needed if name not in strata)]


def _require_sense(items: int | None, *, own_family: float, balance_verdicts: bool) -> None:
    if not 0 < own_family < float("inf"):
        raise PlanRefused(f"own-family share {own_family:g} is no multiple; give a number above 0, such as 2")
    if items is None and (own_family != 1 or balance_verdicts):
        asked = "balanced verdicts" if balance_verdicts else f"{OWN_FAMILY[0]} and {OWN_FAMILY[1]} models"
        raise PlanRefused(
            f"to draw {asked} more often there must be a number of items to draw in all; give it with --items"
        )


def _require_one_aim(
    items: int | None, *, balance_verdicts: bool, spread: Mapping[str, float] | None
) -> None:
    if spread is not None and items is None:
        raise PlanRefused("a pilot decides how items are shared out; say how many there are with --items")
    if spread is not None and balance_verdicts:
        raise PlanRefused(
            "items cannot be shared out both by a pilot and evenly over the judge's verdicts; leave one of them out"
        )


def _require_room(items: int, population: Sequence[int]) -> None:
    least = sum(min(size, LEAST_OF_EACH) for size in population)
    if items < least:
        raise PlanRefused(
            f"{items} items are too few for {LEAST_OF_EACH} of each of {len(population)} strata; give {least} or more, or "
            "fewer strata"
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


def name_strata(frame: pd.DataFrame, strata: Sequence[str]) -> pd.Series:
    """The stratum of every row: the values of the columns, joined."""
    if not strata:
        return pd.Series("all", index=frame.index)
    columns = [
        frame[name].map(lambda value: _UNKNOWN if pd.isna(value) or value == "" else str(value))
        for name in strata
    ]
    return pd.Series([" | ".join(values) for values in zip(*columns, strict=True)], index=frame.index)
