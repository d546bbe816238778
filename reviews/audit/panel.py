"""Several judges: which to choose, and whether the order of models depends on the judge or on any other choice.

A judge is chosen by how near it comes to what experts find defensible, not by how often it meets their majority.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reviews.audit.indeterminacy import indeterminacy
from reviews.audit.items import ITEM, Judge, floats, judged_items, judges_of, without_replaced
from reviews.evidence import SEED, StudyTables
from validation.agreement import cohen_kappa
from validation.judge_accuracy import judge_accuracy
from validation.mapping import PRIMARY, Policy
from validation.ratings import Ratings
from validation.results import Estimate
from validation.stability import Stability, expected_discordance, stability

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice:
    """One judge among several, on the items that all of them and the experts rated."""

    judge: Judge
    runs: int
    mse: Estimate
    """Mean squared difference from the shares of experts who could defend each verdict: 0 is best; chooses."""
    accuracy: Estimate
    """Agreement with the majority of the experts: shown, and not what chooses."""
    kappa: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelOfJudges:
    """The judges of a study beside each other."""

    choices: tuple[JudgeChoice, ...]
    """The judge to choose first."""
    between: Mapping[tuple[str, str], Estimate]
    """Cohen's kappa of each pair of judges over all that both judged."""
    orders: Mapping[str, Stability | None]
    """Polarity -> how the first judge's order of models holds under every other choice."""
    chosen_differs: bool
    """Whether the judge with the highest accuracy is another than the one to choose."""


def compare_judges(
    tables: StudyTables, policy: Policy = PRIMARY, *, contested: Collection[int] = ()
) -> PanelOfJudges:
    """Compare the judges of a study.

    Args:
        tables: the study.
        policy: how labels become verdicts.
        contested: metric versions that are left out in one row of the comparison of orders.
    """
    judges = judges_of(tables)
    items = {judge.judge_id: judged_items(tables, judge, policy) for judge in judges}
    shared = _shared(list(items.values()))
    found = {one.judge.judge_id: one for one in indeterminacy(_only(tables, shared)).judges} if judges else {}
    choices = []
    for judge in judges:
        own = items[judge.judge_id].set_index(ITEM).reindex(pd.MultiIndex.from_frame(shared))
        accuracy = judge_accuracy(
            own["reference"].to_numpy(dtype=np.float64),
            own["judge"].to_numpy(dtype=np.float64),
            clusters=shared["metric_version_id"].to_numpy(),
            policy=policy.name,
            seed=SEED,
        )
        choices.append(
            JudgeChoice(
                judge=judge,
                runs=found[judge.judge_id].runs,
                mse=found[judge.judge_id].mse,
                accuracy=accuracy.accuracy,
                kappa=accuracy.kappa,
            )
        )
    choices.sort(key=lambda one: (one.mse.value is None, one.mse.value or 0.0))
    best = max(choices, key=lambda one: one.accuracy.value or 0.0, default=None)
    return PanelOfJudges(
        choices=tuple(choices),
        between=_between(tables, judges),
        orders=orders(tables, judges[0], policy, contested=contested) if judges else {},
        chosen_differs=bool(best and best.judge != choices[0].judge),
    )


def _shared(items: list[pd.DataFrame]) -> pd.DataFrame:
    """The items that experts and every judge gave a verdict on: conversation_id, metric_version_id."""
    if not items:
        return pd.DataFrame(columns=ITEM)
    there = [own.loc[own["reference"].notna() & own["judge"].notna(), ITEM] for own in items]
    shared = there[0]
    for other in there[1:]:
        shared = shared.merge(other, on=ITEM)
    return shared.reset_index(drop=True)


def _only(tables: StudyTables, shared: pd.DataFrame) -> StudyTables:
    """The study with the assignments of some items; where these are all, the study itself, of which much is known."""
    kept = tables.assignments.merge(shared, on=ITEM)
    return tables if len(kept) == len(tables.assignments) else replace(tables, assignments=kept)


def _between(tables: StudyTables, judges: list[Judge]) -> dict[tuple[str, str], Estimate]:
    first = without_replaced(tables).judgments
    first = first[(first["repeat"] == 0) & first["passed"].notna()]
    long = pd.DataFrame(
        {
            "unit": list(zip(first["conversation_id"], first["metric_version_id"], strict=True)),
            "rater": first["judge_id"],
            "value": np.where(first["passed"].astype(bool), "pass", "fail"),
            "metric": first["metric_version_id"],
        }
    ).astype({"unit": object, "value": object})
    ratings = Ratings.from_frame(long, categories=("fail", "pass"), cluster="metric")
    return {
        (one.name, other.name): cohen_kappa(ratings, one.judge_id, other.judge_id)
        for place, one in enumerate(judges)
        for other in judges[place + 1 :]
        if {one.judge_id, other.judge_id} <= set(ratings.raters)
    }


def orders(
    tables: StudyTables, judge: Judge, policy: Policy = PRIMARY, *, contested: Collection[int] = ()
) -> dict[str, Stability | None]:
    """How the order of models by a judge's rates (metrics weighing alike) holds under every other choice, by polarity:
    other judges, other runs, experts' corrections, contested metrics left out, one age, one benchmark left out.
    """
    items = judged_items(tables, judge, policy)
    polarities = sorted(items["polarity"].dropna().map(str).unique())
    return {name: _order(tables, judge, items, name, frozenset(contested)) for name in polarities}


def _order(
    tables: StudyTables, judge: Judge, items: pd.DataFrame, polarity: str, contested: frozenset[int]
) -> Stability | None:
    own = items[(items["polarity"].map(str) == polarity) & items["judge"].notna()]
    primary = _rates(own, own["judge"])
    models = [str(name) for name in primary.index]
    other: dict[str, pd.Series] = {}
    for run, verdicts in _other_verdicts(tables, judge).items():
        other[run] = _rates(own, own.merge(verdicts, on=ITEM, how="left")["other"].set_axis(own.index))
    other["corrected by the experts’ labels"] = _corrected(own)
    if contested and not own["metric_version_id"].isin(contested).all():
        kept = own[~own["metric_version_id"].isin(contested)]
        other["contested metrics left out"] = _rates(kept, kept["judge"])
    other["every conversation weighs alike"] = own.groupby("model")["judge"].mean()
    for column, word in (("age", "only"), ("benchmark", "without")):
        names = own[column].dropna().map(str)
        if names.nunique() < 2:
            continue
        for name in sorted(names.unique()):
            part = own[(names.reindex(own.index) == name) == (word == "only")]
            other[f"{word} {name}"] = _rates(part, part["judge"])
    complete = {
        name: rates.reindex(primary.index).to_numpy(dtype=np.float64)
        for name, rates in other.items()
        if rates.reindex(primary.index).notna().all()
    }
    return stability(primary.to_numpy(dtype=np.float64), names=models, perturbations=complete)


def _rates(items: pd.DataFrame, verdicts: pd.Series) -> pd.Series:
    """Model -> mean over metrics of its pass rate."""
    cells = verdicts.groupby([items["model"], items["metric_version_id"]]).mean()
    return cells.groupby(level=0).mean()


def _corrected(items: pd.DataFrame) -> pd.Series:
    keys = [items["model"], items["metric_version_id"]]
    cells = items["judge"].groupby(keys).mean() + (items["reference"] - items["judge"]).groupby(keys).mean()
    return cells.dropna().groupby(level=0).mean()


def _other_verdicts(tables: StudyTables, judge: Judge) -> dict[str, pd.DataFrame]:
    """Every other judge's first run and this judge's other runs: conversation_id, metric_version_id, other."""
    rows = without_replaced(tables).judgments
    found: dict[str, pd.DataFrame] = {}
    for one in judges_of(tables):
        own = rows[rows["judge_id"] == one.judge_id]
        runs = own["repeat"].unique() if one == judge else [0]
        for run in sorted(int(run) for run in runs):
            if one == judge and run == 0:
                continue
            said = own[own["repeat"] == run]
            name = f"run {run + 1} of the judge" if one == judge else f"judge {one.name}"
            found[name] = said[ITEM].assign(other=floats(said["passed"]))
    return found


__all__ = ["JudgeChoice", "PanelOfJudges", "compare_judges", "expected_discordance", "orders"]
