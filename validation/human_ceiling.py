"""Judge and rater measured against the same references: the majority of the other raters.

A judge against the majority of all raters must not be compared with raters against each other: the references differ.
Here each rater is taken out in turn, and judge and rater answer to the rest.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.item_sums import ItemSums, coefficients_of
from validation.rater_tables import alpha_by_rater, alpha_of_all
from validation.ratings import MISSING, Ratings
from validation.ratios import ratio
from validation.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling:
    """A judge beside a rater, like for like."""

    human: Estimate
    """Share of ratings that match the majority of the other raters; every rater counts alike."""
    judge: Estimate
    """Share of the judge's verdicts that match it, on the same pairs of item and left-out rater."""
    difference: Estimate
    """Judge minus human: above 0, the judge is closer to the others than a rater is."""
    non_inferior: bool | None
    """Whether the whole interval of the difference lies above minus the margin; None without an interval."""
    margin: float
    """The margin set beforehand."""
    human_kappa: Estimate
    """Cohen's kappa of rater and majority of the others."""
    judge_kappa: Estimate
    """Cohen's kappa of judge and majority of the others."""
    human_alpha: Estimate
    """Nominal alpha of the raters."""
    judge_alpha: Estimate
    """Nominal alpha with the judge in one rater's place, the mean over raters: the label-level twin."""
    tied: int
    """Pairs left out because the others have no majority."""


def human_ceiling(ratings: Ratings, *, judge: NDArray[np.int64], margin: float = 0.05) -> HumanCeiling:
    """Compare judge and raters against the majority of the other raters (more than half of them; ties are left out).

    Map labels to the judge's categories first. Intervals are over clusters where the ratings have them, else over items:
    the pairs of one item share its labels.

    Args:
        ratings: the raters, in the judge's categories.
        judge: (units,) the judge's category codes, `MISSING` where it gave none.
        margin: how much worse the judge may be and still be called as good.
    """
    if len(judge) != len(ratings.units):
        raise ValueError(f"{len(judge)} verdicts of the judge do not go with {len(ratings.units)} units")
    if margin < 0:
        raise ValueError(f"margin={margin!r} is below 0")
    machine_said = np.asarray(judge)
    eligible = (ratings.codes != MISSING) & ((ratings.ratings_per_unit >= 2) & (machine_said != MISSING))[
        :, None
    ]
    unit, rater = np.nonzero(eligible)
    human = ratings.codes[unit, rater]
    others = ratings.counts[unit]
    others[np.arange(len(unit)), human] -= 1
    compared = 2 * others.max(axis=1, initial=0) > others.sum(axis=1)
    tied = int((~compared).sum())
    unit, rater, human, others = unit[compared], rater[compared], human[compared], others[compared]
    wanted = others.argmax(axis=1) if others.shape[1] else human
    machine, n_raters = machine_said[unit], ratings.codes.shape[1]
    clusters = unit if ratings.clusters is None else ratings.clusters[unit]
    weights = 1 / np.bincount(rater, minlength=n_raters)[rater]
    right, machine_right = (human == wanted).astype(np.float64), (machine == wanted).astype(np.float64)
    difference = ratio(weights * (machine_right - right), weights, clusters=clusters, bounds=(-1.0, 1.0))
    both = machine_said != MISSING
    counts, codes = ratings.counts[both], ratings.codes[both]
    return HumanCeiling(
        human=ratio(weights * right, weights, clusters=clusters),
        judge=ratio(weights * machine_right, weights, clusters=clusters),
        difference=difference,
        non_inferior=None if difference.low is None else difference.low > -margin,
        margin=margin,
        human_kappa=_kappa(human, wanted, len(ratings.categories)),
        judge_kappa=_kappa(machine, wanted, len(ratings.categories)),
        human_alpha=_alpha(alpha_of_all(counts)),
        judge_alpha=_alpha(alpha_by_rater(counts, codes, instead=machine_said[both])),
        tied=tied,
    )


def _kappa(first: NDArray[np.int64], second: NDArray[np.int64], kinds: int) -> Estimate:
    n = len(first)
    if n == 0:
        return Estimate.undefined("no_pairable_items", n=0)
    table = np.zeros((kinds, kinds))
    np.add.at(table, (first, second), 1 / n)
    expected = float(table.sum(axis=0) @ table.sum(axis=1))
    if expected > 1 - 1e-12:
        return Estimate.undefined("no_variation", n=n)
    return Estimate(
        value=float((np.trace(table) - expected) / (1 - expected)), n=n, notes=("a comparison: no interval",)
    )


def _alpha(sums: ItemSums) -> Estimate:
    """The mean over the tables."""
    if not sums.times.size:
        return Estimate.undefined("no_pairable_items", n=0)
    alphas, n = coefficients_of(sums), int(sums.n_items.max())
    if np.isnan(alphas).any():
        return Estimate.undefined("no_variation" if n else "no_pairable_items", n=n)
    return Estimate(value=float(alphas.mean()), n=n, notes=("a comparison: no interval",))
