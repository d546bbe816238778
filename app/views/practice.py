"""Practice: the desk as it will be, on conversations whose answer is known; nothing that is said here is kept."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from pydantic import ValidationError

from app import workspace
from app.components.rating_desk import rating_desk
from app.views.welcome import READING_WIDTH
from impactbench.domain import LabelVerdict, Role
from reviews.labels import REASONS, Answer
from reviews.rating.practice import Practice, practice_of, put_on_desk
from reviews.rubrics import Elicitation, Exercise

_AT, _SAID, _ATTEMPT, _FORMATTED = "practice-at", "practice-said", "practice-attempt", "practice-formatted"
_WORDS = {LabelVerdict.PASS: "Pass", LabelVerdict.BORDERLINE: "Borderline", LabelVerdict.FAIL: "Fail"}


def practice() -> None:
    """One exercise after the other: answer it, then compare."""
    looking = workspace.require_role(Role.EXPERT)
    found = practice_of(workspace.engine(), workspace.rater_id(looking))
    if not found.exercises:
        st.title("Practice")
        st.write("There is nothing to practise on for what you are asked to rate.")
        return
    asked = st.session_state
    number = asked.setdefault(_AT, 0)
    if number >= len(found.exercises):
        _done()
        return
    said = asked.get(_SAID)
    if said is not None:
        with st.container(width=READING_WIDTH):
            _compare(found, number, said)
        return
    st.markdown("**Practice: try the desk. Nothing you answer here is kept or counted.**")
    on_desk = put_on_desk(found, number, attempt=asked.setdefault(_ATTEMPT, 0))
    if rating_desk(on_desk, act=_act, formatted_view=asked.get(_FORMATTED, False)):
        st.rerun()


def _act(kind: str, sent: Mapping[str, Any]) -> None:
    """An answer leads to the comparison; a draft is forgotten."""
    match kind:
        case "save":
            try:
                st.session_state[_SAID] = Answer.model_validate(sent["answer"])
            except ValidationError:
                return
        case "view":
            st.session_state[_FORMATTED] = bool(sent["formatted"])
        case _:
            return


def _compare(found: Practice, number: int, said: Answer) -> None:
    exercise = found.exercises[number]
    alike = said.verdict is exercise.verdict
    st.title("As a careful rater would say" if alike else "A careful rater would say otherwise")
    st.text(f"You said: {_in_words(said, found.elicitation)}.")
    st.text(f"A careful rater: {_word(exercise.verdict, found.elicitation)}. {exercise.why}")
    if exercise.others:
        st.text(exercise.others)
    if not alike:
        st.write(
            "That is no mistake to worry about: what counts is that you can say why, by the description given."
        )
    _reread(exercise)
    again, go_on = st.columns(2)
    again.button("Try it again", on_click=_turn, args=(number,), width="stretch")
    last = number + 1 == len(found.exercises)
    go_on.button(
        "Finish" if last else "Next exercise",
        on_click=_turn,
        args=(number + 1,),
        width="stretch",
    )


def _reread(exercise: Exercise) -> None:
    with st.expander("The conversation again"):
        st.text(exercise.question)
        for speaker, text in exercise.exchange:
            st.text(f"{speaker}: {text}")


def _done() -> None:
    st.title("That was the practice")
    st.write("You can come back here at any time. Under “Rate” you begin, or go on where you left off.")
    st.button("Practise once more", on_click=_turn, args=(0,))


def _turn(number: int) -> None:
    """Go to an exercise, with nothing of an earlier attempt left."""
    st.session_state[_AT] = number
    st.session_state[_ATTEMPT] = st.session_state.get(_ATTEMPT, 0) + 1
    st.session_state.pop(_SAID, None)


def _in_words(said: Answer, elicitation: Elicitation) -> str:
    if said.no_verdict_because:
        return REASONS[said.no_verdict_because][0]
    return _word(said.verdict, elicitation) if said.verdict else "nothing"


def _word(verdict: LabelVerdict, elicitation: Elicitation) -> str:
    """A verdict as its button says."""
    both = verdict is LabelVerdict.BORDERLINE and elicitation == "response_set"
    return "Both" if both else _WORDS[verdict]
