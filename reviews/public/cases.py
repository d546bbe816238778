"""Case studies: where in a conversation a behaviour first appears, and whether the model takes it back."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.domain import ImpactBenchError, Role
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import (
    Benchmark,
    CaseMark,
    Conversation,
    Judgment,
    Metric,
    MetricVersion,
    Model,
    Rater,
    Run,
    Scenario,
    Study,
)
from reviews.public.results import PublicResults


class CaseRefused(ImpactBenchError):
    """A mark that cannot be kept; the text says what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A conversation that was marked, as it was marked last. Who marked it is not part of it."""

    conversation_id: int
    benchmark: str
    metric: str
    model: str
    scenario: str
    age: str
    """Of the simulated person."""
    first_turn: int | None
    """The exchange in which the behaviour first appears; None where it never does."""
    corrected_turn: int | None
    """The exchange in which the model takes it back; None where it does not."""
    note: str
    revision: int
    marked_at: datetime

    @property
    def corrected(self) -> bool:
        return self.corrected_turn is not None


def mark_case(
    engine: Engine,
    study: str,
    *,
    conversation_id: int,
    metric_version_id: int,
    marked_by: int,
    first_turn: int | None,
    corrected_turn: int | None = None,
    note: str = "",
) -> int:
    """Mark a conversation; the number of the mark. The same mark again is the one that is there; another is a revision.

    Raises:
        CaseRefused: the conversation is not judged on the metric in this study, the turns are not in it, or the person
            is no active maintainer.
    """
    with writing(engine) as session:
        person = session.get(Rater, marked_by)
        if person is None or person.role is not Role.MAINTAINER or not person.active:
            raise CaseRefused("only an active maintainer marks where a behaviour appears")
        study_id = _judged_in(session, study, conversation_id, metric_version_id)
        _require_turns(session.get_one(Conversation, conversation_id), first_turn, corrected_turn)
        newest = _newest(session, study_id, conversation_id, metric_version_id)
        said = (first_turn, corrected_turn, note.strip())
        if newest is not None and (newest.first_turn, newest.corrected_turn, newest.note) == said:
            return newest.revision
        row = {
            "study_id": study_id,
            "conversation_id": conversation_id,
            "metric_version_id": metric_version_id,
            "revision": 1 if newest is None else newest.revision + 1,
            "first_turn": first_turn,
            "corrected_turn": corrected_turn,
            "note": note.strip(),
            "marked_by": marked_by,
        }
        if not insert_if_absent(session, CaseMark, [row]):
            raise CaseRefused("somebody marked this conversation at the same moment: look at it again")
        return 1 if newest is None else newest.revision + 1


def find_metric_version(engine: Engine, study: str, name: str, *, conversation_id: int) -> int:
    """The newest wording of benchmark/metric on which a conversation of the study is judged.

    Raises:
        CaseRefused: there is none.
    """
    benchmark, _, metric = name.partition("/")
    with reading(engine) as session:
        found = session.exec(
            select(MetricVersion.id)
            .join(Metric, col(Metric.id) == MetricVersion.metric_id)
            .join(Benchmark, col(Benchmark.id) == Metric.benchmark_id)
            .join(Judgment, col(Judgment.metric_version_id) == MetricVersion.id)
            .where(
                Benchmark.slug == benchmark,
                Metric.slug == metric,
                Judgment.conversation_id == conversation_id,
            )
            .order_by(col(MetricVersion.version).desc())
        ).first()
    if found is None:
        raise CaseRefused(
            f"the study {study!r} has no conversation {conversation_id} that was judged on {name!r}"
            " (a metric is named benchmark/metric)"
        )
    return found


def _judged_in(session: Session, study: str, conversation_id: int, metric_version_id: int) -> int:
    found = session.exec(
        select(Study.id)
        .join(Run, col(Run.study_id) == Study.id)
        .join(Conversation, col(Conversation.run_id) == Run.id)
        .join(Judgment, col(Judgment.conversation_id) == Conversation.id)
        .where(
            Study.slug == study,
            Conversation.id == conversation_id,
            Judgment.metric_version_id == metric_version_id,
        )
    ).first()
    if found is None:
        raise CaseRefused(
            f"the study {study!r} has no conversation {conversation_id} that was judged on this metric"
        )
    return found


def _require_turns(conversation: Conversation, first: int | None, corrected: int | None) -> None:
    exchanges = sum(turn["role"] == "user" for turn in conversation.turns)
    if not exchanges:
        raise CaseRefused("this conversation has no transcript, so nothing in it can be pointed at")
    for turn in (first, corrected):
        if turn is not None and not 1 <= turn <= exchanges:
            raise CaseRefused(f"exchange {turn} is not in the conversation, which has {exchanges}")
    if corrected is not None and (first is None or corrected < first):
        raise CaseRefused("a behaviour is taken back only after it has appeared: give the first exchange too")


def _newest(session: Session, study_id: int, conversation_id: int, metric_version_id: int) -> CaseMark | None:
    return session.exec(
        select(CaseMark)
        .where(
            CaseMark.study_id == study_id,
            CaseMark.conversation_id == conversation_id,
            CaseMark.metric_version_id == metric_version_id,
        )
        .order_by(col(CaseMark.revision).desc())
    ).first()


def cases(engine: Engine, results: PublicResults) -> list[Case]:
    """The marked conversations of a study, newest mark of each; none where the public does not see conversations."""
    if not results.study.transcripts:
        return []
    by_version = {one.metric_version_id: one for one in results.metrics.values()}
    query = (
        select(CaseMark, Model.slug, Scenario)
        .join(Study, col(Study.id) == CaseMark.study_id)
        .join(Conversation, col(Conversation.id) == CaseMark.conversation_id)
        .join(Model, col(Model.id) == Conversation.model_id)
        .join(Scenario, col(Scenario.id) == Conversation.scenario_id)
        .where(Study.slug == results.study.slug)
        .order_by(col(CaseMark.revision))
    )
    with reading(engine) as session:
        newest = {
            (row.conversation_id, row.metric_version_id): (row, model, scenario)
            for row, model, scenario in session.exec(query)
        }
    return [
        Case(
            conversation_id=row.conversation_id,
            benchmark=by_version[row.metric_version_id].benchmark,
            metric=by_version[row.metric_version_id].metric,
            model=model,
            scenario=scenario.slug,
            age=str(scenario.age or ""),
            first_turn=row.first_turn,
            corrected_turn=row.corrected_turn,
            note=row.note,
            revision=row.revision,
            marked_at=row.created_at,
        )
        for (_, version), (row, model, scenario) in sorted(newest.items(), key=lambda pair: pair[0])
        if version in by_version
    ]
