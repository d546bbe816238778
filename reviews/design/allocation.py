"""How many conversations each stratum gives: shares in proportion to weights, with the chances that follow from them."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray

OWN_FAMILY = ("self", "sibling")
"""The kinships that are of the judge's own family."""
LEAST_OF_EACH = 2
"""Items of every stratum where a pilot decides about the others: what it saw little of may still surprise."""
_FINEST_WEIGHT = 1000


def stratum_weights(
    strata: pd.DataFrame, *, own_family: float = 1.0, balance_verdicts: bool = False
) -> list[Fraction]:
    """The share that each stratum should have, beside the others.

    Args:
        strata: one row a stratum, with its `kinship`, `verdict` and `metric` where they are asked for below.
        own_family: how many times the share of other families a stratum of the judge's own family has.
        balance_verdicts: each metric has as much of each verdict of the judge, in however many strata it lies.
    """
    weights = [Fraction(1)] * len(strata)
    if own_family != 1:
        factor = Fraction(own_family).limit_denominator(_FINEST_WEIGHT)
        weights = [factor if kinship in OWN_FAMILY else Fraction(1) for kinship in strata["kinship"]]
    if balance_verdicts:
        cells = list(zip(strata["metric"], strata["verdict"], strict=True))
        sums = {
            cell: sum((w for w, own in zip(weights, cells, strict=True) if own == cell), Fraction(0))
            for cell in cells
        }
        weights = [weight / sums[cell] for weight, cell in zip(weights, cells, strict=True)]
    return weights


def allocate_by_spread(
    items: int,
    population: Sequence[int],
    weights: Sequence[Fraction],
    spread: Sequence[float],
    generator: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """As `allocate`, in proportion to size times spread (Neyman), after `LEAST_OF_EACH` of every stratum.

    Args:
        weights: what each stratum's share is multiplied by besides.
        spread: the standard deviation of what is to be estimated, above 0.
    """
    first = np.minimum(population, LEAST_OF_EACH)
    rest = [size - int(taken) for size, taken in zip(population, first, strict=True)]
    shares = [
        weight
        * size
        * max(Fraction(deviation).limit_denominator(_FINEST_WEIGHT), Fraction(1, _FINEST_WEIGHT))
        for weight, size, deviation in zip(weights, population, spread, strict=True)
    ]
    drawn, expected = allocate(items - int(first.sum()), rest, shares, generator)
    return first + drawn, first + expected


def allocate(
    items: int,
    population: Sequence[int],
    weights: Sequence[Fraction],
    generator: np.random.Generator,
    *,
    groups: Sequence[object] = (),
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many each stratum gives, and how many it was expected to give before the fractions were dealt out by lot.

    A stratum too small for its share gives all it has, and what it leaves goes to the others in proportion.

    Args:
        groups: of the strata; the lots are dealt so that a group as a whole gets what it was expected to, or the next
            whole number below or above.
    """
    level = _level(items, population, weights)
    expected = [min(Fraction(size), level * weight) for size, weight in zip(population, weights, strict=True)]
    drawn = np.array([int(share) for share in expected])
    rest = [share - int(share) for share in expected]
    order = generator.permutation(len(rest)).tolist()
    if groups:
        place = {group: number for number, group in enumerate(dict.fromkeys(groups[one] for one in order))}
        order.sort(key=lambda one: place[groups[one]])
    start = Fraction(float(generator.random()))
    passed = Fraction(0)
    for stratum in order:
        before, passed = passed, passed + rest[stratum]
        # Systematic sampling: a stratum gets one more exactly as often as its fraction says, and the sum is exact.
        if int(passed + start) > int(before + start):
            drawn[stratum] += 1
    return drawn, np.array([float(share) for share in expected])


def _level(items: int, population: Sequence[int], weights: Sequence[Fraction]) -> Fraction:
    """The share of weight 1 at which all strata together give `items`."""
    left, weight_left = Fraction(items), sum(weights, Fraction(0))
    for size, weight in sorted(
        zip(population, weights, strict=True), key=lambda stratum: stratum[0] / stratum[1]
    ):
        if left / weight_left * weight <= size:
            return left / weight_left
        left -= size
        weight_left -= weight
    return max((Fraction(size) / weight for size, weight in zip(population, weights, strict=True)))
