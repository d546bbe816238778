"""The rubric's questions about a metric, or about the whole review, once its conversations are rated."""

from typing import Any

import streamlit as st

from app import workspace
from reviews.labels import LabelRefused
from reviews.rating.questions import OpenQuestions, respond
from reviews.rubrics import Question


def ask(rater_id: int, asked: OpenQuestions) -> None:
    """Put the questions, and keep the answers when they are complete."""
    closing = asked.subject == "set"
    st.title("Before you go" if closing else "A few questions about what you rated")
    if not closing:
        st.text(asked.title)
        st.text(asked.about)
    answers: dict[str, Any] = {}
    for question in asked.questions:
        if question.when is None or question.when.holds(answers):
            answers[question.id] = _put(question, f"{asked.review_set_id}-{asked.subject}-{question.id}")
    if st.button("Save and go on", key=f"respond-{asked.review_set_id}-{asked.subject}"):
        try:
            respond(workspace.engine(), rater_id, asked, answers)
        except LabelRefused as refusal:
            st.error(str(refusal))
        else:
            st.rerun()


def _put(question: Question, key: str) -> Any:
    title = question.ask + (" *" if question.required else "")
    match question.kind:
        case "text":
            return st.text_area(title, key=key)
        case "choice":
            return st.radio(title, question.options, index=None, key=key, horizontal=True)
        case _:
            values = list(range(question.lowest, question.highest + 1))
            low, high = question.ends
            ends = f" ({question.lowest} {low}, {question.highest} {high})" if low else ""
            return st.radio(title + ends, values, index=None, key=key, horizontal=True)
