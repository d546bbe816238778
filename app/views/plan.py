"""What a study would show, before anybody is invited."""

import pandas as pd
import streamlit as st

from app import workspace
from impactbench.domain import Role
from reviews.assignment import PlanRefused
from reviews.design.planning import Outlook, Question, StudyPlan, foresee

_QUESTIONS = {
    Question.AGREEMENT: "How far do experts agree?",
    Question.JUDGE_KAPPA: "How far does the judge agree with them, beyond chance?",
    Question.ACCURACY: "How accurate is the judge?",
    Question.SELF_PREFERENCE: "Does the judge favour its own family?",
}


def plan() -> None:
    """Inputs on the left, what would come out on the right."""
    workspace.require_role(Role.METHODOLOGIST, Role.MAINTAINER)
    st.title("Plan a study")
    left, right = st.columns([1, 2], gap="large")
    with left:
        wanted = _ask()
    with right:
        try:
            outlook = foresee(wanted)
        except PlanRefused as refusal:
            st.text(f"This cannot be planned: {refusal}.")
            return
        _show(outlook)


def _ask() -> StudyPlan:
    raters = st.number_input("Raters", min_value=1, max_value=500, value=12)
    hours = st.number_input("Hours of each rater", min_value=0.25, max_value=500.0, value=4.0, step=0.5)
    metrics = st.number_input("Metrics", min_value=1, max_value=1000, value=18)
    overlap = st.number_input("Raters of each item", min_value=1, max_value=20, value=3)
    minutes = st.number_input("Minutes an item takes", min_value=0.5, max_value=120.0, value=4.0, step=0.5)
    spare = st.slider("Time for hidden repeats and gold items", 0, 40, 15, format="%d%%")
    st.caption("What is to be found out")
    asked = [question for question, words in _QUESTIONS.items() if st.checkbox(words, value=True)]
    with st.expander("What is assumed"):
        kappa = st.slider("Agreement beyond chance", 0.0, 0.95, 0.6, step=0.05)
        passed = st.slider("Share that experts pass", 0.05, 0.95, 0.6, step=0.05)
        accuracy = st.slider("Accuracy of the judge", 0.5, 0.99, 0.85, step=0.01)
        own = st.slider("Share of items of the judge's own family", 0.05, 0.95, 0.35, step=0.05)
        alike = st.slider("Likeness of items of one metric", 0.0, 0.5, 0.05, step=0.01)
    return StudyPlan(
        raters=int(raters),
        hours=hours,
        metrics=int(metrics),
        overlap=int(overlap),
        minutes=minutes,
        spare_percent=spare,
        kappa=kappa,
        pass_share=passed,
        accuracy=accuracy,
        own_share=own,
        intraclass=alike,
        questions=tuple(asked),
    )


def _show(outlook: Outlook) -> None:
    st.markdown(f"**{outlook.sentence}**")
    st.caption(
        f"{outlook.labels:,} labels in all; {outlook.items_per_rater} items for each rater, in sessions of at most 20:"
        f" {outlook.sessions_per_rater}."
    )
    st.header("What would come out")
    if outlook.prospects:
        st.dataframe(
            pd.DataFrame(
                [{"Result": p.because, "Over": p.scope, "Items": p.items} for p in outlook.prospects]
            ),
            hide_index=True,
            width="stretch",
        )
    else:
        st.text("Choose at least one question on the left.")
    st.header("The same hours with another overlap")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Raters of each item": overlap,
                    "Items": items,
                    "Agreement known to": "not measurable" if width is None else f"±{width:.2f}",
                }
                for overlap, items, width in outlook.by_overlap
            ],
            columns=["Raters of each item", "Items", "Agreement known to"],
        ),
        hide_index=True,
        width="stretch",
    )
    for note in outlook.notes:
        st.caption(note)
