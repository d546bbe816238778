"""The rater's desk: what is to be rated, what was said, and the one way in which a label comes to be."""

import json
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
from reviews.blinding import BlindItem, ask, blind_turns
from reviews.disclosure import Disclosed, disclosed
from reviews.labels import DEFENSIBLE, Answer, LabelRefused, StaleAnswer
from reviews.leak_scan import hidden_spans
from reviews.questions import check, item_questions, item_responses, keep_item_responses, rubric_of
from reviews.rubrics import Elicitation, Question
from reviews.worklist import before, in_list, progress

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
    with reading(engine) as session:
        assignment = _own(session, rater_id, code)
        review_set = session.get_one(ReviewSet, assignment.review_set_id)
        rubric = rubric_of(review_set)
        label = _newest(session, assignment)
        done, total = progress(session, rater_id)
        passed = session.exec(
            select(func.count(col(Assignment.id))).where(*in_list(rater_id), before(assignment))
        ).one()
        previous = session.exec(
            select(Assignment.code)
            .where(*in_list(rater_id), before(assignment))
            .order_by(col(Assignment.review_set_id).desc(), col(Assignment.position).desc())
            .limit(1)
        ).first()
        seconds, last = session.exec(
            select(func.sum(Label.active_seconds), func.max(Label.created_at))
            .join(Assignment, col(Assignment.id) == Label.assignment_id)
            .where(Assignment.rater_id == rater_id)
        ).one()
        return OnDesk(
            item=_blind(session, assignment, position=passed + 1, total=total),
            elicitation=rubric.elicitation,
            asked=item_questions(session, assignment, rubric),
            disclosed=disclosed(session, assignment, rubric),
            label=label,
            responses=item_responses(session, assignment, label.revision) if label else {},
            draft=session.get(Draft, assignment.id),
            done=done,
            previous=previous,
            active_seconds=float(seconds or 0),
            last_saved_at=last,
        )


def history(engine: Engine, rater_id: int, code: str) -> list[Label]:
    """Every revision of a rater's own label of an item, oldest first."""
    with reading(engine) as session:
        mine = Label.assignment_id == _own(session, rater_id, code).id
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
    with writing(engine) as session:
        assignment = _own(session, rater_id, code)
        newest = _newest(session, assignment)
        if (newest.revision if newest else 0) != base_revision:
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
        LabelRefused: the item is not this rater's, its set is closed, or the answer lacks what the rubric asks.
    """
    with writing(engine) as session:
        assignment = _own(session, rater_id, code)
        operation = answer.operation(assignment_id=_id(assignment), base_revision=base_revision)
        stored = session.exec(select(Label).where(Label.operation == operation)).one_or_none()
        if stored is not None:
            return stored
        review_set = session.get_one(ReviewSet, assignment.review_set_id)
        if review_set.locked_at is not None:
            raise LabelRefused("This review has been closed; answers can no longer be changed.")
        rubric = rubric_of(review_set)
        check(answer, rubric, item_questions(session, assignment, rubric))
        newest = _newest(session, assignment)
        if base_revision <= (newest.revision if newest else 0):
            insert_if_absent(
                session, Label, [_row(assignment, answer, base_revision + 1, operation, rubric.elicitation)]
            )
        stored = session.exec(select(Label).where(Label.operation == operation)).one_or_none()
        if stored is None:
            raise StaleAnswer(
                "You have saved another answer to this conversation since this page was opened."
            )
        keep_item_responses(session, assignment, rubric, stored, answer)
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


def _row(
    assignment: Assignment, answer: Answer, revision: int, operation: str, elicitation: Elicitation
) -> dict[str, Any]:
    sets = elicitation == "response_set" and answer.verdict is not None
    return {
        "assignment_id": assignment.id,
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


def _blind(session: Session, assignment: Assignment, *, position: int, total: int) -> BlindItem:
    conversation = session.get_one(Conversation, assignment.conversation_id)
    version = session.get_one(MetricVersion, assignment.metric_version_id)
    models = session.exec(
        select(Model.slug, Model.family, Model.provider)
        .where(
            col(Model.id).in_(
                select(Conversation.model_id)
                .join(Run, col(Run.id) == Conversation.run_id)
                .where(Run.study_id == assignment.study_id)
            )
        )
        .order_by(Model.slug)
    ).all()
    definition = MetricDefinition.model_validate(
        version.model_dump(include=set(MetricDefinition.model_fields))
    )
    return BlindItem(
        code=assignment.code,
        position=position,
        total=total,
        asked=ask(definition),
        turns=blind_turns(
            conversation.turns,
            hidden_spans=hidden_spans(session, assignment.conversation_id, conversation.turns, models),
        ),
        option_order=tuple(LabelVerdict(option) for option in assignment.option_order),
    )


def _own(session: Session, rater_id: int, code: str) -> Assignment:
    found = session.exec(
        select(Assignment)
        .join(Rater, col(Rater.id) == Assignment.rater_id)
        .where(Assignment.code == code, Assignment.rater_id == rater_id, col(Rater.active))
    ).one_or_none()
    if found is None:
        raise LabelRefused("This conversation is not in your list.")
    return found


def _newest(session: Session, assignment: Assignment) -> Label | None:
    mine = select(Label).where(Label.assignment_id == assignment.id)
    return session.exec(mine.order_by(col(Label.revision).desc()).limit(1)).first()


def _id(assignment: Assignment) -> int:
    if assignment.id is None:
        raise LabelRefused("This conversation is not in your list.")
    return assignment.id
