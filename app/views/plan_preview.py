"""Who would rate what if a plan were opened on a study that is here already, and the command that opens it."""

import pandas as pd
import streamlit as st

from app import workspace
from app.wording import count
from impactbench.domain import Panel
from impactbench.store import frames
from reviews.assignment import Member, PlanRefused
from reviews.design.drafts import ReviewSetDraft
from reviews.design.planning import StudyPlan
from reviews.design.preview import Opening, balance_in_words, headline, opening_of, set_names, unplaced
from reviews.members.raters import gather_raters

_SHOWN = "plan-preview"
_WIDEST_MATRIX = 30
_NARROW = 45
"""Pixels: two digits, so that a dozen raters fit beside each other."""
_PANELS = {
    "Internal and external in turn": tuple(Panel),
    "All external": (Panel.EXTERNAL,),
    "All internal": (Panel.INTERNAL,),
}
_RATERS = {
    "rater": "Rater",
    "panel": "Panel",
    "items": "Items",
    "repeats": "Repeats",
    "gold": "Gold",
    "hours": "Hours",
    "sessions": "Sessions",
    "metrics": "Metrics",
    "families": "Families",
    "first_option": "First option",
}


def who_would_rate_what(wanted: StudyPlan) -> None:
    """The assignment that the plan comes to, drawn as the command draws it; nothing is saved."""
    st.header("Who would rate what")
    known = frames.studies(workspace.engine())["study"].tolist()
    if not known:
        st.text(
            "There is no study with conversations yet, so nothing can be assigned. Once one is here"
            " (impactbench import run FOLDER), this page shows who would rate what."
        )
        _command(unplaced(wanted))
        return
    study = st.selectbox("Study", known, index=None, placeholder="Choose a study")
    if study is None:
        st.caption("Choose the study whose conversations are to be rated.")
        _command(unplaced(wanted))
        return
    try:
        opening = _ask(wanted, study)
        if opening.items is None:
            st.caption(
                f"The plan has time for {count(wanted.items, 'item')}; the study has no more conversations, so every one is"
                " asked about."
            )
        if st.button("Show who would rate what"):
            st.session_state[_SHOWN] = opening
        if st.session_state.get(_SHOWN) == opening:
            _show(opening.draft(workspace.engine()))
        elif _SHOWN in st.session_state:
            st.text("The plan was changed since: show it again.")
    except PlanRefused as refusal:
        st.text(f"This cannot be opened: {refusal}.")
        return
    _command(opening)


def _ask(wanted: StudyPlan, study: str) -> Opening:
    engine = workspace.engine()
    experts = {member.name: member for member in gather_raters(engine, ()).members}
    chosen: list[str] = []
    if experts:
        chosen = st.multiselect(
            "Raters who are in already", list(experts), default=list(experts)[: wanted.raters]
        )
    missing = max(0, wanted.raters - len(chosen))
    panels = (
        st.selectbox(f"Panels of {count(missing, 'newcomer')} to make up {wanted.raters}", list(_PANELS))
        if missing
        else next(iter(_PANELS))
    )
    gold = st.selectbox("Gold items from", set_names(engine, study), index=None, placeholder="No gold items")
    seed = st.number_input("Seed", min_value=0, max_value=2**31 - 1, value=0)
    members = [Member(name=name, panel=experts[name].panel) for name in chosen]
    return opening_of(
        engine, wanted, study, known=members, panels=_PANELS[panels], seed=int(seed), gold_from=gold
    )


def _show(draft: ReviewSetDraft) -> None:
    st.text(headline(draft))
    raters = draft.summary["raters"]
    st.dataframe(
        pd.DataFrame([{title: _cell(one, name) for name, title in _RATERS.items()} for one in raters]),
        hide_index=True,
        width="stretch",
        height="content",
    )
    for sentence in balance_in_words(draft):
        st.text(sentence)
    for note in draft.notes:
        st.text(f"Note: {note}")
    matrix = draft.pair_matrix
    if len(matrix) <= _WIDEST_MATRIX:
        st.subheader("Items in common")
        st.caption(
            "Of each two raters, who have the same number in row and column; on the diagonal the items of one."
        )
        numbers = [str(number) for number in range(1, len(matrix) + 1)]
        named = [f"{number} {name}" for number, name in zip(numbers, matrix.index, strict=True)]
        st.dataframe(
            matrix.set_axis(named, axis=0).set_axis(numbers, axis=1).rename_axis("Rater"),
            width="stretch",
            height="content",
            column_config={number: st.column_config.NumberColumn(width=_NARROW) for number in numbers},
        )
    st.subheader("Strata")
    st.dataframe(
        pd.DataFrame(draft.summary["strata"]).rename(
            columns={
                "stratum": "Stratum",
                "conversations": "Conversations",
                "items": "Items",
                "inclusion_probability": "Chance",
            }
        ),
        hide_index=True,
        width="stretch",
        column_config={"Chance": st.column_config.NumberColumn(format="%.3g")},
    )
    st.caption(f"Plan {draft.plan.plan_hash[:16]}: whoever draws it again with this seed gets the same one.")


def _cell(rater: dict[str, object], name: str) -> object:
    if name == "rater":
        return f"{rater[name]} (new)" if rater["new"] else rater[name]
    return rater[name] or "none" if name == "panel" else rater[name]


def _command(opening: Opening) -> None:
    st.text(
        "This command prints the same tables, asks, and then freezes the design. With --dry-run it only shows them; with"
        " other names in place of newcomers it is another assignment of the same kind:"
    )
    st.code(opening.command, language=None, wrap_lines=True)
