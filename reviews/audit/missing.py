"""What has no verdict or no label, why, and what the figures could be at worst."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from impactbench.domain import LabelStatus
from reviews.audit.items import ITEM, Judge, judged_items, judges_of, without_replaced
from reviews.evidence import StudyTables
from validation.bounds import Bounds
from validation.mapping import PRIMARY, Policy
from validation.missing_verdicts import MissingByGroup, MissingVerdicts, missing_by_group, missing_verdicts
from validation.results import Estimate

NOT_YET_RATED = "not_yet_rated"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeGaps:
    """What a judge left without a verdict."""

    judge: Judge
    found: MissingVerdicts
    by_model: MissingByGroup
    by_metric: Mapping[str, int]
    """Metric -> items without a verdict; metrics without any are left out."""
    reasons: Mapping[str, int]
    never_asked: int
    """Items that experts rated and the judge was never asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelGaps:
    """What experts left without a label, and what the experts' pass rate could be at worst."""

    asked: int
    by_status: Mapping[str, int]
    reasons: Mapping[str, int]
    pass_share: Estimate
    """Of the labels that were given, borderline as half."""
    bounds: Bounds
    """The same if everything that was not given had been a fail, or a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """All that is missing from a study."""

    judges: tuple[JudgeGaps, ...]
    labels: LabelGaps


def missing(tables: StudyTables, policy: Policy = PRIMARY) -> Missing:
    """Count what is missing, by its reason, and bound what it hides."""
    return Missing(
        judges=tuple(_judge_gaps(tables, judge, policy) for judge in judges_of(tables)),
        labels=_label_gaps(without_replaced(tables).assignments),
    )


def _judge_gaps(tables: StudyTables, judge: Judge, policy: Policy) -> JudgeGaps:
    items = judged_items(tables, judge, policy)
    asked = items[items["unscored_because"].notna()]
    gone = asked[asked["judge"].isna()]
    return JudgeGaps(
        judge=judge,
        found=missing_verdicts(
            asked["reference"].to_numpy(dtype=float), asked["judge"].to_numpy(dtype=float)
        ),
        by_model=missing_by_group(
            asked["judge"].to_numpy(dtype=float), groups=asked["model"].map(str).to_numpy()
        ),
        by_metric=_counts(gone["title"]),
        reasons=_counts(gone["unscored_because"]),
        never_asked=len(items) - len(asked),
    )


def without_answer(tables: StudyTables) -> pd.DataFrame:
    """The items on which a judge gave no verdict or an expert no label: conversation_id, metric_version_id, conversation,
    title, lacks (what, in words), the most first.
    """
    rows = without_replaced(tables).assignments
    rows = rows[(rows["repeat"] == 0) & (rows["status"] != LabelStatus.SUBMITTED)]
    lacks = [rows[ITEM].assign(what=rows["status"].map(lambda status: str(status).replace("_", " ")))]
    for judge in judges_of(tables):
        items = judged_items(tables, judge)
        gone = items[items["unscored_because"].notna() & items["judge"].isna()]
        lacks.append(gone[ITEM].assign(what=f"no verdict of {judge.name}"))
    listed = pd.concat(lacks).groupby(ITEM)["what"].agg(_told).rename("lacks").reset_index()
    listed["many"] = pd.concat(lacks).groupby(ITEM).size().to_numpy()
    named = listed.merge(
        tables.conversations[["conversation_id", "conversation", "age"]], on="conversation_id"
    ).merge(tables.metrics[["metric_version_id", "title"]], on="metric_version_id")
    return (
        named.sort_values("many", ascending=False, kind="stable").drop(columns="many").reset_index(drop=True)
    )


def _told(whats: pd.Series) -> str:
    return ", ".join(f"{what} ({number})" if number > 1 else what for what, number in _counts(whats).items())


def _label_gaps(rows: pd.DataFrame) -> LabelGaps:
    given_up = rows["released_at"].notna() & (rows["status"] == NOT_YET_RATED)
    rows = rows[(rows["repeat"] == 0) & ~given_up]
    submitted = rows[rows["status"] == LabelStatus.SUBMITTED]
    score = submitted["label"].map(str).map({"fail": 0.0, "borderline": 0.5, "pass": 1.0})
    asked, given = len(rows), len(submitted)
    withheld = rows[rows["no_verdict_because"].fillna("") != ""]
    nothing = Estimate.undefined("no_ratings", n=0)
    if not given:
        return LabelGaps(
            asked=asked,
            by_status=_counts(rows["status"]),
            reasons=_counts(withheld["no_verdict_because"]),
            pass_share=nothing,
            bounds=Bounds(low=nothing, high=nothing),
        )
    total, method = float(score.sum()), "bound over what was not given"
    return LabelGaps(
        asked=asked,
        by_status=_counts(rows["status"]),
        reasons=_counts(withheld["no_verdict_because"]),
        pass_share=Estimate(value=total / given, n=given, n_ratings=given, notes=("no interval",)),
        bounds=Bounds(
            low=Estimate(value=total / asked, n=asked, method=method),
            high=Estimate(value=(total + asked - given) / asked, n=asked, method=method),
        ),
    )


def _counts(column: pd.Series) -> dict[str, int]:
    return {str(name): int(count) for name, count in column.map(str).value_counts().items()}
