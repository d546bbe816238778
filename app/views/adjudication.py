"""Settling what divides the experts: one item at a time, without names, the judge's verdict or the model."""

import streamlit as st
from pydantic import ValidationError

from app import workspace
from app.views.methodologist import study_in_view
from app.wording import count
from impactbench.domain import LabelVerdict, Role
from reviews import adjudication
from reviews.adjudication import (
    AdjudicationItem,
    AdjudicationRefused,
    Decision,
    Opinion,
    QueueEntry,
    Reason,
    Rule,
)
from reviews.labels import REASONS

_WHY = {
    Reason.TIE: ("tie", "as many experts pass it as fail it"),
    Reason.SPLIT: ("split", "some experts pass it and some fail it"),
    Reason.BORDERLINE: ("borderline item", "at least one expert finds it borderline, and nobody contradicts"),
    Reason.UNSURE: ("unsure item", "at least one expert could not judge it"),
}
_WORDS = {LabelVerdict.PASS: "✓ Pass", LabelVerdict.BORDERLINE: "◐ Borderline", LabelVerdict.FAIL: "✕ Fail"}
_SURE = {1: "a guess", 2: "not very sure", 3: "fairly sure", 4: "certain"}


def adjudicate() -> None:
    """The queue of items to be settled, and the one that is open."""
    looking = workspace.require_role(Role.MAINTAINER)
    study, engine = study_in_view(), workspace.engine()
    st.title("Adjudication")
    rule = _rule()
    entries = adjudication.queue(engine, study, rule)
    st.markdown(f"**{_headline(entries)}**")
    if said := st.session_state.pop("adjudication-said", None):
        st.text(said)
    if not entries:
        st.write(
            "An item comes here when experts have answered and the rule below names it. You can begin before all have"
            " answered: an item comes back when another label arrives."
        )
        _choose_rule(rule)
        return
    codes = [entry.code for entry in entries]
    code = st.query_params.get("item")
    if code not in codes:
        code = adjudication.next_code(entries) or codes[0]
    st.query_params["item"] = code
    _steps(codes, code)
    item = adjudication.shown(engine, study, entries[codes.index(code)])
    left, right = st.columns([3, 2], gap="large")
    with left:
        _transcript(item)
    with right:
        _question(item)
        _opinions(item)
        _decision(item, study, rule, workspace.rater_id(looking))
    _choose_rule(rule)


def _headline(entries: list[QueueEntry]) -> str:
    if not entries:
        return "No item is to be settled by the rule."
    waiting = [entry for entry in entries if not entry.settled]
    settled = len(entries) - len(waiting)
    if not waiting:
        return f"All {count(settled, 'item')} are settled."
    kinds = [
        count(number, word)
        for reason, (word, _) in _WHY.items()
        if (number := sum(entry.reason is reason for entry in waiting))
    ]
    verb = "waits" if len(waiting) == 1 else "wait"
    return (
        f"{count(len(waiting), 'item')} {verb} to be settled ({', '.join(kinds)}); {settled:,} are settled."
    )


def _rule() -> Rule:
    """The rule in the address, so that a reload keeps it; without one, all reasons and two answers."""
    asked = [Reason(word) for word in st.query_params.get_all("reason") if word in list(Reason)]
    least = st.query_params.get("answers", "")
    plain = Rule()
    return Rule(
        reasons=tuple(reason for reason in Reason if reason in asked) or plain.reasons,
        minimum=int(least) if least.isdecimal() and 0 < int(least) < 100 else plain.minimum,
    )


def _choose_rule(rule: Rule) -> None:
    with st.expander(f"By what rule: {rule.name}"), st.form("rule", border=False):
        reasons = st.pills(
            "Items to settle",
            list(Reason),
            selection_mode="multi",
            default=list(rule.reasons),
            format_func=_described,
        )
        minimum = st.number_input("Answers that an item needs", min_value=1, max_value=99, value=rule.minimum)
        if st.form_submit_button("Use this rule") and reasons:
            st.query_params["reason"] = [str(reason) for reason in reasons]
            st.query_params["answers"] = str(minimum)
            st.rerun()


def _described(reason: Reason) -> str:
    word, meaning = _WHY[reason]
    return f"{word}: {meaning}"


def _steps(codes: list[str], code: str) -> None:
    place = codes.index(code)
    row = st.container(horizontal=True, vertical_alignment="center")
    row.button(
        "Previous", disabled=place == 0, on_click=_open, args=(codes[max(0, place - 1)],), key="previous"
    )
    last = len(codes) - 1
    row.button(
        "Next", disabled=place == last, on_click=_open, args=(codes[min(last, place + 1)],), key="next"
    )
    row.text(f"Item {place + 1} of {len(codes)}")


def _open(code: str) -> None:
    st.query_params["item"] = code


def _transcript(item: AdjudicationItem) -> None:
    st.header("Conversation")
    for turn in item.turns:
        st.caption(f"Turn {turn.number} · {turn.speaker}")
        st.text(turn.text)


def _question(item: AdjudicationItem) -> None:
    st.header("Question")
    st.text(item.asked.question)
    st.text(f"✓ Pass: {item.asked.pass_means}\n✕ Fail: {item.asked.fail_means}")
    with st.expander("Full definition"):
        st.text(item.asked.definition)
        if item.asked.in_doubt:
            st.text(f"When in doubt: {item.asked.in_doubt}")


def _opinions(item: AdjudicationItem) -> None:
    st.header("What experts said")
    st.caption(f"It is here because {_WHY[item.reason][1]}. The order is random and tells nothing.")
    for opinion in item.opinions:
        with st.container(border=True):
            st.text(_in_words(opinion))
            if opinion.rationale:
                st.text(opinion.rationale)


def _in_words(opinion: Opinion) -> str:
    if opinion.label is not None:
        parts = [_WORDS[opinion.label]]
    else:
        reason = REASONS.get(opinion.no_verdict_because)
        parts = ["Can’t judge", reason[0] if reason else opinion.no_verdict_because]
    if opinion.confidence:
        parts.append(_SURE[opinion.confidence])
    if opinion.turns:
        parts.append("turns " + ", ".join(str(turn) for turn in opinion.turns))
    return " · ".join(parts)


def _decision(item: AdjudicationItem, study: str, rule: Rule, adjudicator_id: int) -> None:
    st.header("Your decision")
    if item.changed:
        st.text("The labels have changed since this was settled.")
    at = f"{item.code}-{item.revision}"
    verdicts = list(_WORDS)
    with st.form(f"decision-{at}", border=False):
        st.radio(
            "Verdict",
            verdicts,
            index=verdicts.index(item.verdict) if item.verdict else None,
            format_func=_WORDS.__getitem__,
            horizontal=True,
            key=f"verdict-{at}",
        )
        st.text_area("Because (required)", value=item.because, key=f"because-{at}")
        st.form_submit_button(
            "Save the change" if item.revision else "Save and next",
            on_click=_save,
            args=(item, at, study, rule, adjudicator_id),
        )


def _save(item: AdjudicationItem, at: str, study: str, rule: Rule, adjudicator_id: int) -> None:
    """Store the decision on the item and the revision that the button was shown with."""
    engine = workspace.engine()
    verdict, because = st.session_state.get(f"verdict-{at}"), st.session_state.get(f"because-{at}")
    try:
        decision = Decision.model_validate({"verdict": verdict, "because": because})
    except ValidationError:
        st.session_state["adjudication-said"] = "Not saved: choose a verdict, and say why."
        return
    try:
        kept = adjudication.decide(
            engine,
            study,
            adjudicator_id,
            item.code,
            decision,
            base_revision=item.revision,
            inputs=item.inputs,
            rule=rule,
        )
    except AdjudicationRefused as refusal:
        st.session_state["adjudication-said"] = f"Not saved: {refusal}"
        return
    st.session_state["adjudication-said"] = f"Saved at {kept.created_at:%H:%M} UTC: {_WORDS[kept.verdict]}."
    following = adjudication.next_code(adjudication.queue(engine, study, rule), after=item.code)
    if following:
        st.query_params["item"] = following
