"""Whether blinding held: what raters answered when they were asked, at the end, if they had recognised a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, Response, ReviewSet, Study
from reviews.rating.questions import CLOSING, rubric_of
from validation.intervals import wilson
from validation.results import Estimate

RECOGNISED, WHICH = "recognised_model", "recognised_which"
"""The ids that a rubric gives to the two questions."""
COLUMNS = ("review_set", "answer", "remark")
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
    with reading(engine) as session:
        options = {one.slug: _options(one) for one in _asking(session, study)}
    return summarised(answers(engine, study), options)


def answers(engine: Engine, study: str) -> pd.DataFrame:
    """One row a rater who is asked: review_set, answer (empty: not yet), remark. Nothing in it tells who the rater is."""
    rows: list[tuple[str, str, str]] = []
    with reading(engine) as session:
        for one in _asking(session, study):
            seats = select(Assignment.rater_id).where(
                Assignment.review_set_id == one.id, col(Assignment.released_at).is_(None)
            )
            responses = session.exec(
                select(Response)
                .where(Response.review_set_id == one.id, Response.subject == CLOSING)
                .order_by(col(Response.revision))
            ).all()
            newest = {(said.question, said.rater_id): str(said.value) for said in responses}
            asked = set(session.exec(seats.distinct()).all()) | {said.rater_id for said in responses}
            place = {option: number for number, option in enumerate(_options(one))}
            found = [
                (one.slug, newest.get((RECOGNISED, rater), ""), newest.get((WHICH, rater), ""))
                for rater in asked
            ]
            rows += sorted(found, key=lambda row: (place.get(row[1], len(place)), row[2]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def summarised(said: pd.DataFrame, options: Mapping[str, Sequence[str]] | None = None) -> list[Recognition]:
    """What the answers of each review set come to.

    Args:
        said: as `answers` gives them.
        options: review set -> the answers that could be given, to name those as well that nobody gave.
    """
    found = []
    for name, rows in said.groupby("review_set", sort=False) if len(said) else ():
        given = [answer for answer in rows["answer"] if answer]
        possible = dict.fromkeys((*(options or {}).get(str(name), ()), *given))
        found.append(
            Recognition(
                review_set=str(name),
                asked=len(rows),
                answered={option: given.count(option) for option in possible},
                recognised=wilson(sum(answer != _NOT for answer in given), len(given)),
                remarks=tuple(sorted(remark for remark in rows["remark"] if remark)),
            )
        )
    return found


def _asking(session: Session, study: str) -> list[ReviewSet]:
    sets = session.exec(
        select(ReviewSet)
        .join(Study, col(Study.id) == ReviewSet.study_id)
        .where(Study.slug == study, ReviewSet.origin == "design")
        .order_by(col(ReviewSet.id))
    ).all()
    return [one for one in sets if _options(one)]


def _options(one: ReviewSet) -> tuple[str, ...]:
    """The answers that may be given; none where the rubric does not ask."""
    return next(
        (tuple(question.options) for question in rubric_of(one).closing if question.id == RECOGNISED), ()
    )
