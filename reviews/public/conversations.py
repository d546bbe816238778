"""From a rate down to the conversations behind it: scenarios, verdicts, and the words where these are public."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd
from sqlalchemy import ColumnElement, Engine, RowMapping, Select, select, true

from impactbench.adapters.ratings_table_items import LABELS_ONLY
from impactbench.domain import Polarity, Turn, passes
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.frames import conversation, judgment, model, run, scenario, study
from reviews.public.checks import ExpertLabels
from reviews.public.results import PublicMetric, PublicResults


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A conversation with what the judge said of it."""

    conversation_id: int
    benchmark: str
    metric: str
    scenario: str
    base_scenario: str
    age: str
    user_goal: str
    model: str
    turns: tuple[Turn, ...]
    """Empty where the platform it comes from gives verdicts alone."""
    status: str
    present: bool | None
    passed: bool | None
    unscored_because: str
    justification: str
    experts: ExpertLabels | None
    """What experts said of it, once their results are reported; None where none has read it."""


@dataclass(frozen=True, slots=True)
class PublicVerdict:
    """What the judge said of a conversation on a metric."""

    conversation_id: int
    scenario: str
    base_scenario: str
    age: str
    user_goal: str
    model: str
    status: str
    present: bool | None
    passed: bool | None
    """None where the judge gave no verdict."""

    @property
    def has_words(self) -> bool:
        """Whether its conversation came with it."""
        return self.status != LABELS_ONLY


_VERDICTS = [one.name for one in fields(PublicVerdict)]


def verdicts_of(engine: Engine, results: PublicResults, metric: PublicMetric) -> list[PublicVerdict]:
    """The verdicts on a metric by scenario and model; none while experts are at work, who must not find them here."""
    frame = _verdicts(engine, results, [metric])[_VERDICTS].astype(object)
    plain = frame.where(frame.notna(), None)
    return [PublicVerdict(*values) for values in zip(*(plain[name] for name in _VERDICTS), strict=True)]


def all_verdicts(engine: Engine, results: PublicResults) -> pd.DataFrame:
    """Those of every metric of the study, a row each, with its metric_version_id, benchmark and metric."""
    return _verdicts(engine, results, list(results.metrics.values()))


def _verdicts(engine: Engine, results: PublicResults, metrics: Sequence[PublicMetric]) -> pd.DataFrame:
    columns = ["metric_version_id", "benchmark", "metric", *_VERDICTS]
    if results.study.under_review or not metrics:
        return pd.DataFrame(columns=columns)
    by_version = {one.metric_version_id: one for one in metrics}
    one_only = judgment.metric_version_id == metrics[0].metric_version_id if len(metrics) == 1 else true()
    query = _said(results, conversation.run_id).where(one_only)
    with reading(engine) as session:
        found = session.connection().execute(query)
        frame = pd.DataFrame(found.mappings().all(), columns=list(found.keys()))
    frame = frame[frame["metric_version_id"].isin(list(by_version))]
    newest = frame.groupby(["metric_version_id", "model"])["run_id"].transform("max")
    frame = frame[frame["run_id"] == newest].reset_index(drop=True)
    about = [by_version[version] for version in frame["metric_version_id"]]
    frame["benchmark"], frame["metric"] = [one.benchmark for one in about], [one.metric for one in about]
    positive = pd.Series([one.polarity == Polarity.POSITIVE for one in about], dtype="boolean")
    frame["present"] = frame["present"].astype("boolean")
    frame["passed"] = frame["present"] == positive
    frame["age"] = frame["age"].fillna("").map(str)
    return frame[columns]


def transcript(
    engine: Engine, results: PublicResults, metric: PublicMetric, conversation_id: int
) -> Transcript | None:
    """A conversation and what was said of it on a metric; None where the public does not see conversations."""
    about = judgment.metric_version_id == metric.metric_version_id
    found = _transcripts(engine, results, about & (conversation.id == conversation_id))
    return found[0] if found else None


def transcripts_of(
    engine: Engine, results: PublicResults, metric: PublicMetric, *, named: str
) -> list[Transcript]:
    """The conversations about a metric in the scenario of a name, by model; none where the public does not see conversations."""
    about = judgment.metric_version_id == metric.metric_version_id
    return _transcripts(engine, results, about & (scenario.slug == named))


def _transcripts(engine: Engine, results: PublicResults, chosen: ColumnElement[bool]) -> list[Transcript]:
    if not results.study.transcripts:
        return []
    more = conversation.turns, judgment.unscored_because, judgment.justification
    query = _said(results, *more).where(chosen)
    with reading(engine) as session:
        rows = session.connection().execute(query).mappings().all()
    by_version = {one.metric_version_id: one for one in results.metrics.values()}
    return [
        _public(row, by_version[row["metric_version_id"]], results.checks.labels)
        for row in rows
        if row["metric_version_id"] in by_version
    ]


def _said(results: PublicResults, *more: Any) -> Select[Any]:
    """Conversations of the study with what its judge said first of each, by scenario and model."""
    return (
        select(
            conversation.id.label("conversation_id"),
            scenario.slug.label("scenario"),
            scenario.base_scenario,
            scenario.age,
            scenario.user_goal,
            model.slug.label("model"),
            conversation.status,
            judgment.metric_version_id,
            judgment.present,
            *more,
        )
        .select_from(t.Judgment)
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .join(t.Scenario, scenario.id == conversation.scenario_id)
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .join(t.Model, model.id == conversation.model_id)
        .where(
            study.slug == results.study.slug,
            judgment.judge_id == results.judge_id,
            judgment.repeat == 0,
        )
        .order_by(scenario.slug, model.slug, conversation.key)
    )


def _public(
    row: RowMapping, metric: PublicMetric, labels: Mapping[tuple[int, int], ExpertLabels]
) -> Transcript:
    present = row["present"]
    return Transcript(
        conversation_id=row["conversation_id"],
        benchmark=metric.benchmark,
        metric=metric.metric,
        scenario=row["scenario"],
        base_scenario=row["base_scenario"],
        age=str(row["age"] or ""),
        user_goal=row["user_goal"],
        model=row["model"],
        turns=tuple(Turn(role=turn["role"], content=turn["content"]) for turn in row["turns"]),
        status=row["status"],
        present=present,
        passed=None if present is None else passes(present, Polarity(metric.polarity)),
        unscored_because=row["unscored_because"],
        justification=row["justification"],
        experts=labels.get((row["conversation_id"], row["metric_version_id"])),
    )
