"""How far the judge's verdicts on a metric were checked by experts: what stands beside every public number."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import pandas as pd
from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import LabelStatus, LabelVerdict
from impactbench.store.engine import reading
from impactbench.store.tables import ReviewSet, Study
from reviews.audit.corrected import Board, boards
from reviews.audit.items import judges_of
from reviews.blindness.visibility import Stage, stage_of
from reviews.contested.contest import metric_statuses
from reviews.evidence import (
    SEED,
    StudyTables,
    expert_ratings,
    judge_pass,
    random_core,
    read_tables,
)
from reviews.references import reference_verdicts
from validation.contested import Status
from validation.judge_accuracy import judge_accuracy
from validation.mapping import PRIMARY
from validation.results import Estimate

NOT_CHECKED = "not_checked_by_experts"
_FIELDS = {
    LabelVerdict.PASS.value: "passed",
    LabelVerdict.BORDERLINE.value: "borderline",
    LabelVerdict.FAIL.value: "failed",
    "cannot_judge": "cannot_judge",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What is known about the verdicts behind a number."""

    status: Status
    """That of the metric; of several: contested where one is, not assessed where one is not, then watch."""
    n_metrics: int
    by_status: Mapping[Status, int]
    """How many of the metrics have each status."""
    n_experts: int
    n_items: int
    """Items that both the experts and the judge settled."""
    agreement: Estimate
    """The share of those items on which the judge says what the experts say."""

    @property
    def known(self) -> bool:
        """Whether a number may be shown as if it were known: every metric assessed, none contested."""
        return self.status in (Status.NO_CONCERN_FOUND, Status.WATCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertLabels:
    """How many experts said what of a conversation; who they are is nobody's business."""

    passed: int = 0
    borderline: int = 0
    failed: int = 0
    cannot_judge: int = 0


@dataclass(frozen=True, slots=True)
class Checks:
    """The evidence on all metrics of a study; raters are numbers here, and stay inside."""

    _status: Mapping[int, Status]
    _items: pd.DataFrame
    """One row an item: metric_version_id, truth, judged."""
    _experts: Mapping[int, frozenset[int]]
    corrected: tuple[Board, ...] = ()
    """The models under the reviewed metrics of each polarity, as experts would have judged them."""
    labels: Mapping[tuple[int, int], ExpertLabels] = field(default_factory=dict)
    """By conversation and metric version, what experts said of it."""

    def of(self, versions: Collection[int]) -> Checked:
        """What is known about metric versions together."""
        by_status = Counter(self._status.get(version, Status.NOT_ASSESSED) for version in versions)
        experts = frozenset[int]().union(*(self._experts.get(version, frozenset()) for version in versions))
        items = (
            self._items[self._items["metric_version_id"].isin(list(versions))] if experts else self._items[:0]
        )
        return Checked(
            status=_together(by_status),
            n_metrics=len(versions),
            by_status=dict(by_status),
            n_experts=len(experts),
            n_items=len(items),
            agreement=_agreement(items),
        )


def _together(by_status: Mapping[Status, int]) -> Status:
    for status in (Status.CONTESTED, Status.NOT_ASSESSED, Status.WATCH, Status.NO_CONCERN_FOUND):
        if by_status.get(status):
            return status
    return Status.NOT_ASSESSED


def _agreement(items: pd.DataFrame) -> Estimate:
    if items.empty:
        return Estimate.undefined(NOT_CHECKED, n=0)
    several = items["metric_version_id"].nunique() > 1
    found = judge_accuracy(
        items["truth"].to_numpy(dtype=np.float64),
        items["judged"].to_numpy(dtype=np.float64),
        clusters=items["metric_version_id"].to_numpy() if several else None,
        policy=PRIMARY.name,
        seed=SEED,
    )
    return found.accuracy


def read_checks(engine: Engine, study: str, *, judge_id: int) -> Checks:
    """The evidence from the review sets whose results are reported; nothing of the others."""
    with reading(engine) as session:
        sets = session.exec(
            select(ReviewSet).join(Study, col(Study.id) == ReviewSet.study_id).where(Study.slug == study)
        ).all()
    reported = [one.slug for one in sets if stage_of(one) is Stage.REPORTED]
    if not reported:
        return Checks({}, pd.DataFrame(columns=["metric_version_id", "truth", "judged"]), {})
    tables = read_tables(engine, study)
    return checks_of(tables if len(reported) == len(sets) else _only(tables, reported), judge_id=judge_id)


def _only(tables: StudyTables, reported: Collection[str]) -> StudyTables:
    """The labels of the reported sets alone: what was settled or said besides belongs to no single set, and waits."""
    kept = tables.assignments[tables.assignments["review_set"].isin(list(reported))]
    return replace(
        tables,
        assignments=kept.reset_index(drop=True),
        decisions=tables.decisions.iloc[:0],
        metric_reviews=pd.DataFrame(),
    )


def checks_of(tables: StudyTables, *, judge_id: int) -> Checks:
    """The evidence that a study's tables hold."""
    core = random_core(tables.assignments)
    ratings = expert_ratings(core)
    truth = reference_verdicts(ratings, PRIMARY, decisions=tables.decisions)
    said = tables.judgments[(tables.judgments["repeat"] == 0) & (tables.judgments["judge_id"] == judge_id)]
    judged = judge_pass(said.set_index(["conversation_id", "metric_version_id"]), ratings)
    items = pd.DataFrame(
        {
            "metric_version_id": [
                int(version) for _, version in cast("list[tuple[int, int]]", ratings.units)
            ],
            "truth": truth,
            "judged": judged,
        }
    ).dropna()
    submitted = core[core["status"] == LabelStatus.SUBMITTED]
    experts = {
        int(str(version)): frozenset(int(rater) for rater in raters)
        for version, raters in submitted.groupby("metric_version_id")["rater_id"]
    }
    chosen = next((one for one in judges_of(tables) if one.judge_id == judge_id), None)
    return Checks(
        {int(str(one.metric)): one.status for one in metric_statuses(tables, judge=chosen)},
        items,
        experts,
        tuple(boards(tables, chosen)) if chosen is not None else (),
        _labels(tables.assignments),
    )


def _labels(assignments: pd.DataFrame) -> dict[tuple[int, int], ExpertLabels]:
    """First labels alone: what somebody says again of the same conversation is no second opinion."""
    said = assignments[assignments["repeat"] == 0]
    word = [
        str(label)
        if status == LabelStatus.SUBMITTED
        else "cannot_judge"
        if status == LabelStatus.CANNOT_JUDGE
        else None
        for status, label in zip(said["status"], said["label"], strict=True)
    ]
    found: dict[tuple[int, int], Counter[str]] = {}
    for conversation, version, verdict in zip(
        said["conversation_id"], said["metric_version_id"], word, strict=True
    ):
        if verdict is not None:
            found.setdefault((int(conversation), int(version)), Counter())[_FIELDS[verdict]] += 1
    return {item: ExpertLabels(**numbers) for item, numbers in found.items()}
