"""A rater's list: what they were asked to rate in their own frozen order, how far they are, and what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Engine, and_, func, or_
from sqlmodel import Session, col, select

from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, Label, ReviewSet
from reviews.questions import rubric_of
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
    """The first item without an answer behind `after`, else the first of all; None where everything is answered."""
    waiting = (
        select(Assignment.code)
        .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
        .outerjoin(Label, col(Label.assignment_id) == Assignment.id)
        .where(*in_list(rater_id), col(Label.id).is_(None), col(ReviewSet.locked_at).is_(None))
        .order_by(col(Assignment.review_set_id), col(Assignment.position))
        .limit(1)
    )
    with reading(engine) as session:
        start = session.exec(
            select(Assignment).where(Assignment.code == after, Assignment.rater_id == rater_id)
        ).first()
        following = session.exec(waiting.where(behind(start))).first() if start else None
        return following or session.exec(waiting).first()


def answered(engine: Engine, rater_id: int) -> list[Answered]:
    """Everything that a rater has answered, in their order."""
    with reading(engine) as session:
        listed = session.exec(_ordered(select(Assignment.id, Assignment.code), rater_id)).all()
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
        if number in labels
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


def in_list(rater_id: int) -> Sequence[ColumnElement[bool]]:
    """The rater's assignments of review sets made here, but for those given to somebody else before an answer came."""
    released_unanswered = and_(
        col(Assignment.released_at).is_not(None),
        ~select(Label.id).where(Label.assignment_id == Assignment.id).correlate(Assignment).exists(),
    )
    designed = col(Assignment.review_set_id).in_(select(ReviewSet.id).where(ReviewSet.origin == "design"))
    return col(Assignment.rater_id) == rater_id, designed, ~released_unanswered


def before(assignment: Assignment) -> ColumnElement[bool]:
    """Whether another assignment of the rater comes before this one."""
    return or_(
        col(Assignment.review_set_id) < assignment.review_set_id,
        and_(
            col(Assignment.review_set_id) == assignment.review_set_id,
            col(Assignment.position) < assignment.position,
        ),
    )


def behind(assignment: Assignment) -> ColumnElement[bool]:
    return or_(
        col(Assignment.review_set_id) > assignment.review_set_id,
        and_(
            col(Assignment.review_set_id) == assignment.review_set_id,
            col(Assignment.position) > assignment.position,
        ),
    )


def _ordered(query: Any, rater_id: int) -> Any:
    return query.where(*in_list(rater_id)).order_by(col(Assignment.review_set_id), col(Assignment.position))
