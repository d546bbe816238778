"""When a hidden repeat may be served: far enough behind the first showing that nobody answers from memory."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Engine, bindparam, func, or_, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, Label, ReviewSet
from impactbench.store.types import UTCDateTime
from reviews.design.ordering import REPEAT_DISTANCE

REST = timedelta(hours=48)
"""After which a repeat may come however few items lay between."""
RESTED: BindParameter[datetime] = bindparam("rested", type_=UTCDateTime())
"""The moment before which a first answer must have been given for its repeat to be due by time."""


def rested_before(now: datetime | None = None) -> datetime:
    """What to bind to `RESTED`."""
    return (now or datetime.now(UTC)) - REST


def is_due() -> ColumnElement[bool]:
    """Whether an assignment may be served: it is no repeat, or 15 items or 48 hours lie behind the earlier answer."""
    earlier, said = aliased(Assignment), aliased(Label)
    own, since = aliased(Assignment), aliased(Label)
    answers_since = (
        select(func.count(col(since.id)))
        .join(own, col(own.id) == col(since.assignment_id))
        .where(
            col(own.rater_id) == col(earlier.rater_id),
            col(since.revision) == 1,
            col(since.created_at) > col(said.created_at),
        )
        .correlate(earlier, said)
        .scalar_subquery()
    )
    rested = (
        _earlier_answer(earlier, said)
        .where(or_(col(said.created_at) <= RESTED, answers_since >= REPEAT_DISTANCE))
        .exists()
    )
    return or_(col(Assignment.repeat) == 0, rested)


def next_due_at(engine: Engine, rater_id: int) -> datetime | None:
    """When the next repeat that waits will be due by time; None where none waits for an answer given before."""
    earlier, said = aliased(Assignment), aliased(Label)
    answered = (
        select(col(Label.id)).where(col(Label.assignment_id) == col(Assignment.id)).correlate(Assignment)
    )
    first_answer = (
        select(col(said.created_at))
        .join(earlier, col(earlier.id) == col(said.assignment_id))
        .where(*_is_earlier(earlier), col(said.revision) == 1)
        .correlate(Assignment)
        .scalar_subquery()
    )
    query = (
        select(func.min(first_answer))
        .select_from(Assignment)
        .join(ReviewSet, col(ReviewSet.id) == col(Assignment.review_set_id))
        .where(
            col(Assignment.rater_id) == rater_id,
            col(Assignment.repeat) > 0,
            col(Assignment.released_at).is_(None),
            col(ReviewSet.locked_at).is_(None),
            ~answered.exists(),
        )
    )
    with reading(engine) as session:
        found = session.execute(query).scalar()
    return None if found is None else found + REST


def _earlier_answer(earlier: Any, said: Any) -> Any:
    return (
        select(col(said.id))
        .join(earlier, col(earlier.id) == col(said.assignment_id))
        .where(*_is_earlier(earlier), col(said.revision) == 1)
        .correlate(Assignment)
    )


def _is_earlier(earlier: Any) -> tuple[ColumnElement[bool], ...]:
    """Whether an assignment is the showing of the same item to the same rater before this one."""
    return (
        col(earlier.study_id) == col(Assignment.study_id),
        col(earlier.conversation_id) == col(Assignment.conversation_id),
        col(earlier.metric_version_id) == col(Assignment.metric_version_id),
        col(earlier.rater_id) == col(Assignment.rater_id),
        col(earlier.repeat) == col(Assignment.repeat) - 1,
    )
