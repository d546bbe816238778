"""From a rate down to the conversations behind it: scenarios, verdicts, and the words where these are public."""

from dataclasses import dataclass

import pandas as pd
from sqlalchemy import Engine, select

from impactbench.domain import Polarity, Turn, passes
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.frames import conversation, judgment, model, run, scenario, study
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


def verdicts_of(engine: Engine, results: PublicResults, metric: PublicMetric) -> pd.DataFrame:
    """The verdicts on a metric, a row a conversation: conversation_id, scenario, base_scenario, age, user_goal, model,
    status, present, passed. Empty while experts are at work on the study, who must not find them here.
    """
    columns = [
        "conversation_id",
        "scenario",
        "base_scenario",
        "age",
        "user_goal",
        "model",
        "status",
        "present",
        "passed",
    ]
    if results.study.under_review:
        return pd.DataFrame(columns=columns)
    query = (
        select(
            conversation.id.label("conversation_id"),
            conversation.run_id,
            scenario.slug.label("scenario"),
            scenario.base_scenario,
            scenario.age,
            scenario.user_goal,
            model.slug.label("model"),
            conversation.status,
            judgment.present,
        )
        .select_from(t.Judgment)
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .join(t.Scenario, scenario.id == conversation.scenario_id)
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .join(t.Model, model.id == conversation.model_id)
        .where(
            study.slug == results.study.slug,
            judgment.metric_version_id == metric.metric_version_id,
            judgment.judge_id == results.judge_id,
            judgment.repeat == 0,
        )
        .order_by(scenario.slug, model.slug)
    )
    with reading(engine) as session:
        found = session.connection().execute(query)
        frame = pd.DataFrame(found.mappings().all(), columns=list(found.keys()))
    newest = frame.groupby("model")["run_id"].transform("max")
    frame = frame[frame["run_id"] == newest].reset_index(drop=True)
    frame["present"] = frame["present"].astype("boolean")
    frame["passed"] = frame["present"] == (metric.polarity == Polarity.POSITIVE)
    frame["age"] = frame["age"].map(str)
    return frame[columns]


def transcript(engine: Engine, results: PublicResults, conversation_id: int) -> Transcript | None:
    """A conversation of the study and what the judge said of it; None where the public does not see conversations."""
    if not results.study.transcripts:
        return None
    query = (
        select(
            scenario.slug.label("scenario"),
            scenario.base_scenario,
            scenario.age,
            scenario.user_goal,
            model.slug.label("model"),
            conversation.turns,
            conversation.status,
            judgment.metric_version_id,
            judgment.present,
            judgment.unscored_because,
            judgment.justification,
        )
        .select_from(t.Judgment)
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .join(t.Scenario, scenario.id == conversation.scenario_id)
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .join(t.Model, model.id == conversation.model_id)
        .where(
            study.slug == results.study.slug,
            conversation.id == conversation_id,
            judgment.judge_id == results.judge_id,
            judgment.repeat == 0,
        )
    )
    with reading(engine) as session:
        rows = session.connection().execute(query).mappings().all()
    by_version = {one.metric_version_id: one for one in results.metrics.values()}
    row = next((row for row in rows if row["metric_version_id"] in by_version), None)
    if row is None:
        return None
    metric = by_version[row["metric_version_id"]]
    present = row["present"]
    return Transcript(
        conversation_id=conversation_id,
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
    )
