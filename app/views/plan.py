"""What a study would show, before anybody is invited."""

import pandas as pd
import streamlit as st

from app import workspace
from app.views.plan_preview import who_would_rate_what
from impactbench.domain import Role
from reviews.assignment import PlanRefused
from reviews.design.planning import Outlook, Question, StudyPlan, foresee

_QUESTIONS = {
    Question.AGREEMENT: "How far do experts agree?",
    Question.JUDGE_KAPPA: "Does the judge agree with them?",
    Question.ACCURACY: "How accurate is the judge?",
    Question.SELF_PREFERENCE: "Does the judge favour its own family?",
}


_COST = "plan-cost-of-an-hour"


def plan() -> None:
    """Inputs on the left, what would come out on the right."""
    workspace.require_role(Role.METHODOLOGIST, Role.MAINTAINER)
    st.title("Plan a study")
    left, right = st.columns([1, 2], gap="large")
    with left:
        wanted = _ask()
    with right:
        cost = st.session_state.get(_COST) or 0.0
        try:
            outlook = foresee(wanted)
        except PlanRefused as refusal:
            st.text(f"This cannot be planned: {refusal}.")
            return
        _show(outlook)
        _effort(wanted, cost)
        who_would_rate_what(wanted)


def _ask() -> StudyPlan:
    raters = st.number_input("Raters", min_value=1, max_value=500, value=12)
    hours = st.number_input("Hours of each rater", min_value=0.25, max_value=500.0, value=4.0, step=0.5)
    metrics = st.number_input("Metrics", min_value=1, max_value=1000, value=18)
    overlap = st.number_input("Raters of each item", min_value=1, max_value=20, value=3)
    minutes = st.number_input("Minutes an item takes", min_value=0.5, max_value=120.0, value=4.0, step=0.5)
    st.number_input("Cost of an hour, in any currency", min_value=0.0, value=0.0, step=10.0, key=_COST)
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
                [{"Over": p.scope, "Items": p.items, "Result": p.because} for p in outlook.prospects]
            ),
            hide_index=True,
            width="stretch",
            column_config={
                "Over": st.column_config.Column(width=90),
                "Items": st.column_config.Column(width=50),
            },
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


def _effort(wanted: StudyPlan, cost: float) -> None:
    hours = wanted.raters * wanted.hours
    paid = f", which cost {hours * cost:,.0f}" if cost else ""
    st.caption(f"{hours:,.0f} hours of experts' time in all{paid}.")
