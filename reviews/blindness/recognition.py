"""Whether blinding held: what raters answered when they were asked, at the end, if they had recognised a model."""

from dataclasses import dataclass

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, Response, ReviewSet, Study
from reviews.rating.questions import CLOSING, rubric_of
from validation.intervals import wilson
from validation.results import Estimate

RECOGNISED, WHICH = "recognised_model", "recognised_which"
"""The ids that a rubric gives to the two questions."""
_NOT = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """How the raters of one review set answered."""

    review_set: str
    asked: int
    """Raters with something to rate in the set."""
    answered: dict[str, int]
    """How many raters gave each answer, in the order of the rubric's options."""
    recognised: Estimate
    """The share of those who answered that believe to have recognised a model, be it in a few conversations."""
    remarks: tuple[str, ...]
    """Which model, and by what: in the raters' words, in alphabetical order, which tells nothing of who wrote them."""

    @property
    def waiting(self) -> int:
        """Raters who have not come to the question yet."""
        return self.asked - sum(self.answered.values())


def recognition(engine: Engine, study: str) -> list[Recognition]:
    """The review sets of a study whose rubric asks whether a model was recognised, in the order in which they were opened."""
    found = []
    with reading(engine) as session:
        sets = session.exec(
            select(ReviewSet)
            .join(Study, col(Study.id) == ReviewSet.study_id)
            .where(Study.slug == study, ReviewSet.origin == "design")
            .order_by(col(ReviewSet.id))
        ).all()
        for one in sets:
            asks = [question for question in rubric_of(one).closing if question.id == RECOGNISED]
            if not asks:
                continue
            seats = select(Assignment.rater_id).where(
                Assignment.review_set_id == one.id, col(Assignment.released_at).is_(None)
            )
            responses = session.exec(
                select(Response)
                .where(Response.review_set_id == one.id, Response.subject == CLOSING)
                .order_by(col(Response.revision))
            ).all()
            newest = {(said.question, said.rater_id): said.value for said in responses}
            given = [value for (question, _), value in newest.items() if question == RECOGNISED]
            asked = set(session.exec(seats.distinct()).all()) | {said.rater_id for said in responses}
            found.append(
                Recognition(
                    review_set=one.slug,
                    asked=len(asked),
                    answered={option: given.count(option) for option in asks[0].options},
                    recognised=wilson(sum(value != _NOT for value in given), len(given)),
                    remarks=tuple(
                        sorted(str(value) for (question, _), value in newest.items() if question == WHICH)
                    ),
                )
            )
    return found
