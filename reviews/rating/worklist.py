"""A rater's list: what they were asked to rate in their own frozen order, how far they are, and what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Engine, Integer, Text, and_, bindparam, func, or_
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, Label, ReviewSet
from reviews.rating.questions import rubric_of
from reviews.rating.repeat_spacing import is_due, rested_before
from reviews.rubrics import WorkedExample


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An item that a rater has answered, with every revision of the answer, oldest first."""

    code: str
    position: int
    said: tuple[Label, ...]


def codes(engine: Engine, rater_id: int) -> list[str]:
    """The codes of everything that a rater was asked to rate, in order."""
    with reading(engine) as session:
        return list(session.exec(_ordered(select(Assignment.code), rater_id)).all())


def count_items(engine: Engine, rater_id: int) -> tuple[int, int]:
    """(answered, asked): how far a rater is."""
    with reading(engine) as session:
        return progress(session, rater_id)


def what_is_asked(engine: Engine, rater_id: int) -> tuple[float, tuple[str, ...], tuple[WorkedExample, ...]]:
    """How many minutes all of a rater's items take by their rubrics, with the content notes and examples of these."""
    with reading(engine) as session:
        counts = session.exec(
            select(ReviewSet, func.count(col(Assignment.id)))
            .join(Assignment, col(Assignment.review_set_id) == ReviewSet.id)
            .where(*in_list(rater_id))
            .group_by(col(ReviewSet.id))
        ).all()
    rubrics = [(rubric_of(review_set), number) for review_set, number in counts]
    notes = dict.fromkeys(rubric.content_note for rubric, _ in rubrics if rubric.content_note)
    examples = dict.fromkeys(example for rubric, _ in rubrics for example in rubric.examples)
    return sum(rubric.minutes_each * number for rubric, number in rubrics), tuple(notes), tuple(examples)


def next_code(engine: Engine, rater_id: int, *, after: str | None = None) -> str | None:
    """The first item without an answer behind `after`, else the first of all; None where everything is answered.

    A hidden repeat is passed over until enough lies between it and the earlier answer.
    """
    asked = {"rater": rater_id, "rested": rested_before()}
    with reading(engine) as session:
        following = session.scalar(_FOLLOWING, {**asked, "after": after}) if after else None
        return following or session.scalar(_FIRST, asked)


def answered(engine: Engine, rater_id: int) -> list[Answered]:
    """Everything that a rater has answered, in their order.

    What they said of a conversation that they are being asked about again is left out until they have answered again:
    it would be a reminder.
    """
    with reading(engine) as session:
        listed = session.exec(_ordered(select(Assignment.id, Assignment.code), rater_id)).all()
        reminders = set(session.scalars(_REMINDERS, {"rater": rater_id}).all())
        labels: dict[int, list[Label]] = {}
        for label in session.exec(
            select(Label)
            .join(Assignment, col(Assignment.id) == Label.assignment_id)
            .where(Assignment.rater_id == rater_id)
            .order_by(col(Label.revision))
        ).all():
            labels.setdefault(label.assignment_id, []).append(label)
    return [
        Answered(code=code, position=position, said=tuple(labels[number]))
        for position, (number, code) in enumerate(listed, start=1)
        if number in labels and number not in reminders
    ]


def progress(session: Session, rater_id: int) -> tuple[int, int]:
    """(answered, asked)."""
    done, total = session.exec(
        select(func.count(col(Label.id)), func.count(col(Assignment.id)))
        .select_from(Assignment)
        .outerjoin(Label, and_(col(Label.assignment_id) == Assignment.id, col(Label.revision) == 1))
        .where(*in_list(rater_id))
    ).one()
    return done, total


def in_list(rater_id: int | BindParameter[int]) -> Sequence[ColumnElement[bool]]:
    """The rater's assignments of review sets made here, but for those given to somebody else before an answer came."""
    released_unanswered = and_(
        col(Assignment.released_at).is_not(None),
        ~select(Label.id).where(Label.assignment_id == Assignment.id).correlate(Assignment).exists(),
    )
    designed = col(Assignment.review_set_id).in_(select(ReviewSet.id).where(ReviewSet.origin == "design"))
    return col(Assignment.rater_id) == rater_id, designed, ~released_unanswered


def before(review_set_id: Any, position: Any) -> ColumnElement[bool]:
    """Whether an assignment of the rater comes before a place in their list."""
    return or_(
        col(Assignment.review_set_id) < review_set_id,
        and_(col(Assignment.review_set_id) == review_set_id, col(Assignment.position) < position),
    )


_RATER = bindparam("rater", type_=Integer)
_AGAIN = aliased(Assignment)
_REMINDERS = (
    select(Assignment.id)
    .join(
        _AGAIN,
        and_(
            col(_AGAIN.rater_id) == Assignment.rater_id,
            col(_AGAIN.conversation_id) == Assignment.conversation_id,
            col(_AGAIN.metric_version_id) != Assignment.metric_version_id,
        ),
    )
    .join(ReviewSet, col(ReviewSet.id) == _AGAIN.review_set_id)
    .outerjoin(Label, col(Label.assignment_id) == _AGAIN.id)
    .where(
        Assignment.rater_id == _RATER,
        col(Label.id).is_(None),
        col(ReviewSet.locked_at).is_(None),
        col(_AGAIN.released_at).is_(None),
    )
)
_FIRST = (
    select(Assignment.code)
    .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
    .outerjoin(Label, col(Label.assignment_id) == Assignment.id)
    .where(*in_list(_RATER), col(Label.id).is_(None), col(ReviewSet.locked_at).is_(None), is_due())
    .order_by(col(Assignment.review_set_id), col(Assignment.position))
    .limit(1)
)


def _of_start(column: Any) -> Any:
    """A column of the item that the rater comes from; null where it is none of theirs, and then nothing follows."""
    start = aliased(Assignment)
    theirs = (col(start.code) == bindparam("after", type_=Text), col(start.rater_id) == _RATER)
    return select(getattr(start, column.key)).where(*theirs).correlate(None).scalar_subquery()


_FOLLOWING = _FIRST.where(
    or_(
        col(Assignment.review_set_id) > _of_start(Assignment.review_set_id),
        and_(
            col(Assignment.review_set_id) == _of_start(Assignment.review_set_id),
            col(Assignment.position) > _of_start(Assignment.position),
        ),
    )
)


def _ordered(query: Any, rater_id: int) -> Any:
    return query.where(*in_list(rater_id)).order_by(col(Assignment.review_set_id), col(Assignment.position))
