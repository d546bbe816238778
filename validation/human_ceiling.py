"""Judge and rater measured against the same references: the majority of the other raters.

A judge against the majority of all raters must not be compared with raters against each other: the references differ.
Here each rater is taken out in turn, and judge and rater answer to the rest.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.item_sums import alpha_sums, coefficients_of
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
    kinds = np.arange(len(ratings.categories))
    given = ratings.codes != MISSING
    said = (ratings.codes[:, :, None] == kinds).astype(np.int64)
    others = ratings.counts[:, None, :] - said
    most = others.max(axis=2, initial=0)
    reference = np.where(
        2 * most > others.sum(axis=2), others.argmax(axis=2) if len(kinds) else MISSING, MISSING
    )
    eligible = given & (ratings.ratings_per_unit >= 2)[:, None] & (judge != MISSING)[:, None]
    compared = eligible & (reference != MISSING)
    unit, rater = np.nonzero(compared)
    wanted = reference[unit, rater]
    human, machine = ratings.codes[unit, rater], np.asarray(judge)[unit]
    clusters = unit if ratings.clusters is None else ratings.clusters[unit]
    weights = 1 / np.bincount(rater, minlength=given.shape[1])[rater]
    right, machine_right = (human == wanted).astype(np.float64), (machine == wanted).astype(np.float64)
    difference = ratio(weights * (machine_right - right), weights, clusters=clusters, bounds=(-1.0, 1.0))
    return HumanCeiling(
        human=ratio(weights * right, weights, clusters=clusters),
        judge=ratio(weights * machine_right, weights, clusters=clusters),
        difference=difference,
        non_inferior=None if difference.low is None else difference.low > -margin,
        margin=margin,
        human_kappa=_kappa(human, wanted, len(kinds)),
        judge_kappa=_kappa(machine, wanted, len(kinds)),
        human_alpha=_alpha(ratings.counts[judge != MISSING][None]),
        judge_alpha=_alpha(_with_judge(ratings, said, np.asarray(judge))),
        tied=int(eligible.sum() - compared.sum()),
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


def _with_judge(ratings: Ratings, said: NDArray[np.int64], judge: NDArray[np.int64]) -> NDArray[np.int64]:
    """(raters, items, categories): the counts with the judge in the place of each rater in turn."""
    kept = judge != MISSING
    verdict = (judge[kept, None] == np.arange(len(ratings.categories))).astype(np.int64)
    mine = said[kept].transpose(1, 0, 2)
    given = (ratings.codes[kept] != MISSING).T[:, :, None]
    return np.asarray(ratings.counts[kept][None] - mine + given * verdict[None], dtype=np.int64)


def _alpha(counts: NDArray[np.int64]) -> Estimate:
    if not counts.size:
        return Estimate.undefined("no_pairable_items", n=0)
    sums = alpha_sums(counts, level="nominal")
    alphas, n = coefficients_of(sums), int(sums.n_items.max())
    if np.isnan(alphas).any():
        return Estimate.undefined("no_variation" if n else "no_pairable_items", n=n)
    return Estimate(value=float(alphas.mean()), n=n, notes=("a comparison: no interval",))
