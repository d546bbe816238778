"""The form with which a maintainer marks where a behaviour appears in a conversation, and whether it is taken back."""

import streamlit as st

from app import workspace
from impactbench.domain import Role
from reviews.public.cases import Case, CaseRefused, mark_case
from reviews.public.conversations import Transcript
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicMetric

_NEVER = 0


def case_form(study: PublicStudy, metric: PublicMetric, found: Transcript, marked: Case | None) -> None:
    """The form, for maintainers alone."""
    looking = workspace.person()
    if looking is None or looking.role is not Role.MAINTAINER or not found.turns:
        return
    turns = [_NEVER, *range(1, 1 + sum(turn.role == "user" for turn in found.turns))]
    key = f"{found.conversation_id}-{metric.metric_version_id}-{marked.revision if marked else 0}"
    with st.container(border=True, key="not-on-paper-case"):
        st.subheader("Mark this conversation as a case", anchor=False)
        first = st.selectbox(
            "The behaviour first appears in",
            turns,
            index=turns.index((marked.first_turn if marked else None) or _NEVER),
            format_func=lambda turn: f"turn {turn}" if turn else "no turn: it never does",
            key=f"first-{key}",
        )
        after = [turn for turn in turns if turn == _NEVER or turn >= first > _NEVER]
        before = (marked.corrected_turn if marked else None) or _NEVER
        back = st.selectbox(
            "The chatbot takes it back in",
            after,
            index=after.index(before) if before in after else 0,
            format_func=lambda turn: f"turn {turn}" if turn else "no turn: it does not",
            key=f"back-{key}-{first}",
        )
        note = st.text_area(
            "What to notice (the public reads this)", value=marked.note if marked else "", key=f"note-{key}"
        )
        if st.button("Save the mark", key=f"save-{key}"):
            try:
                mark_case(
                    workspace.engine(),
                    study.slug,
                    conversation_id=found.conversation_id,
                    metric_version_id=metric.metric_version_id,
                    marked_by=workspace.rater_id(looking),
                    first_turn=first or None,
                    corrected_turn=back or None,
                    note=note,
                )
            except CaseRefused as refused:
                st.error(f"Not saved: {refused}.")
            else:
                st.rerun()
