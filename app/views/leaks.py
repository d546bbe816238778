"""Where conversations may give their model away: what raters see there is decided on this page."""

from collections import Counter

import streamlit as st

from app import workspace
from app.views.methodologist import study_in_view
from app.wording import count
from impactbench.domain import Role
from impactbench.store import frames
from reviews.blindness import leak_scan
from reviews.blindness.leak_scan import Decided, Decision, Leak
from reviews.blindness.visibility import Seen

_ON_A_PAGE = 20
_BUTTONS: dict[Decision, str] = {"hide": "Hide", "show": "Show"}
_SAID = {"hide": "Hidden", "show": "Shown"}
_VIEWS = ("To be decided", "Hidden", "Shown")


def leaks() -> None:
    """Every place that may name a model, in its context, with what raters see there."""
    looking = workspace.require_role(Role.MAINTAINER)
    study = study_in_view(Seen.TRANSCRIPT, Seen.MODEL_NAME)
    st.title("Names in conversations")
    engine = workspace.engine()
    found = leak_scan.with_decisions(engine, study, _scanned(study, frames.state(engine, study)))
    waiting = [leak for leak in found if leak.waits]
    st.markdown(f"**{_headline(found, waiting)}**")
    st.caption(
        "Names of the study’s models are hidden at once. A word that may mean something else waits for you; until you"
        " decide, it is hidden where it could be one of the study’s own models. Raters read “[name hidden]”; the"
        " original is kept."
    )
    if not found:
        return
    view = st.segmented_control("Show", _VIEWS, default=_VIEWS[0] if waiting else _VIEWS[1]) or _VIEWS[0]
    listed = (
        waiting
        if view == _VIEWS[0]
        else [leak for leak in found if leak not in waiting and leak.hidden == (view == _VIEWS[1])]
    )
    st.header(view)
    if not listed:
        st.write("There is nothing here.")
        return
    by = workspace.rater_id(looking)
    if view == _VIEWS[0]:
        listed = _one_word(listed)
        for decision, word in _BUTTONS.items():
            every = "it" if len(listed) == 1 else f"all {len(listed):,}"
            st.button(f"{word} {every}", on_click=_decide, args=(listed, decision, by), key=f"{decision}-all")
    earlier = leak_scan.history(engine, study)
    for leak in listed[:_ON_A_PAGE]:
        _place(leak, by, earlier.get((leak.conversation_id, leak.message, leak.start, leak.end), []))
    if len(listed) > _ON_A_PAGE:
        st.caption(f"{count(len(listed) - _ON_A_PAGE, 'more place')} follow when these are decided.")


# `state` is not read: it is the key under which the scan is remembered.


@st.cache_data(max_entries=2, show_spinner="Reading the conversations …")
def _scanned(study: str, state: str) -> list[Leak]:  # noqa: ARG001
    return leak_scan.scan(workspace.engine(), study)


def _one_word(waiting: list[Leak]) -> list[Leak]:
    """The places that hold the same words, where somebody wants to decide about these together."""
    counts = Counter(leak.found.casefold() for leak in waiting)
    words = [None, *(word for word, _ in counts.most_common())]
    chosen = st.selectbox(
        "Words",
        words,
        format_func=lambda word: f"{word} ({counts[word]:,})" if word else f"all words ({len(waiting):,})",
    )
    return [leak for leak in waiting if chosen in (None, leak.found.casefold())]


def _headline(found: list[Leak], waiting: list[Leak]) -> str:
    if not found:
        return "No conversation of this study names a model or its maker, as far as the scan can tell."
    hidden = sum(leak.hidden for leak in found)
    if not waiting:
        return f"All is decided: of {count(len(found), 'place')} {hidden:,} are hidden."
    verb = "waits" if len(waiting) == 1 else "wait"
    return f"{count(len(waiting), 'place')} {verb} for your decision; of {len(found):,} found, {hidden:,} are hidden now."


def _place(leak: Leak, by: int, decided: list[Decided]) -> None:
    with st.container(border=True):
        st.text(f"{leak.run}/{leak.conversation}, turn {leak.turn}, {leak.speaker}")
        st.text(f"…{leak.before}⟦{leak.found}⟧{leak.behind}…")
        row = st.container(horizontal=True, vertical_alignment="center")
        name = f"{leak.conversation_id}-{leak.message}-{leak.start}"
        for decision, word in _BUTTONS.items():
            row.button(
                word,
                key=f"{decision}-{name}",
                on_click=_decide,
                args=([leak], decision, by),
                disabled=leak.decision == decision,
                help=f"{word} these words from raters"
                if decision == "hide"
                else f"{word} these words to raters",
            )
        row.text("Raters do not read it now." if leak.hidden else "Raters read it now.")
        for said in reversed(decided):
            st.text(f"{_SAID[said.decision]} by {said.by}, {said.at:%d %b %Y, %H:%M} UTC")


def _decide(chosen: list[Leak], decision: Decision, by: int) -> None:
    leak_scan.decide(workspace.engine(), chosen, decision, decided_by=by)
