"""Whether a judge favours its own family, at three levels, with what could have been seen at all."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reviews.audit.items import ITEM, Judge, judged_items, judges_of, without_replaced
from reviews.evidence import SEED, StudyTables
from validation.family_permutation import FamilyPermutation, family_permutation
from validation.family_regression import FamilyRegression, family_regression
from validation.mapping import PRIMARY, Policy
from validation.panel_judges import PanelPreference, panel_preference
from validation.self_preference import Comparison, Kinship, role_overlap, self_preference

LEVELS = {"self": "The same model", "sibling": "Its siblings", "family": "The whole family"}
"""The levels of kinship, each against models of other families."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFamily:
    """A judge on its own family and on others."""

    judge: Judge
    policy: str
    levels: Mapping[str, Comparison]
    """`self`, `sibling` and `family`, each against the others."""
    by_polarity: Mapping[str, Mapping[str, Comparison]]
    """Polarity -> the same; empty where there is one polarity."""
    permutation: FamilyPermutation
    """p for these models, and p for the family: few models can say little about a family."""
    regression: Mapping[str, FamilyRegression]
    """Given the experts' verdict, length and age."""
    family_unknown: int
    """Items left out because the family of their model is not on record."""

    @property
    def sentence(self) -> str:
        """The verdict on the family in the fixed words, with the level of the claim."""
        whole = self.levels["family"]
        if whole.verdict != "detected" or self.permutation.p_family is None:
            return whole.sentence
        if self.permutation.p_family < 0.05:
            return whole.sentence
        shown = f"{whole.sentence}; for these models only: family-level p = {self.permutation.p_family:.2f}"
        return f"{shown}, and so few models could not give less than {self.permutation.smallest_p_family:.2f}"


def own_family(tables: StudyTables, judge: Judge, policy: Policy = PRIMARY) -> OwnFamily:
    """Compare a judge's first run with the experts on its own family and on others."""
    items = judged_items(tables, judge, policy)
    items = items[items["reference"].notna() & items["judge"].notna()]
    known = items[items["kinship"].notna()]
    parts = {str(name).capitalize(): part for name, part in known.groupby(known["polarity"].map(str))}
    return OwnFamily(
        judge=judge,
        policy=policy.name,
        levels=_compare(known),
        by_polarity={name: _compare(part) for name, part in parts.items()} if len(parts) > 1 else {},
        permutation=_permutation(known),
        regression=_regression(known),
        family_unknown=len(items) - len(known),
    )


def _compare(items: pd.DataFrame) -> dict[str, Comparison]:
    return self_preference(
        judge=items["judge"].to_numpy(),
        human=items["reference"].to_numpy(),
        kinship=[str(one) for one in items["kinship"]],
        metric=items["metric_version_id"].tolist(),
    )


def _permutation(items: pd.DataFrame) -> FamilyPermutation:
    leniency = items.assign(leniency=items["judge"] - items["reference"]).pivot_table(
        index="metric_version_id", columns="model", values="leniency", aggfunc="mean", dropna=False
    )
    kin = items.drop_duplicates("model").set_index("model")["kinship"]
    own = np.array([kin[model] != Kinship.OTHER for model in leniency.columns], dtype=np.bool_)
    return family_permutation(leniency.to_numpy(dtype=np.float64), own=own, seed=SEED)


def _regression(items: pd.DataFrame) -> dict[str, FamilyRegression]:
    covariates = {"turns": items["n_turns"].astype(float).to_numpy()}
    ages = items["age"].map(str)
    if ages.nunique() > 1:
        covariates["age"] = (ages == "teen").astype(float).to_numpy()
    return family_regression(
        judge=items["judge"].to_numpy(),
        human=items["reference"].to_numpy(),
        kinship=[str(one) for one in items["kinship"]],
        metric=items["metric_version_id"].map(str).tolist(),
        covariates={name: column for name, column in covariates.items() if np.ptp(column) > 0}
        if len(items)
        else {},
    )


def panel(tables: StudyTables) -> PanelPreference | None:
    """What several judges of the same conversations say of each other's preference; None with fewer than two.

    A judge whose family is none of the targets' is neutral; one whose family is not on record could be anybody's, and is left
    out. Experts do not enter: this needs no label.
    """
    judges = [judge for judge in judges_of(tables) if judge.family not in ("", "unknown")]
    if len(judges) < 2:
        return None
    study = without_replaced(tables)
    first = study.judgments[
        (study.judgments["repeat"] == 0)
        & study.judgments["judge_id"].isin([judge.judge_id for judge in judges])
    ]
    scores = first.pivot(index=ITEM, columns="judge_id", values="passed").astype("Float64")
    items = scores.index.to_frame(index=False).merge(
        study.conversations[["conversation_id", "family"]], on="conversation_id", how="left"
    )
    by_id = {judge.judge_id: judge.name for judge in judges}
    families: dict[Hashable, Hashable | None] = {judge.name: judge.family for judge in judges}
    return panel_preference(
        scores.to_numpy(dtype=np.float64, na_value=np.nan),
        judges=[by_id[int(str(key))] for key in scores.columns],
        judge_families=families,
        families=items["family"].tolist(),
        clusters=items["metric_version_id"].tolist(),
    )


def roles_and_families(tables: StudyTables) -> pd.DataFrame:
    """Which family plays which role: rows judge and target, columns families."""
    targets = sorted(set(tables.conversations["family"].dropna()) - {""})
    return role_overlap({"judge": [one.family for one in judges_of(tables) if one.family], "target": targets})
