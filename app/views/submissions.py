"""Suggested metrics: for those who suggest them, for internal experts who review them, for maintainers who decide."""

import pandas as pd
import streamlit as st

from app import workspace
from app.views.submission_form import form
from app.views.submission_parts import (
    ADVICE,
    remember,
    show_content,
    show_findings,
    show_history,
    show_trial,
    tell_once,
    try_now,
)
from app.wording import count
from impactbench.domain import Panel, Role, SubmissionDecision
from impactbench.store.tables import Rater
from impactbench.suite.submission_store import State, Suggestion, begin, keep_draft, suggestions
from reviews.submission_review import Marks, decide, may_review, metrics_of_suite, review, to_review

_MARKS = {
    "fidelity": "Does it say what its sources say?",
    "clarity": "Would two people read it alike?",
    "observability": "Does a transcript show it?",
}
_FOUR = {1: "1 · not at all", 2: "2 · hardly", 3: "3 · mostly", 4: "4 · fully"}


def suggest() -> None:
    """For experts: suggest a metric, follow what becomes of it, review those of others if one is internal."""
    looking = workspace.require_role(Role.EXPERT)
    st.title("Suggest a metric")
    _own(looking)
    if looking.panel is Panel.INTERNAL:
        waiting = to_review(workspace.engine(), looking)
        st.header("Suggestions to review")
        st.text(
            f"{count(len(waiting), 'suggestion')} of others can be reviewed." if waiting else "None waits."
        )
        one = _choose("Suggestion to review", waiting, names=False)
        if one is not None:
            _look(one, names=False)
            _review(one, looking)


def submissions() -> None:
    """For maintainers: every suggestion, what was said about it, and the decision."""
    looking = workspace.require_role(Role.MAINTAINER)
    every = [one for one in suggestions(workspace.engine()) if one.revisions]
    st.title("Submissions")
    st.markdown(f"**{_headline(every)}**")
    tell_once()
    if every:
        st.dataframe(pd.DataFrame([_row(one) for one in every]), hide_index=True, width="stretch")
        st.header("One submission")
        one = _choose("Submission", every, names=True, asked=st.query_params.get("submission"))
        if one is not None:
            st.query_params["submission"] = one.code
            _look(one, names=True)
            _try(one)
            if may_review(looking, one):
                _review(one, looking)
                _decide(one, looking)
    st.header("Suggest one yourself")
    _own(looking, told=True)


def _headline(every: list[Suggestion]) -> str:
    if not every:
        return "Nobody has suggested a metric yet. Experts do so on their page “Suggest a metric”; you can begin below."
    states = [one.state for one in every]
    waiting, ready = states.count(State.WAITING), states.count(State.REVIEWED)
    return (
        f"{count(len(every), 'submission')}: {waiting} without a review, {ready} for you to decide,"
        f" {states.count(State.ACCEPTED)} accepted."
    )


def _row(one: Suggestion) -> dict[str, str]:
    newest = one.newest
    trial = newest.trial if newest else None
    return {
        "Name": one.name,
        "By": one.submitter,
        "Revision": str(newest.number if newest else 0),
        "Examples told apart": "not tried" if trial is None else "yes" if trial.tells_apart else "no",
        "Reviews": str(len(newest.reviews) if newest else 0),
        "State": one.state.capitalize(),
    }


def _own(looking: Rater, *, told: bool = False) -> None:
    """What somebody suggested themselves, and the form."""
    engine, me = workspace.engine(), workspace.rater_id(looking)
    mine = suggestions(engine, submitter_id=me)
    if not told:
        st.markdown(f"**{_own_headline(mine)}**")
        tell_once()
    if st.button(
        "Begin a suggestion", help="In three parts: why it matters, where it shows, how it is scored."
    ):
        st.session_state["submission-mine"] = begin(engine, me)
        st.rerun()
    if mine and not told:
        st.header("Your suggestion")
    one = _choose("Which one", mine, names=False, key="submission-mine")
    if one is None:
        return
    st.text(f"State: {one.state}.")
    if one.draft is not None:
        form(one, me)
    elif one.open and st.button("Change it", help="What you sent stays; the change is another revision."):
        remember(
            keep_draft, engine, one.code, me, one.content, said="You can change it now, then send it again."
        )
        st.rerun()
    if one.revisions:
        if one.draft is None:
            _look(one, names=False)
        else:
            st.subheader("What was said so far")
            show_history(one, names=False)


def _own_headline(mine: list[Suggestion]) -> str:
    if not mine:
        return (
            "You have not suggested a metric yet. You need a behaviour of chatbots that matters in your field, a source, and"
            " four short replies: two that show it, two that do not."
        )
    sent = [one for one in mine if one.revisions]
    accepted = sum(one.state is State.ACCEPTED for one in sent)
    back = sum(one.state is State.TO_REVISE for one in sent)
    return (
        f"You have sent {count(len(sent), 'suggestion')}: {accepted} accepted, {back} to be revised."
        f" {count(len(mine) - len(sent), 'draft')}."
    )


def _choose(
    label: str, listed: list[Suggestion], *, names: bool, key: str | None = None, asked: str | None = None
) -> Suggestion | None:
    if not listed:
        return None
    by_code = {one.code: one for one in listed}
    codes = list(by_code)
    if key is not None and st.session_state.get(key) not in codes:
        st.session_state[key] = codes[0]

    def shown(code: str) -> str:
        by = f", by {by_code[code].submitter}" if names else ""
        return f"{by_code[code].name}{by} ({by_code[code].state})"

    if key is not None:
        chosen = st.selectbox(label, codes, format_func=shown, key=key)
    else:
        first = codes.index(asked) if asked in codes else 0
        chosen = st.selectbox(label, codes, index=first, format_func=shown)
    return by_code.get(chosen)


def _look(one: Suggestion, *, names: bool) -> None:
    newest = one.newest
    if newest is None:
        return
    show_content(newest.content)
    show_findings(newest.content)
    st.subheader("The judge on the examples")
    show_trial(newest, for_maintainer=names)
    st.subheader("What was said")
    show_history(one, names=names)


def _try(one: Suggestion) -> None:
    ready = bool(workspace.settings().trial_model)
    if st.button("Try the judge on the examples", disabled=not ready, key=f"try-{one.code}"):
        try_now(one.code)
        st.rerun()


def _review(one: Suggestion, looking: Rater) -> None:
    newest = one.newest
    if newest is None:
        return
    st.subheader("Your review")
    key = f"review-{newest.id}"
    with st.form(key):
        marks = {
            name: st.selectbox(
                question, list(_FOUR), index=None, format_func=_FOUR.__getitem__, key=f"{key}-{name}"
            )
            for name, question in _MARKS.items()
        }
        advice = st.selectbox(
            "What do you advise?",
            list(ADVICE),
            index=None,
            format_func=ADVICE.__getitem__,
            key=f"{key}-advice",
        )
        because = st.text_area("Why?", max_chars=4000, key=f"{key}-because")
        if not st.form_submit_button("Keep my review"):
            return
    if advice is None or None in marks.values():
        st.error("Please answer all three questions and say what you advise.")
        return
    said = Marks(
        fidelity=marks["fidelity"] or 0,
        clarity=marks["clarity"] or 0,
        observability=marks["observability"] or 0,
        advice=advice,
        because=because,
    )
    remember(review, workspace.engine(), newest.id, looking, said, said="Your review is kept.")
    st.rerun()


def _decide(one: Suggestion, looking: Rater) -> None:
    newest = one.newest
    if newest is None:
        return
    st.subheader("Decision")
    st.caption("Once for this revision. Whoever suggested it sees the decision and the reason.")
    key = f"decide-{newest.id}"
    with st.form(key):
        decision = st.selectbox(
            "What becomes of it?", list(ADVICE), index=None, format_func=ADVICE.__getitem__, key=f"{key}-what"
        )
        merged = st.selectbox(
            "Merged into (only for a merger)",
            metrics_of_suite(workspace.engine()),
            index=None,
            key=f"{key}-into",
        )
        because = st.text_area("Why?", max_chars=4000, key=f"{key}-because")
        without = False
        if newest.trial is None or not newest.trial.tells_apart:
            without = st.checkbox("Accept although no trial told present from absent", key=f"{key}-without")
        if not st.form_submit_button("Decide"):
            return
    if decision is None:
        st.error("Please say what becomes of it.")
        return
    remember(
        decide,
        workspace.engine(),
        newest.id,
        looking,
        decision=decision,
        because=because,
        merged_into=merged or "",
        without_trial=without,
        said="Decided. It is in the suite now." if decision is SubmissionDecision.ACCEPT else "Decided.",
    )
    st.rerun()
