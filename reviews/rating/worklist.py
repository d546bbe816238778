"""A rater's list: what they were asked to rate in their own frozen order, how far they are, and what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Engine, Integer, Text, and_, bindparam, func, or_
from sqlalchemy.orm import aliased
from sqlmodel import col, select

from impactbench.store.engine import reading, reading_rows
from impactbench.store.tables import Assignment, Label, ReviewSet
from reviews.rating.own import Rows
from reviews.rating.questions import OpenQuestions, first_open
from reviews.rating.repeat_spacing import is_due, rested_before


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
    with reading_rows(engine) as rows:
        done, total = rows.execute(_PROGRESS, {"rater": rater_id}).one()
    return done, total


def what_follows(
    engine: Engine, rater_id: int, *, after: str | None = None
) -> tuple[OpenQuestions | None, str | None]:
    """The questions that are due before anything else, and the next item; None and None where all is answered.

    The next item is the first without an answer behind `after`, else the first of all. A hidden repeat is passed over until
    enough lies between it and the earlier answer.
    """
    with reading_rows(engine) as rows:
        return first_open(rows, rater_id), _next_code(rows, rater_id, after)


def _next_code(rows: Rows, rater_id: int, after: str | None) -> str | None:
    asked = {"rater": rater_id, "rested": rested_before()}
    behind = rows.scalar(_FOLLOWING, {**asked, "after": after}) if after else None
    return behind or rows.scalar(_FIRST, asked)


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
_PROGRESS = (
    select(func.count(col(Label.id)), func.count(col(Assignment.id)))
    .select_from(Assignment)
    .outerjoin(Label, and_(col(Label.assignment_id) == Assignment.id, col(Label.revision) == 1))
    .where(*in_list(_RATER))
)
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
