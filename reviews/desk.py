"""The rater's desk: what is to be rated, what was said, and the one way in which a label comes to be."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, func
from sqlmodel import Session, col, select

from impactbench.domain import LabelVerdict, MetricDefinition
from impactbench.store.engine import insert_if_absent, put, reading, writing
from impactbench.store.tables import (
    Assignment,
    Conversation,
    Draft,
    Exposure,
    Label,
    MetricVersion,
    Model,
    Rater,
    ReviewSet,
    Run,
)
from reviews.blinding import BlindItem, ask, blind_turns, names_to_hide
from reviews.labels import Answer, LabelRefused, StaleAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """An item in a rater's own order, and where it stands."""

    code: str
    position: int
    label: Label | None

    @property
    def done(self) -> bool:
        return self.label is not None


def queue(engine: Engine, rater_id: int) -> list[QueueEntry]:
    """Everything that a rater was asked to rate, in their frozen order, with their newest answer to each."""
    with reading(engine) as session:
        newest = (
            select(Label.assignment_id, func.max(Label.revision).label("revision"))
            .group_by(col(Label.assignment_id))
            .subquery()
        )
        rows = session.exec(
            select(Assignment.code, Label)
            .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
            .outerjoin(newest, newest.c.assignment_id == Assignment.id)
            .outerjoin(
                Label,
                (col(Label.assignment_id) == newest.c.assignment_id)
                & (col(Label.revision) == newest.c.revision),
            )
            .where(Assignment.rater_id == rater_id, ReviewSet.origin == "design")
            .order_by(col(Assignment.review_set_id), col(Assignment.position))
        ).all()
    return [QueueEntry(code=code, position=n, label=label) for n, (code, label) in enumerate(rows, start=1)]


def next_code(entries: list[QueueEntry], *, after: str | None = None) -> str | None:
    """The first item not rated yet, at or behind `after` if there is one there, else from the beginning."""
    waiting = [entry for entry in entries if not entry.done]
    start = next((entry.position for entry in entries if entry.code == after), 0)
    behind = [entry.code for entry in waiting if entry.position > start]
    return next(iter(behind or [entry.code for entry in waiting]), None)


def blind_item(engine: Engine, rater_id: int, code: str) -> BlindItem:
    """The item behind a code, as the rater may see it.

    Raises:
        LabelRefused: the code is not one of this rater's.
    """
    entries = queue(engine, rater_id)
    position = next((entry.position for entry in entries if entry.code == code), None)
    with reading(engine) as session:
        assignment = _own(session, rater_id, code)
        if position is None:
            raise LabelRefused("This conversation is not in your list.")
        conversation = session.get_one(Conversation, assignment.conversation_id)
        version = session.get_one(MetricVersion, assignment.metric_version_id)
        models = session.exec(
            select(Model.slug, Model.family, Model.provider)
            .join(Conversation, col(Conversation.model_id) == Model.id)
            .join(Run, col(Run.id) == Conversation.run_id)
            .where(Run.study_id == assignment.study_id)
            .distinct()
        ).all()
        definition = MetricDefinition.model_validate(
            version.model_dump(include=set(MetricDefinition.model_fields))
        )
    return BlindItem(
        code=code,
        position=position,
        total=len(entries),
        asked=ask(definition),
        turns=blind_turns(conversation.turns, hidden_names=names_to_hide(models)),
        option_order=tuple(LabelVerdict(option) for option in assignment.option_order),
    )


def history(engine: Engine, rater_id: int, code: str) -> list[Label]:
    """Every revision of a rater's own label of an item, oldest first."""
    with reading(engine) as session:
        assignment = _own(session, rater_id, code)
        labels = session.exec(
            select(Label).where(Label.assignment_id == assignment.id).order_by(col(Label.revision))
        ).all()
    return list(labels)


def draft(engine: Engine, rater_id: int, code: str) -> Draft | None:
    """What the rater had begun on an item."""
    with reading(engine) as session:
        return session.get(Draft, _own(session, rater_id, code).id)


def keep_draft(
    engine: Engine, rater_id: int, code: str, content: dict[str, Any], *, base_revision: int
) -> bool:
    """Keep what the rater has begun; False where a newer label made it stale, and then nothing is kept."""
    with writing(engine) as session:
        assignment = _own(session, rater_id, code)
        if _newest_revision(session, assignment) != base_revision:
            return False
        put(
            session,
            Draft,
            {"assignment_id": assignment.id, "content": content, "updated_at": datetime.now(UTC)},
        )
    return True


def save(engine: Engine, rater_id: int, code: str, answer: Answer, *, base_revision: int) -> Label:
    """Store an answer as the next revision of the rater's label of an item.

    The same answer on the same revision is stored once, however often it is sent.

    Args:
        base_revision: the revision that the rater saw when answering; 0 where there was none.

    Raises:
        StaleAnswer: another answer was stored meanwhile; nothing is overwritten.
        LabelRefused: the item is not this rater's.
    """
    with writing(engine) as session:
        assignment = _own(session, rater_id, code)
        operation = answer.operation(assignment_id=_id(assignment), base_revision=base_revision)
        row = {
            "assignment_id": assignment.id,
            "revision": base_revision + 1,
            "operation": operation,
            "status": answer.status,
            **answer.model_dump(exclude={"no_verdict_because", "turns"}),
            "no_verdict_because": answer.no_verdict_because or "",
            "turns": list(answer.turns),
        }
        if base_revision <= _newest_revision(session, assignment):
            insert_if_absent(session, Label, [row])
        stored = session.exec(select(Label).where(Label.operation == operation)).one_or_none()
        if stored is None:
            raise StaleAnswer(
                "You have saved another answer to this conversation since this page was opened."
            )
        if kept := session.get(Draft, assignment.id):
            session.delete(kept)
    return stored


def record_exposure(engine: Engine, rater_id: int, code: str) -> None:
    """Put on record that an item was sent to a rater now."""
    with writing(engine) as session:
        session.add(Exposure(rater_id=rater_id, assignment_id=_id(_own(session, rater_id, code))))


def accept_protocol(engine: Engine, rater_id: int) -> None:
    """Put on record that a rater has read how to rate."""
    with writing(engine) as session:
        session.get_one(Rater, rater_id).protocol_accepted_at = datetime.now(UTC)


def _own(session: Session, rater_id: int, code: str) -> Assignment:
    found = session.exec(
        select(Assignment).where(Assignment.code == code, Assignment.rater_id == rater_id)
    ).one_or_none()
    if found is None:
        raise LabelRefused("This conversation is not in your list.")
    return found


def _id(assignment: Assignment) -> int:
    if assignment.id is None:
        raise LabelRefused("This conversation is not in your list.")
    return assignment.id


def _newest_revision(session: Session, assignment: Assignment) -> int:
    return (
        session.exec(select(func.max(Label.revision)).where(Label.assignment_id == assignment.id)).one() or 0
    )
