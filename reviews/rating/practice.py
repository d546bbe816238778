"""The practice round: conversations to try the desk on, with the answer of a careful rater. Nothing of it is stored."""

from dataclasses import dataclass

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import LabelVerdict, Polarity
from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, ReviewSet
from reviews.blinding import BlindItem, blind_turns, put_question
from reviews.design.ordering import SCALE
from reviews.desk import OnDesk
from reviews.rating.questions import rubric_of
from reviews.rating.worklist import in_list
from reviews.rubrics import Elicitation, Exercise

_CODE = "practice-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """What a rater may practise on, asked as in their own reviews."""

    elicitation: Elicitation
    exercises: tuple[Exercise, ...]


def practice_of(engine: Engine, rater_id: int) -> Practice:
    """The exercises of a rater's newest review set that has any; none where there is none."""
    with reading(engine) as session:
        sets = session.exec(
            select(ReviewSet)
            .where(col(ReviewSet.id).in_(select(Assignment.review_set_id).where(*in_list(rater_id))))
            .order_by(col(ReviewSet.id).desc())
        ).all()
    rubrics = [rubric for one in sets if (rubric := rubric_of(one)).practice]
    if not rubrics:
        return Practice(elicitation="three_buttons", exercises=())
    return Practice(elicitation=rubrics[0].elicitation, exercises=rubrics[0].practice)


def put_on_desk(practice: Practice, number: int, *, attempt: int) -> OnDesk:
    """An exercise (counted from 0) as the desk shows it; each attempt begins with nothing chosen."""
    exercise = practice.exercises[number]
    roles = {"Person": "user", "Chatbot": "assistant"}
    turns = [{"role": roles[speaker], "content": text} for speaker, text in exercise.exchange]
    return OnDesk(
        item=BlindItem(
            code=f"{_CODE}{number}-{attempt}",
            position=number + 1,
            total=len(practice.exercises),
            asked=put_question(Polarity.POSITIVE, exercise.question, exercise.definition, ""),
            turns=blind_turns(turns),
            option_order=tuple(LabelVerdict(option) for option in SCALE),
        ),
        elicitation=practice.elicitation,
        asked=(),
        disclosed=(),
        label=None,
        responses={},
        draft=None,
        done=number,
        previous=None,
        active_seconds=0,
        last_saved_at=None,
    )


def is_practice(code: str) -> bool:
    """Whether a code is of an exercise: nothing that is sent about it may be stored.

    The codes of real items are drawn by lot and as long; none begins like this.
    """
    return code.startswith(_CODE)
