"""Which pages there are for whom. A page that is not for a role is not registered, and refuses besides."""

from functools import partial

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.views import expert, judge, maintainer, methodologist, study
from impactbench.domain import Role
from impactbench.store.tables import Rater


def pages_for(looking: Rater) -> list[StreamlitPage]:
    """The pages of somebody's role; the first is where they land."""
    if looking.role is Role.EXPERT:
        desk = st.Page(expert.rate, title="Rate", url_path="rate", icon=":material/edit_note:", default=True)
        answers = partial(expert.my_answers, desk)
        return [desk, st.Page(answers, title="My answers", url_path="my-answers", icon=":material/history:")]
    contested = st.Page(
        maintainer.contested_metrics,
        title="Contested metrics",
        url_path="contested",
        icon=":material/flag:",
        default=looking.role is Role.MAINTAINER,
    )
    audit = [
        st.Page(
            study.overview,
            title="Study",
            url_path="study",
            icon=":material/home:",
            default=looking.role is Role.METHODOLOGIST,
        ),
        st.Page(methodologist.coverage, title="Coverage", url_path="coverage", icon=":material/grid_on:"),
        st.Page(methodologist.agreement, title="Agreement", url_path="agreement", icon=":material/groups:"),
        st.Page(
            judge.judge_and_experts, title="Judge and experts", url_path="judge", icon=":material/balance:"
        ),
    ]
    return [contested, *audit] if looking.role is Role.MAINTAINER else [*audit, contested]
