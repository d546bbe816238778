"""The end of collecting: a review set is locked once, and from then on nothing is rated; later its results are reported.

Each step is taken once and not taken back: what has been shown cannot be unseen.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine, func
from sqlmodel import col, select

from impactbench.domain import ImpactBenchError
from impactbench.store.engine import writing
from impactbench.store.tables import Assignment, Label, ReviewSet, Study
from reviews.blindness.visibility import Stage, stage_of
from reviews.design.slots import find_set


class ReportRefused(ImpactBenchError):
    """A study whose results cannot be called public yet; the text says what comes first."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The review sets of a study whose results are public."""

    sets: tuple[str, ...]
    newly: tuple[str, ...]
    """Those of them that had not been before."""


def mark_reported(engine: Engine, study: str, *, now: datetime | None = None) -> Reported:
    """Put on record that the results of a study are public, so that its raters may see what was hidden from them.

    Raises:
        ReportRefused: there is no such study or nothing to report, or somebody still rates.
    """
    with writing(engine) as session:
        sets = session.exec(
            select(ReviewSet)
            .join(Study, col(Study.id) == ReviewSet.study_id)
            .where(Study.slug == study)
            .order_by(col(ReviewSet.id))
            .with_for_update(of=ReviewSet)
        ).all()
        if not sets:
            raise ReportRefused(f"the study {study!r} has no review set, so there is nothing to report")
        still_open = [one.slug for one in sets if stage_of(one) is Stage.COLLECTING]
        if still_open:
            raise ReportRefused(
                f"the review set {still_open[0]!r} is still open, and its raters must not see results: lock it first with "
                f"`impactbench review lock {study} --set {still_open[0]}`"
            )
        newly = [one for one in sets if one.reported_at is None]
        for one in newly:
            one.reported_at = now or datetime.now(UTC)
    return Reported(sets=tuple(one.slug for one in sets), newly=tuple(one.slug for one in newly))
