"""The end of collecting: a review set is locked once, and from then on nothing is rated."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine, func
from sqlmodel import col, select

from impactbench.store.engine import writing
from impactbench.store.tables import Assignment, Label
from reviews.slots import find_set


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """A review set after its lock."""

    slug: str
    locked_at: datetime
    newly: bool
    """False where it had been locked before; then the time is that of the first lock."""
    answered: int
    """Assignments with an answer."""
    waiting: int
    """Assignments without one, which are asked no more; slots given up are not counted."""


def lock_set(engine: Engine, study: str, slug: str, *, now: datetime | None = None) -> Locked:
    """Lock a review set; one that is locked stays as it is.

    Raises:
        PlanRefused: there is no such set.
    """
    with writing(engine) as session:
        review_set = find_set(session, study, slug, lock=True)
        newly = review_set.locked_at is None
        locked_at = review_set.locked_at or now or datetime.now(UTC)
        review_set.locked_at = locked_at
        answered, waiting = session.exec(
            select(
                func.count(col(Label.id)),
                func.count(col(Assignment.id)).filter(
                    col(Label.id).is_(None), col(Assignment.released_at).is_(None)
                ),
            )
            .select_from(Assignment)
            .outerjoin(Label, (col(Label.assignment_id) == Assignment.id) & (col(Label.revision) == 1))
            .where(Assignment.review_set_id == review_set.id)
        ).one()
    return Locked(slug=slug, locked_at=locked_at, newly=newly, answered=answered, waiting=waiting)
