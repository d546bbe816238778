"""The rater's desk: what is to be rated, what was said, and the one way in which a label comes to be."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Integer, Text, bindparam, cast, delete, func, insert
from sqlmodel import Session, col, select

from impactbench.domain import LabelVerdict
from impactbench.store.engine import (
    insert_if_absent,
    put,
    reading,
    reading_rows,
    writing,
    writing_rows,
)
from impactbench.store.tables import (
    Assignment,
    Draft,
    Exposure,
    Label,
    Rater,
    ReviewSet,
)
from impactbench.store.types import UTCDateTime
from reviews.blinding import BlindItem, put_question
from reviews.blindness.disclosure import Disclosed, disclosed
from reviews.labels import DEFENSIBLE, Answer, LabelRefused, StaleAnswer
from reviews.rating.own import IS_OWN, NOT_YOURS, Own, own
from reviews.rating.questions import check, item_questions, item_responses, keep_item_responses, read_rubric
from reviews.rating.visit import place, seat
from reviews.rubrics import Elicitation, Question, Rubric

LARGEST_DRAFT = 100_000
"""Characters of a draft, as JSON; far beyond what anybody types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDesk:
    """Everything that the rating page needs of one item, read at one moment."""

    item: BlindItem
    elicitation: Elicitation
    asked: tuple[Question, ...]
    """The questions besides the verdict that are due with this item."""
    disclosed: tuple[Disclosed, ...]
    """What the rubric shows besides the conversation; nothing in a blind review."""
    label: Label | None
    """The rater's own newest answer."""
    responses: dict[str, Any]
    draft: Draft | None
    done: int
    previous: str | None
    active_seconds: float
    """Time that the rater has spent on answers so far."""
    last_saved_at: datetime | None


def take_up(engine: Engine, rater_id: int, code: str) -> OnDesk:
    """The item behind a code, as the rater may see it, with their own work on it.

    Raises:
        LabelRefused: the code is not one of this rater's.
    """
    with reading_rows(engine) as rows:
        found = seat(engine, rows, rater_id, code)
        if found is None:
            raise LabelRefused(NOT_YOURS)
        label, at = found.label, place(rows, found.own)
        return OnDesk(
            item=BlindItem(
                code=found.own.code,
                position=at.position,
                total=at.total,
                asked=put_question(*found.metric),
                turns=found.turns,
                option_order=tuple(LabelVerdict(option) for option in found.option_order),
            ),
            elicitation=found.rubric.elicitation,
            asked=item_questions(rows, found.own, found.rubric),
            disclosed=_disclosed(rows, found.own, found.rubric),
            label=label,
            responses=item_responses(rows, found.own, label.revision) if label else {},
            draft=found.draft,
            done=at.done,
            previous=at.previous,
            active_seconds=at.active_seconds,
            last_saved_at=at.last_saved_at,
        )


def history(engine: Engine, rater_id: int, code: str) -> list[Label]:
    """Every revision of a rater's own label of an item, oldest first."""
    with reading(engine) as session:
        mine = Label.assignment_id == own(session, rater_id, code).id
        return list(session.exec(select(Label).where(mine).order_by(col(Label.revision))).all())


def keep_draft(
    engine: Engine, rater_id: int, code: str, content: dict[str, Any], *, base_revision: int
) -> bool:
    """Keep what the rater has begun; False where a newer label made it stale, and then nothing is kept.

    Raises:
        LabelRefused: the item is not this rater's, or the draft is larger than anybody can mean it.
    """
    if len(json.dumps(content)) > LARGEST_DRAFT:
        raise LabelRefused("This text is too long to be kept. Please shorten it.")
    with writing_rows(engine) as rows:
        assignment = own(rows, rater_id, code).id
        if _newest_revision(rows, assignment) != base_revision:
            return False
        put(
            rows,
            Draft,
            {"assignment_id": assignment, "content": content, "updated_at": datetime.now(UTC)},
        )
    return True


def save(engine: Engine, rater_id: int, code: str, answer: Answer, *, base_revision: int) -> Label:
    """Store an answer as the next revision of the rater's label of an item.

    The same answer on the same revision is stored once, however often it is sent.

    Args:
        base_revision: the revision that the rater saw when answering; 0 where there was none.

    Raises:
        StaleAnswer: another answer was stored meanwhile; nothing is overwritten.
        LabelRefused: the item is not this rater's, its set is closed, or the answer lacks what the rubric asks.
    """
    with writing_rows(engine) as rows:
        mine = own(rows, rater_id, code)
        operation = answer.operation(assignment_id=mine.id, base_revision=base_revision)
        if (stored := _stored(rows, operation)) is not None:
            return stored
        frozen, locked_at = rows.execute(_TERMS, {"in_set": mine.review_set_id}).one()
        if locked_at is not None:
            raise LabelRefused("This review has been closed; answers can no longer be changed.")
        rubric = read_rubric(frozen)
        check(answer, rubric, item_questions(rows, mine, rubric))
        if base_revision <= _newest_revision(rows, mine.id):
            row = _row(mine.id, answer, base_revision + 1, operation, rubric.elicitation)
            insert_if_absent(rows, Label, [row])
        stored = _stored(rows, operation)
        if stored is None:
            raise StaleAnswer(
                "You have saved another answer to this conversation since this page was opened."
            )
        keep_item_responses(rows, mine, rubric, stored, answer)
        rows.execute(_DROP_DRAFT, {"assignment": mine.id})
    return stored


def record_exposure(engine: Engine, rater_id: int, code: str) -> None:
    """Put on record that an item was sent to a rater now."""
    with writing_rows(engine) as rows:
        seen = {"code": code, "rater": rater_id, "now": datetime.now(UTC)}
        if rows.execute(_EXPOSE, seen).rowcount == 0:
            raise LabelRefused(NOT_YOURS)


def accept_protocol(engine: Engine, rater_id: int) -> None:
    """Put on record that a rater has read how to rate."""
    with writing(engine) as session:
        session.get_one(Rater, rater_id).protocol_accepted_at = datetime.now(UTC)


def _disclosed(rows: Connection, own: Own, rubric: Rubric) -> tuple[Disclosed, ...]:
    if not rubric.shows:
        return ()
    with Session(rows) as session:
        return disclosed(session, session.get_one(Assignment, own.id), rubric)


def _row(
    assignment: int, answer: Answer, revision: int, operation: str, elicitation: Elicitation
) -> dict[str, Any]:
    sets = elicitation == "response_set" and answer.verdict is not None
    return {
        "assignment_id": assignment,
        "revision": revision,
        "operation": operation,
        "status": answer.status,
        "verdict": answer.verdict,
        "response_set": DEFENSIBLE[answer.verdict] if sets and answer.verdict else None,
        "forced_choice": answer.forced_choice,
        "no_verdict_because": answer.no_verdict_because or "",
        "confidence": answer.confidence,
        "rationale": answer.rationale,
        "turns": list(answer.turns),
        "active_seconds": answer.active_seconds,
        "revised_because": answer.revised_because,
    }


_EXPOSE = (
    insert(Exposure)
    .from_select(
        ["rater_id", "assignment_id", "shown_at"],
        select(col(Assignment.rater_id), col(Assignment.id), bindparam("now", type_=UTCDateTime())).where(
            *IS_OWN
        ),
    )
    .execution_options(preserve_rowcount=True)
)
_NEWEST_REVISION = select(func.max(Label.revision)).where(
    Label.assignment_id == bindparam("assignment", type_=Integer)
)
_TERMS = select(cast(ReviewSet.rubric, Text), col(ReviewSet.locked_at)).where(
    col(ReviewSet.id) == bindparam("in_set", type_=Integer)
)
_STORED = select(*(getattr(Label, name) for name in Label.model_fields)).where(
    Label.operation == bindparam("operation", type_=Text)
)
_DROP_DRAFT = delete(Draft).where(col(Draft.assignment_id) == bindparam("assignment", type_=Integer))


def _newest_revision(rows: Connection, assignment: int) -> int:
    """0 where the rater has not answered."""
    return rows.scalar(_NEWEST_REVISION, {"assignment": assignment}) or 0


def _stored(rows: Connection, operation: str) -> Label | None:
    found = rows.execute(_STORED, {"operation": operation}).one_or_none()
    return None if found is None else Label(**found._mapping)
