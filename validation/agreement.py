"""How far raters agree: shares of agreement, and coefficients that take chance off.

Of all chance-corrected coefficients, 1 is perfect agreement, 0 what chance would give, and below 0 less than that.
Where all ratings fall into one category there is nothing to tell apart: the coefficients whose chance comes from the
observed ratings are undefined there (`no_variation`), those whose chance comes from the declared categories are 1.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Literal

import numpy as np

from validation.intervals import FEW_ITEMS, jackknife_t_log, jackknife_t_logs, wilson_of_ratio
from validation.item_sums import FloatArray, ItemSums, Level, alpha_sums, scale_values
from validation.kappas import (
    FleissForm,
    agreement_sums,
    brennan_prediger_sums,
    cohen_sums,
    conger_sums,
    fleiss_sums,
    gwet_sums,
    specific_sums,
)
from validation.ratings import Ratings
from validation.results import Estimate
from validation.two_raters import bias_index, prevalence_index
from validation.weights import Weights, disagreement_weights

__all__ = [
    "Agreement",
    "bias_index",
    "brennan_prediger",
    "coefficients",
    "cohen_kappa",
    "cohen_kappas",
    "conger_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
    "krippendorff_alphas",
    "percent_agreement",
    "prevalence_index",
    "specific_agreement",
]

CohenWeights = Literal["unweighted", "linear", "quadratic"]

UNRELIABLE = (
    "fewer than 30 items with two ratings: this interval is unreliable; read percent agreement and AC1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """All that an agreement report shows of one table of ratings."""

    agreement: Estimate
    """Percent agreement, the mean over items."""
    agreement_pairs: Estimate
    """Percent agreement over all pairs of ratings."""
    fleiss: Estimate
    """Fleiss' kappa over items with two ratings or more."""
    fleiss_gwet: Estimate
    """Fleiss' kappa in Gwet's form: single-rated items enter chance agreement."""
    conger: Estimate
    """Conger's kappa: Cohen's for more than two raters."""
    alpha_nominal: Estimate
    """Krippendorff's alpha, categories without order."""
    alpha_ordinal: Estimate
    """Krippendorff's alpha, categories in declared order."""
    alpha_interval: Estimate
    """Krippendorff's alpha, categories as numbers (their places where they are words)."""
    ac1: Estimate
    """Gwet's AC1."""
    bp: Estimate
    """Brennan and Prediger's kappa (PABAK where there are two categories)."""
    cohen: Mapping[tuple[Hashable, Hashable], Estimate]
    """Cohen's kappa of each pair of raters."""
    cohen_quadratic: Mapping[tuple[Hashable, Hashable], Estimate]
    """Cohen's kappa of each pair of raters with quadratic weights."""
    n_items: int
    """Items in the table."""
    n_pairable_items: int
    """Items with two ratings or more."""
    n_ratings: int
    """Ratings in the table."""


def coefficients(ratings: Ratings) -> Agreement:
    """Every coefficient of an agreement report; none is picked for being the highest."""
    values = scale_values(ratings.categories)
    return Agreement(
        agreement=percent_agreement(ratings),
        agreement_pairs=percent_agreement(ratings, pair_weighted=True),
        fleiss=fleiss_kappa(ratings),
        fleiss_gwet=fleiss_kappa(ratings, form="gwet"),
        conger=conger_kappa(ratings),
        alpha_nominal=krippendorff_alpha(ratings, level="nominal"),
        alpha_ordinal=krippendorff_alpha(ratings, level="ordinal"),
        alpha_interval=krippendorff_alpha(ratings, level="interval", values=values),
        ac1=gwet_ac1(ratings),
        bp=brennan_prediger(ratings),
        cohen=cohen_kappas(ratings),
        cohen_quadratic=cohen_kappas(ratings, weights="quadratic"),
        n_items=len(ratings.units),
        n_pairable_items=int(ratings.pairable.sum()),
        n_ratings=ratings.n_ratings,
    )


def percent_agreement(ratings: Ratings, *, pair_weighted: bool = False) -> Estimate:
    """The share of agreeing pairs of ratings, with Wilson's interval at its effective n.

    1 where all raters of every item agree, 0 where no two do. The effective n is explained at
    `validation.intervals.wilson_of_ratio`.

    Args:
        ratings: the table.
        pair_weighted: count every pair of ratings alike; by default every item with two ratings counts alike.
    """
    sums = agreement_sums(ratings.counts, pair_weighted=pair_weighted)
    return wilson_of_ratio(sums, clusters=ratings.clusters)


def specific_agreement(ratings: Ratings) -> dict[Hashable, Estimate]:
    """For each declared category: where one rater chose it, how often did another.

    Over pairs of ratings: pairs that agree on the category, of the pairs that hold it at all, each counted from the
    ratings that name it. For two raters and two categories these are positive and negative agreement.

    Source: Cicchetti, D. V., and Feinstein, A. R., Journal of Clinical Epidemiology 1990,
    doi:10.1016/0895-4356(90)90159-M.
    """
    return {
        category: _specific(specific_sums(ratings.counts, category=k), ratings)
        for k, category in enumerate(ratings.categories)
    }


def _specific(sums: ItemSums, ratings: Ratings) -> Estimate:
    estimate = wilson_of_ratio(sums, clusters=ratings.clusters)
    if estimate.undefined_because and ratings.pairable.any():
        return Estimate.undefined("category_not_used", n=int(ratings.pairable.sum()))
    return estimate


def cohen_kappa(
    ratings: Ratings, rater_a: Hashable, rater_b: Hashable, *, weights: CohenWeights = "unweighted"
) -> Estimate:
    """Cohen's kappa of two raters over the items that both rated: 0 where one of them always says the same.

    Raises:
        ValueError: a rater is not in the table, or both are the same.

    Source: Cohen, J., Educational and Psychological Measurement 1960, doi:10.1177/001316446002000104.

    >>> table = [["yes", "yes"]] * 40 + [["yes", "no"]] * 9 + [["no", "yes"]] * 6 + [["no", "no"]] * 45
    >>> kappa = cohen_kappa(Ratings.from_table(table, categories=["yes", "no"]), "r1", "r2")
    >>> round(kappa.value, 4)
    0.6995
    """
    if rater_a == rater_b:
        raise ValueError(f"a rater cannot be compared with itself: {rater_a!r}")
    if not ratings.raters:
        return Estimate.undefined("no_pairable_items", n=0, n_ratings=0)
    for rater in (rater_a, rater_b):
        if rater not in ratings.raters:
            raise ValueError(
                f"there is no rater {rater!r}; the table has {', '.join(map(repr, ratings.raters))}"
            )
    pair = (ratings.raters.index(rater_a), ratings.raters.index(rater_b))
    return _cohen(ratings, [pair], weights)[0]


def cohen_kappas(
    ratings: Ratings, *, weights: CohenWeights = "unweighted"
) -> dict[tuple[Hashable, Hashable], Estimate]:
    """Cohen's kappa of every pair of raters, in the order of the table."""
    pairs = list(combinations(range(len(ratings.raters)), 2))
    names = [(ratings.raters[a], ratings.raters[b]) for a, b in pairs]
    return dict(zip(names, _cohen(ratings, pairs, weights), strict=True))


def _cohen(ratings: Ratings, pairs: Sequence[tuple[int, int]], weights: CohenWeights) -> list[Estimate]:
    if weights not in ("unweighted", "linear", "quadratic"):
        raise ValueError(f"weights must be unweighted, linear or quadratic, not {weights!r}")
    if not pairs:
        return []
    apart = _apart(ratings, "identity" if weights == "unweighted" else weights)
    by_item = jackknife_t_logs(cohen_sums(ratings, pairs, apart=apart))
    if ratings.clusters is None:
        return [_noting_few_items(kappa) for kappa in by_item]
    by_cluster = jackknife_t_logs(cohen_sums(ratings, pairs, apart=apart, clustered=True))
    chosen = [c if (c.n_clusters or 0) >= 2 else i for i, c in zip(by_item, by_cluster, strict=True)]
    return [_noting_few_items(kappa) for kappa in chosen]


def fleiss_kappa(
    ratings: Ratings, *, form: FleissForm = "pairable", weights: Weights = "identity"
) -> Estimate:
    """Fleiss' kappa, for raters who may differ from item to item.

    Args:
        ratings: the table.
        form: which items give the chance agreement. `pairable`: those with two ratings or more, each alike, and the
            others are counted in a note. `gwet`: every rated item alike. `pooled`: every rating alike.
        weights: how far categories are apart.

    Source: Fleiss, J. L., Psychological Bulletin 1971, doi:10.1037/h0031619; Gwet 2014 for unequal raters.
    """
    kappa = _coefficient(fleiss_sums(ratings.counts, apart=_apart(ratings, weights), form=form), ratings)
    left_out = int((ratings.ratings_per_unit == 1).sum())
    if form == "pairable" and left_out and kappa.defined:
        kappa = kappa.noting(f"{left_out} items with a single rating left out")
    return _noting_few_items(kappa)


def conger_kappa(ratings: Ratings, *, weights: Weights = "identity") -> Estimate:
    """Conger's kappa: Cohen's for more than two raters, each with a chance distribution of their own.

    Source: Conger, A. J., Psychological Bulletin 1980, doi:10.1037/0033-2909.88.2.322.
    """
    sums = conger_sums(ratings.codes, apart=_apart(ratings, weights))
    return _noting_few_items(_coefficient(sums, ratings))


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: Level = "nominal",
    unit_weights: Sequence[float] | FloatArray | None = None,
    values: Sequence[float] | None = None,
) -> Estimate:
    """Krippendorff's alpha over the units with two ratings or more; missing ratings need nothing.

    Args:
        ratings: the table.
        level: `ordinal` is Krippendorff's own distance, by the frequencies of the categories in between.
        unit_weights: (units,) weights such as one over the inclusion probability; only their ratios count.
        values: the number of each category for `interval` and `ratio`; by default the categories themselves.

    Raises:
        ValueError: a category is not a number where one is needed, or weights or values do not fit.

    Source: Krippendorff, K., Computing Krippendorff's Alpha-Reliability, 2011.

    >>> table = [[0, 1], [1, 1], [0, 1], [0, 0], [0, 0], [0, 1], [0, 0], [0, 0], [1, 0], [0, 0]]
    >>> round(krippendorff_alpha(Ratings.from_table(table, categories=[0, 1])).value, 3)
    0.095
    """
    numbers = _category_values(ratings, values) if level in ("interval", "ratio") else None
    weights = None if unit_weights is None else _unit_weights(ratings, unit_weights)
    sums = alpha_sums(ratings.counts, level=level, values=numbers, unit_weights=weights)
    return _noting_few_items(_coefficient(sums, ratings))


def krippendorff_alphas(
    tables: Sequence[Ratings], *, level: Literal["nominal", "ordinal"] = "nominal"
) -> list[Estimate]:
    """`krippendorff_alpha` of each of many tables (metrics); those of one size without clusters are computed in one piece."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for place, ratings in enumerate(tables):
        alone = place if ratings.clusters is not None else None
        alike.setdefault((ratings.categories, len(ratings.units), alone), []).append(place)
    found: dict[int, Estimate] = {}
    for members in alike.values():
        sums = alpha_sums(np.stack([tables[place].counts for place in members]), level=level)
        found |= zip(members, jackknife_t_logs(sums.by_cluster(tables[members[0]].clusters)), strict=True)
    return [_noting_few_items(found[place]) for place in range(len(tables))]


def _category_values(ratings: Ratings, values: Sequence[float] | None) -> list[float]:
    if values is None:
        for category in ratings.categories:
            if not isinstance(category, Real):
                raise ValueError(
                    f"the category {category!r} is not a number: give the values of all categories"
                )
        return scale_values(ratings.categories)
    if len(values) != len(ratings.categories) or not np.isfinite(values).all():
        raise ValueError(
            f"{len(ratings.categories)} categories need as many finite values, not {list(values)!r}"
        )
    return list(values)


def _unit_weights(ratings: Ratings, weights: Sequence[float] | FloatArray) -> FloatArray:
    """Weights with mean 1 over the pairable units that count."""
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (len(ratings.units),):
        raise ValueError(f"{len(ratings.units)} units need as many weights, not {given.shape}")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError("unit weights must be finite and not below 0")
    counting = given[ratings.pairable & (given > 0)]
    return given / counting.mean() if len(counting) else given


def gwet_ac1(ratings: Ratings) -> Estimate:
    """Gwet's AC1 over the declared categories; it stays high where one category is rare.

    Source: Gwet, K. L., British Journal of Mathematical and Statistical Psychology 2008,
    doi:10.1348/000711006X126600.
    """
    return gwet_ac2(ratings, weights="identity")


def gwet_ac2(ratings: Ratings, *, weights: Weights = "quadratic") -> Estimate:
    """Gwet's AC2: AC1 with partial agreement of near categories."""
    return _coefficient(gwet_sums(ratings.counts, apart=_apart(ratings, weights)), ratings)


def brennan_prediger(ratings: Ratings, *, weights: Weights = "identity") -> Estimate:
    """Brennan and Prediger's kappa: chance is one over the number of declared categories.

    Source: Brennan, R. L., and Prediger, D. J., Educational and Psychological Measurement 1981,
    doi:10.1177/001316448104100307.
    """
    return _coefficient(brennan_prediger_sums(ratings.counts, apart=_apart(ratings, weights)), ratings)


def _apart(ratings: Ratings, weights: Weights) -> FloatArray:
    return disagreement_weights(len(ratings.categories), weights=weights)


def _coefficient(sums: ItemSums, ratings: Ratings) -> Estimate:
    return jackknife_t_log(sums, clusters=ratings.clusters)


def _noting_few_items(estimate: Estimate) -> Estimate:
    few = estimate.defined and estimate.n < FEW_ITEMS
    return estimate.noting(UNRELIABLE) if few else estimate
