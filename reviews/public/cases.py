"""Case studies: where in a conversation a behaviour first appears, and whether the model takes it back."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import Select

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
    version: int
    """Of the wording of the behaviour that it was marked on."""
    definition: str
    """The behaviour in that wording."""
    shown_version: int
    """Of the wording that the results are about."""

    @property
    def corrected(self) -> bool:
        return self.corrected_turn is not None

    @property
    def of_earlier_wording(self) -> bool:
        """Whether the metric was revised since: nobody has marked the conversation on the wording that is shown."""
        return self.version < self.shown_version


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
            _judged(study, conversation_id)
            .join(Metric, col(Metric.id) == MetricVersion.metric_id)
            .join(Benchmark, col(Benchmark.id) == Metric.benchmark_id)
            .where(Benchmark.slug == benchmark, Metric.slug == metric)
            .order_by(col(MetricVersion.version).desc())
        ).first()
    if found is None:
        raise CaseRefused(
            f"the study {study!r} has no conversation {conversation_id} that was judged on {name!r}"
            " (a metric is named benchmark/metric)"
        )
    return found[1]


def _judged(study: str, conversation_id: int) -> Select[int, int]:
    """(study, metric version), by id, of each judgment of a conversation."""
    return (
        select(Run.study_id, Judgment.metric_version_id)
        .join(Conversation, col(Conversation.id) == Judgment.conversation_id)
        .join(Run, col(Run.id) == Conversation.run_id)
        .join(Study, col(Study.id) == Run.study_id)
        .join(MetricVersion, col(MetricVersion.id) == Judgment.metric_version_id)
        .where(Study.slug == study, Conversation.id == conversation_id)
    )


def _judged_in(session: Session, study: str, conversation_id: int, metric_version_id: int) -> int:
    found = session.exec(_judged(study, conversation_id).where(MetricVersion.id == metric_version_id)).first()
    if found is None:
        raise CaseRefused(
            f"the study {study!r} has no conversation {conversation_id} that was judged on this metric"
        )
    return found[0]


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
    """The marked conversations of a study: of each the newest mark on the newest wording that it was marked on.

    A mark outlives a revision of its metric and says then of which wording it is, as long as its conversation is judged on
    the wording that is shown: no other can be read. There are none where the public does not see conversations.
    """
    if not results.study.transcripts:
        return []
    shown = {one.metric_version_id: one for one in results.metrics.values()}
    marked, now = aliased(MetricVersion), aliased(MetricVersion)
    query = (
        select(CaseMark, marked, Model.slug, Scenario)
        .add_columns(col(now.id))
        .join(Study, col(Study.id) == CaseMark.study_id)
        .join(Conversation, col(Conversation.id) == CaseMark.conversation_id)
        .join(Model, col(Model.id) == Conversation.model_id)
        .join(Scenario, col(Scenario.id) == Conversation.scenario_id)
        .join(marked, col(marked.id) == CaseMark.metric_version_id)
        .join(now, (col(now.metric_id) == marked.metric_id) & col(now.id).in_(shown))
        .join(
            Judgment,
            (col(Judgment.conversation_id) == Conversation.id) & (col(Judgment.metric_version_id) == now.id),
        )
        .where(
            col(Study.slug) == results.study.slug,
            col(Judgment.judge_id) == results.judge_id,
            col(Judgment.repeat) == 0,
            col(marked.version) <= now.version,
        )
        .order_by(col(marked.version), col(CaseMark.revision))
    )
    with reading(engine) as session:
        newest = {(row[0].conversation_id, row[4]): row for row in session.execute(query)}
    return [
        Case(
            conversation_id=mark.conversation_id,
            benchmark=shown[version].benchmark,
            metric=shown[version].metric,
            model=model,
            scenario=scenario.slug,
            age=str(scenario.age or ""),
            first_turn=mark.first_turn,
            corrected_turn=mark.corrected_turn,
            note=mark.note,
            revision=mark.revision,
            marked_at=mark.created_at,
            version=wording.version,
            definition=wording.definition,
            shown_version=shown[version].version,
        )
        for _, (mark, wording, model, scenario, version) in sorted(newest.items(), key=lambda pair: pair[0])
    ]
