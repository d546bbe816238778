"""The rubric's questions about a metric, or about the whole review, once its conversations are rated."""

from typing import Any

import streamlit as st

from app import workspace
from app.views.welcome import READING_WIDTH
from reviews.labels import LabelRefused
from reviews.rating.metric_asked import MetricAsked, metric_asked
from reviews.rating.questions import OpenQuestions, respond
from reviews.rubrics import Question


def ask(rater_id: int, asked: OpenQuestions) -> None:
    """Put the questions, and keep the answers when they are complete."""
    with st.container(width=READING_WIDTH):
        _ask(rater_id, asked)


def _ask(rater_id: int, asked: OpenQuestions) -> None:
    closing = asked.subject == "set"
    st.title("Before you go" if closing else "A few questions about what you rated")
    if not closing:
        st.header("The behaviour you have just rated")
        st.text(asked.title)
        st.text(asked.about)
        _illustrate(metric_asked(workspace.engine(), asked.subject))
    if any(question.required for question in asked.questions):
        st.caption("Questions with a star * need an answer.")
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


def _illustrate(metric: MetricAsked) -> None:
    """The examples that the questions ask about, and what the behaviour is meant to measure."""
    if metric.subareas:
        st.text(f"It is meant to say something about: {', '.join(metric.subareas)}.")
    for title, examples in (
        ("Examples in which the chatbot does this", metric.present),
        ("Examples in which it does not", metric.absent),
    ):
        if examples:
            st.caption(title)
        for example in examples:
            st.text(example)


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
