"""From a rate down to the conversations behind it: scenarios, verdicts, and the words where these are public."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Engine, Row, RowMapping, Select, select, true

from impactbench.adapters.ratings_table_items import LABELS_ONLY
from impactbench.domain import Polarity, Turn, passes
from impactbench.rates.metric_tally import MetricName
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


def verdicts_of(engine: Engine, results: PublicResults, metric: PublicMetric) -> list[PublicVerdict]:
    """The verdicts on a metric by scenario and model; none while experts are at work, who must not find them here."""
    about = judgment.metric_version_id == metric.metric_version_id
    return [verdict for _, verdict in _verdicts(engine, results, about)]


def all_verdicts(engine: Engine, results: PublicResults) -> dict[MetricName, list[PublicVerdict]]:
    """Those on every metric of the study."""
    found: dict[MetricName, list[PublicVerdict]] = {key: [] for key in results.metrics}
    for metric, verdict in _verdicts(engine, results, true()):
        found[metric.key].append(verdict)
    return found


def _verdicts(
    engine: Engine, results: PublicResults, chosen: ColumnElement[bool]
) -> list[tuple[PublicMetric, PublicVerdict]]:
    """Of the newest run of each model on each metric."""
    if results.study.under_review:
        return []
    by_version = {one.metric_version_id: one for one in results.metrics.values()}
    with reading(engine) as session:
        query = _said(results, conversation.run_id).where(chosen)
        rows = session.connection().execute(query).all()
    rows = [row for row in rows if row.metric_version_id in by_version]
    newest: dict[tuple[int, str], int] = {}
    for row in rows:
        place = row.metric_version_id, row.model
        newest[place] = max(newest.get(place, 0), row.run_id)
    return [
        (metric, _verdict(row, metric))
        for row in rows
        if row.run_id == newest[row.metric_version_id, row.model]
        for metric in (by_version[row.metric_version_id],)
    ]


def _verdict(row: Row[Any], metric: PublicMetric) -> PublicVerdict:
    present = row.present
    return PublicVerdict(
        conversation_id=row.conversation_id,
        scenario=row.scenario,
        base_scenario=row.base_scenario,
        age=str(row.age or ""),
        user_goal=row.user_goal,
        model=row.model,
        status=row.status,
        present=present,
        passed=None if present is None else passes(present, Polarity(metric.polarity)),
    )


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
