"""What a rater is told before they begin: how much it is, how they are asked, what may be hard to read."""

from dataclasses import dataclass

from sqlalchemy import Engine, func
from sqlmodel import col, select

from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, ReviewSet
from reviews.rating.questions import rubric_of
from reviews.rating.worklist import in_list
from reviews.rubrics import Elicitation, WorkedExample


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """All that a rater was given, as their rubrics describe it."""

    minutes: float
    elicitations: frozenset[Elicitation]
    """How verdicts are asked for; `none` where nothing but the rubric's own questions is."""
    shows_verdict: bool
    """Whether a set shows the automatic verdict, on purpose."""
    notes: tuple[str, ...]
    """On the content of the conversations."""
    examples: tuple[WorkedExample, ...]


def arrival(engine: Engine, rater_id: int) -> Arrival:
    """What the review sets of a rater's list ask of them."""
    with reading(engine) as session:
        counts = session.exec(
            select(ReviewSet, func.count(col(Assignment.id)))
            .join(Assignment, col(Assignment.review_set_id) == ReviewSet.id)
            .where(*in_list(rater_id))
            .group_by(col(ReviewSet.id))
        ).all()
    rubrics = [(rubric_of(review_set), number) for review_set, number in counts]
    return Arrival(
        minutes=sum(rubric.minutes_each * number for rubric, number in rubrics),
        elicitations=frozenset(rubric.elicitation for rubric, _ in rubrics),
        shows_verdict=any(rubric.anchored for rubric, _ in rubrics),
        notes=tuple(dict.fromkeys(rubric.content_note for rubric, _ in rubrics if rubric.content_note)),
        examples=tuple(dict.fromkeys(example for rubric, _ in rubrics for example in rubric.examples)),
    )
