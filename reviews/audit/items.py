"""Every item that a judge rated, with what experts say of it: the table that figures about a judge are made of."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.domain import LabelStatus, LabelVerdict
from reviews.evidence import SCALE, StudyTables, random_core
from reviews.references import reference_verdicts
from validation.mapping import PRIMARY, Policy
from validation.ratings import Ratings
from validation.self_preference import Kinship

ITEM = ["conversation_id", "metric_version_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A judge of a study: a model with a prompt and parameters."""

    judge_id: int
    name: str
    """For people: the model, and a number where it judged with several prompts or parameters."""
    model: str
    family: str


def judges_of(tables: StudyTables) -> list[Judge]:
    """The judges of a study, in the order of their ids."""
    known = tables.judgments.drop_duplicates("judge_id").sort_values("judge_id")
    several = known["judge"].duplicated(keep=False)
    return [
        Judge(judge_id=int(key), name=f"{model} #{key}" if twice else str(model), model=model, family=family)
        for key, model, family, twice in zip(
            known["judge_id"], known["judge"], known["judge_family"], several, strict=True
        )
    ]


def foremost_judge(tables: StudyTables) -> Judge | None:
    """The judge with most verdicts, whose rates the public sees; of equals the first. None where nothing was judged."""
    given = tables.judgments.loc[tables.judgments["repeat"] == 0, "judge_id"].value_counts()
    judges = judges_of(tables)
    return max(judges, key=lambda judge: int(given.get(judge.judge_id, 0)), default=None)


def kinship(model: str, family: str, judge: Judge) -> Kinship | None:
    """How a target is related to a judge; None where a family is not known.

    >>> judge = Judge(judge_id=1, name="a-1", model="a-1", family="a")
    >>> [kinship(*target, judge) for target in (("a-1", "a"), ("a-2", "a"), ("b-1", "b"), ("c-1", ""))]
    [<Kinship.SELF: 'self'>, <Kinship.SIBLING: 'sibling'>, <Kinship.OTHER: 'other'>, None]
    """
    if model == judge.model:
        return Kinship.SELF
    if not {family, judge.family}.isdisjoint({"", "unknown"}):
        return None
    return Kinship.SIBLING if family == judge.family else Kinship.OTHER


def without_replaced(tables: StudyTables) -> StudyTables:
    """The study without what was said of metric versions that a later one has replaced."""
    return tables.current


def references(tables: StudyTables, policy: Policy = PRIMARY) -> pd.DataFrame:
    """An item of the random core with a label: conversation_id, metric_version_id, reference (1 pass, 0 fail, between
    them soft, missing where the policy gives none).
    """
    ratings = tables.core_ratings
    items = pd.DataFrame(list(ratings.units), columns=ITEM)
    return items.assign(reference=reference_verdicts(ratings, policy, decisions=tables.decisions))


def judged_items(tables: StudyTables, judge: Judge, policy: Policy = PRIMARY) -> pd.DataFrame:
    """An item that a judge was asked about, or experts were: conversation_id, metric_version_id, run, conversation, age,
    model, family, base_scenario, n_turns, title, benchmark, polarity, kinship, judge (1 pass, 0 fail, missing),
    unscored_because, reference (missing where no expert rated it), inclusion_probability.

    The judge's verdict is that of its first run, the one that was deployed. Replaced metric versions are left out.
    """
    key = ("judged items", judge, policy)
    if key not in tables.made:
        tables.made[key] = _judged_items(tables, judge, policy)
    found: pd.DataFrame = tables.made[key]
    return found.copy(deep=False)


def _judged_items(tables: StudyTables, judge: Judge, policy: Policy) -> pd.DataFrame:
    study = without_replaced(tables)
    own = study.judgments[(study.judgments["judge_id"] == judge.judge_id) & (study.judgments["repeat"] == 0)]
    verdicts = own[[*ITEM, "passed", "unscored_because"]]
    core = random_core(study.assignments)
    chances = core.drop_duplicates(ITEM)[[*ITEM, "inclusion_probability"]]
    items = (
        verdicts.merge(references(study, policy), on=ITEM, how="outer")
        .merge(chances, on=ITEM, how="left")
        .merge(study.conversations[_ABOUT_CONVERSATIONS], on="conversation_id", how="left")
        .merge(study.metrics[_ABOUT_METRICS], on="metric_version_id", how="left")
    )
    items["judge"] = floats(items.pop("passed"))
    targets = items.groupby(["model", "family"], dropna=False, sort=False).ngroup()
    first = items.drop_duplicates(["model", "family"])
    kin = [
        kinship(model, family, judge) for model, family in zip(first["model"], first["family"], strict=True)
    ]
    items["kinship"] = pd.Series([kin[number] for number in targets], dtype=object, index=items.index)
    return items.sort_values(["metric_version_id", "run", "conversation"], kind="stable").reset_index(
        drop=True
    )


_ABOUT_CONVERSATIONS = [
    "conversation_id",
    "run",
    "conversation",
    "age",
    "model",
    "family",
    "base_scenario",
    "n_turns",
]
_ABOUT_METRICS = ["metric_version_id", "title", "benchmark", "polarity"]


def verdicts_on(items: pd.DataFrame, ratings: Ratings) -> NDArray[np.float64]:
    """(units,): the judge's verdict on each rated item, from the table of `judged_items`."""
    said = items.set_index(ITEM)["judge"]
    wanted = pd.MultiIndex.from_frame(pd.DataFrame(list(ratings.units), columns=ITEM))
    return floats(said.reindex(wanted))


def floats(column: pd.Series) -> NDArray[np.float64]:
    """A column of numbers or nullable booleans, nan where there is nothing."""
    return np.asarray(column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)


def under_figure(tables: StudyTables, judge: Judge | None, policy: Policy = PRIMARY) -> pd.DataFrame:
    """The items under the figures of a study, those on which judge and experts differ most first: the columns of
    `judged_items`, and how often each label was given (fail, borderline, pass), `cannot_judge`, `apart` (0 to 1).
    """
    study = without_replaced(tables)
    core = random_core(study.assignments)
    first = core[core["repeat"] == 0]
    submitted = first["status"] == LabelStatus.SUBMITTED
    given = {word: submitted & (first["label"] == word) for word in SCALE}
    given[str(LabelStatus.CANNOT_JUDGE)] = first["status"] == LabelStatus.CANNOT_JUDGE
    counted = first[ITEM].assign(**given).groupby(ITEM)[list(given)].sum().reset_index()
    if judge is None:
        items = counted.merge(
            study.conversations[_ABOUT_CONVERSATIONS], on="conversation_id", how="left"
        ).merge(study.metrics[_ABOUT_METRICS], on="metric_version_id", how="left")
        items["judge"] = np.nan
    else:
        items = judged_items(tables, judge, policy).merge(counted, on=ITEM, how="inner")
    labels = items[list(SCALE)].sum(axis=1)
    passed = items[str(LabelVerdict.PASS)] + items[str(LabelVerdict.BORDERLINE)] / 2
    items["apart"] = (items["judge"] - passed / labels.where(labels > 0)).abs()
    return items.sort_values("apart", ascending=False, kind="stable", na_position="last").reset_index(
        drop=True
    )


def divided_items(items: pd.DataFrame, versions: frozenset[int]) -> pd.DataFrame:
    """The items of some metric versions on which experts differ, the most divided first.

    Args:
        items: as `under_figure` gives them.
        versions: of the metrics.
    """
    counts = items[list(SCALE)]
    divided = items["metric_version_id"].isin(versions) & ((counts > 0).sum(axis=1) > 1)
    most = counts[divided].max(axis=1) / counts[divided].sum(axis=1)
    return items.loc[most.sort_values(kind="stable").index]
