"""How far experts agree in each group of items, and what a low coefficient does and does not mean."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.domain import LabelVerdict
from reviews.audit.groups import Group, Kind, core_by_metric, groups, of_group
from reviews.evidence import SCALE, StudyTables
from validation.agreement import (
    brennan_prediger,
    cohen_kappas,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    krippendorff_alphas,
    percent_agreement,
    specific_agreement,
)
from validation.mapping import Borderline
from validation.ratings import MISSING, Ratings
from validation.results import Estimate

Coefficient = Callable[[Ratings], Estimate]
Coefficients = Callable[[Sequence[Ratings]], Sequence[Estimate]]
COEFFICIENTS: Mapping[str, Coefficient] = {
    "alpha_ordinal": partial(krippendorff_alpha, level="ordinal"),
    "alpha_nominal": partial(krippendorff_alpha, level="nominal"),
    "alpha_borderline_passes": lambda ratings: krippendorff_alpha(binary(ratings, "pass"), level="nominal"),
    "alpha_borderline_fails": lambda ratings: krippendorff_alpha(binary(ratings, "fail"), level="nominal"),
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac1,
    "bp": brennan_prediger,
    "agreement": percent_agreement,
}
"""The coefficients of an agreement page by name."""
_LEVELS: Mapping[str, Literal["nominal", "ordinal"]] = {
    "alpha_ordinal": "ordinal",
    "alpha_nominal": "nominal",
}
LOPSIDED = 0.5
"""From this prevalence index on, a low alpha beside a high AC1 says little about the raters."""
LOW, HIGH = 0.667, 0.667
_SCORES = {LabelVerdict.FAIL: 0.0, LabelVerdict.BORDERLINE: 0.5, LabelVerdict.PASS: 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """One coefficient in one group."""

    group: Group
    estimate: Estimate
    n_items: int
    """Items with a label."""
    n_pairable: int
    """Items with two labels or more."""
    n_ratings: int


Remember = Callable[[str, Sequence[Ratings], Coefficients], Sequence[Estimate]]
"""Gives for each table what was computed for these ratings before, or computes it."""


def anew(_name: str, tables: Sequence[Ratings], compute: Coefficients) -> Sequence[Estimate]:
    return compute(tables)


def agreement_by_group(
    tables: StudyTables,
    coefficient: str = "alpha_ordinal",
    *,
    kinds: Sequence[Kind] = tuple(Kind),
    remember: Remember = anew,
) -> list[GroupAgreement]:
    """One coefficient in every group of the random core.

    Args:
        tables: the study.
        coefficient: a name of `COEFFICIENTS`.
        kinds: of the groups.
        remember: keeps what was computed for the same ratings before.
    """
    named, rated = _rated(tables, tuple(kinds))
    return [
        GroupAgreement(
            group=group,
            estimate=estimate,
            n_items=len(own.units),
            n_pairable=int(own.pairable.sum()),
            n_ratings=own.n_ratings,
        )
        for group, own, estimate in zip(
            named, rated, remember(coefficient, rated, partial(_each, coefficient)), strict=True
        )
    ]


def _rated(tables: StudyTables, kinds: tuple[Kind, ...]) -> tuple[list[Group], list[Ratings]]:
    """The groups and the ratings of each, which are the same for every coefficient."""
    key = ("rated", kinds)
    if key not in tables.made:
        ratings, single = tables.core_ratings, core_by_metric(tables)
        nothing = of_group(ratings, Group(kind=Kind.METRIC, name="", versions=frozenset()))
        named = groups(tables, kinds)
        tables.made[key] = (
            named,
            [
                of_group(ratings, group) if group.pooled else single.get(next(iter(group.versions)), nothing)
                for group in named
            ],
        )
    found: tuple[list[Group], list[Ratings]] = tables.made[key]
    return found


def _each(coefficient: str, tables: Sequence[Ratings]) -> Sequence[Estimate]:
    """One coefficient of many tables: alpha of all of them in one piece."""
    if coefficient in _LEVELS:
        return krippendorff_alphas(tables, level=_LEVELS[coefficient])
    return [COEFFICIENTS[coefficient](ratings) for ratings in tables]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParadoxPanel:
    """All coefficients of one group side by side, with what drives them apart; none is picked for being the highest."""

    group: Group
    coefficients: Mapping[str, Estimate]
    """By the names of `COEFFICIENTS`."""
    specific: Mapping[Hashable, Estimate]
    """For each verdict: where one expert gave it, how often did another."""
    shares: Mapping[str, float]
    """The share of each verdict among all labels; empty without labels."""
    prevalence_index: Estimate
    """|share of passes - share of fails|, borderline half to each: 0 balanced, 1 all alike."""
    sentence: str
    """What follows, in words."""


def paradox_panel(tables: StudyTables, group: Group) -> ParadoxPanel:
    """The coefficients of a group beside raw and specific agreement and the prevalence of the verdicts."""
    ratings = of_group(tables.core_ratings, group)
    found = {name: compute(ratings) for name, compute in COEFFICIENTS.items()}
    total = int(ratings.counts.sum())
    counts = ratings.counts.sum(axis=0)
    shares = dict(zip(SCALE, (counts / total).tolist(), strict=True)) if total else {}
    index = Estimate.undefined("no_ratings", n=0)
    if total:
        mean = sum(_SCORES[LabelVerdict(name)] * share for name, share in shares.items())
        index = Estimate(
            value=float(abs(2 * mean - 1)), n=len(ratings.units), n_ratings=total, notes=("no interval",)
        )
    return ParadoxPanel(
        group=group,
        coefficients=found,
        specific=specific_agreement(ratings),
        shares=shares,
        prevalence_index=index,
        sentence=_meaning(found["alpha_ordinal"], found["ac1"], index),
    )


def _meaning(alpha: Estimate, ac1: Estimate, index: Estimate) -> str:
    if alpha.value is None:
        return "Alpha has no value here, so read raw agreement and AC1."
    if alpha.value >= LOW:
        return "Alpha and raw agreement tell the same story."
    if (ac1.value or 0) > HIGH and (index.value or 0) > LOPSIDED:
        return (
            "Limited by prevalence: nearly all verdicts are alike, so a low alpha is no evidence of bad raters, but no"
            " evidence either that they can tell a pass from a fail. Sample more of the rarer verdict."
        )
    return "Experts disagree beyond what the prevalence of the verdicts explains."


def binary(ratings: Ratings, borderline: Borderline) -> Ratings:
    """The labels as pass or fail, with borderline as the one, the other, or left out."""
    order = [ratings.categories.index(name) for name in SCALE]
    becomes = {"pass": 1, "fail": 0, "drop": MISSING, "half": MISSING}[borderline]
    to = np.full(len(ratings.categories) + 1, MISSING, dtype=np.int64)
    to[order] = (0, becomes, 1)
    return Ratings(to[ratings.codes], ("fail", "pass"), ratings.units, ratings.raters, ratings.clusters)


def coincidences(tables: StudyTables, group: Group) -> pd.DataFrame:
    """Pairs of labels of one item, each item weighing by its labels: rows and columns fail, borderline, pass."""
    counts = of_group(tables.core_ratings, group).counts.astype(np.float64)
    paired = counts[counts.sum(axis=1) >= 2]
    weights = 1 / (paired.sum(axis=1) - 1)
    table: NDArray[np.float64] = (paired * weights[:, None]).T @ paired
    table -= np.diag((paired * weights[:, None]).sum(axis=0))
    return pd.DataFrame(table, index=list(SCALE), columns=list(SCALE))


def rater_pairs(tables: StudyTables, group: Group) -> Mapping[tuple[Hashable, Hashable], Estimate]:
    """Cohen's kappa of each pair of raters of a group who share items."""
    pairs = cohen_kappas(of_group(tables.core_ratings, group))
    return {pair: estimate for pair, estimate in pairs.items() if estimate.n}
