"""What an expert sees: how it works, the desk, and their own answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import streamlit as st
from pydantic import ValidationError
from streamlit.navigation.page import StreamlitPage

from app import answering, workspace
from app.components.rating_desk import rating_desk
from app.views import expert_questions, welcome
from impactbench.domain import Role
from impactbench.store.tables import Label, Rater
from reviews import desk
from reviews.blindness import visibility
from reviews.blindness.visibility import Seen, Viewer
from reviews.labels import REASONS, Answer, LabelRefused
from reviews.rating import worklist
from reviews.rating.repeat_spacing import next_due_at

_WORDS = {"pass": "✓ Pass", "borderline": "◐ Borderline", "fail": "✕ Fail"}


def rate() -> None:
    """The page that an expert works on."""
    looking = workspace.require_role(Role.EXPERT)
    engine, rater_id = workspace.engine(), workspace.rater_id(looking)
    code = st.query_params.get("item")
    if code is None or looking.protocol_accepted_at is None:
        code = _begin(looking, rater_id)
    if code is None:
        return
    if st.query_params.get("item") != code:
        # Setting it moves the address of the browser, and the desk may be further by now than this run knows.
        st.query_params["item"] = code
    try:
        on_desk = desk.take_up(engine, rater_id, code)
    except LabelRefused:
        del st.query_params["item"]
        st.rerun()
    _desk(rater_id, on_desk)


def _begin(looking: Rater, rater_id: int) -> str | None:
    """What comes before an item: the welcome, questions that are due, thanks; or the code of the next item."""
    engine, questions = workspace.engine(), None
    if looking.protocol_accepted_at is not None:
        questions, code = worklist.what_follows(engine, rater_id)
        if questions is None and code is not None:
            return code
    _, asked = worklist.count_items(engine, rater_id)
    if not asked:
        st.title("Nothing to rate yet")
        st.write("You have not been given any conversations so far. You will hear from whoever invited you.")
    elif looking.protocol_accepted_at is None:
        welcome.welcome(rater_id, looking.pseudonym, asked)
    elif questions is not None:
        expert_questions.ask(rater_id, questions)
    else:
        ready_at = next_due_at(engine, rater_id)
        _come_back(ready_at) if ready_at else _thanks(asked)
    return None


def _come_back(ready_at: datetime) -> None:
    st.title("That is all for now")
    st.write(
        "Thank you: there is nothing for you to read at the moment. The last conversations will be ready for you on"
        f" {ready_at:%d %b %Y} at {ready_at:%H:%M} UTC; please come back then."
    )


def _thanks(asked: int) -> None:
    st.title("Thank you: all done")
    st.write(
        f"You have answered all {asked} conversations. Nothing more is needed. You can still open any of them under"
        " “My answers” and change what you said, until the review is closed."
    )
    st.write(
        "Once the others have answered too, your answers are compared with theirs; whoever invited you can tell you what came"
        " of it. If there is more to read one day, it will be here."
    )


def _desk(rater_id: int, on_desk: desk.OnDesk) -> None:
    code = on_desk.item.code
    if st.session_state.get("shown") != code:
        desk.record_exposure(workspace.engine(), rater_id, code)
        st.session_state["shown"] = code
    if _settle_conflict(rater_id, on_desk):
        return
    if rating_desk(
        on_desk,
        act=_act,
        formatted_view=st.session_state.get("formatted", False),
        refused=st.session_state.pop("refused", None),
    ):
        st.rerun()


def _act(kind: str, sent: Mapping[str, Any]) -> None:
    """Do what the rater asked for. Who they are is looked up anew: this may run before the page."""
    looking = workspace.recognise()
    if looking is None or looking.role is not Role.EXPERT:
        return
    match kind:
        case "draft":
            _keep_draft(workspace.rater_id(looking), sent)
        case "save":
            _save(workspace.rater_id(looking), sent)
        case "view":
            st.session_state["formatted"] = bool(sent["formatted"])
            st.query_params["item"] = sent["code"]
        case _:
            st.query_params["item"] = sent["code"]


def _keep_draft(rater_id: int, sent: Mapping[str, Any]) -> None:
    """Keep what was begun; where an answer was saved meanwhile, nothing of either is dropped in silence."""
    engine, content = workspace.engine(), dict(sent["content"])
    st.query_params["item"] = sent["code"]
    try:
        if answering.keep_draft(engine, rater_id, sent):
            return
    except LabelRefused as refusal:
        st.session_state["refused"] = str(refusal)
        return
    try:
        st.session_state["conflict"] = (sent["code"], _complete(content))
    except ValidationError:
        saved = desk.history(engine, rater_id, sent["code"])[-1]
        begun = content | {"verdict": saved.verdict}
        desk.keep_draft(engine, rater_id, sent["code"], begun, base_revision=saved.revision)
        st.session_state["refused"] = (
            "You have saved an answer to this conversation meanwhile, in another tab or on another device. It is shown"
            " here, with what you had begun to write."
        )


def _complete(content: dict[str, Any]) -> Answer:
    answer = Answer.model_validate(content)
    if answer.verdict is None and answer.no_verdict_because is None and not answer.responses:
        raise ValidationError.from_exception_data("Answer", [])
    return answer


def _save(rater_id: int, sent: Mapping[str, Any]) -> None:
    """Store what was sent, and turn to what comes next, to what is to be settled, or to why it was refused."""
    saved = answering.save(workspace.engine(), rater_id, sent)
    if saved.conflict:
        st.session_state["conflict"] = (sent["code"], saved.conflict)
    if saved.refused:
        st.session_state["refused"] = saved.refused
    if saved.conflict or saved.refused:
        st.query_params["item"] = sent["code"]
    elif saved.following:
        st.query_params["item"] = saved.following
    else:
        st.query_params.pop("item", None)


def _settle_conflict(rater_id: int, on_desk: desk.OnDesk) -> bool:
    """Where another tab or device was quicker: show both answers and let the rater choose."""
    code, mine = st.session_state.get("conflict", (None, None))
    if code != on_desk.item.code or on_desk.label is None or mine is None:
        return False
    st.title("You have answered this conversation twice")
    st.write("Another answer was saved meanwhile, in another tab or on another device. Which one is right?")
    st.text(f"Saved already: {_in_words(on_desk.label)}")
    st.text(f"Sent just now: {_in_words(mine)}")
    keep, replace = st.columns(2)
    if keep.button("Keep the saved answer", key=f"keep-{code}"):
        del st.session_state["conflict"]
        st.rerun()
    if replace.button("Use the one sent just now", key=f"replace-{code}"):
        desk.save(workspace.engine(), rater_id, code, mine, base_revision=on_desk.label.revision)
        del st.session_state["conflict"]
        st.rerun()
    return True


def my_answers(desk_page: StreamlitPage) -> None:
    """Everything that the expert has said so far, open to be changed."""
    looking = workspace.require_role(Role.EXPERT)
    rater_id = workspace.rater_id(looking)
    st.title("My answers")
    stage = visibility.stage_of_rater(workspace.engine(), rater_id)
    shown = visibility.may_see(Viewer.EXPERT, Seen.OWN_LABEL, stage)
    answered = worklist.answered(workspace.engine(), rater_id) if shown else []
    if not answered:
        st.write("You have not answered anything yet.")
        return
    _, asked = worklist.count_items(workspace.engine(), rater_id)
    st.write(f"You have answered {len(answered)} of {asked} conversations.")
    for one in answered:
        title, opener = st.columns([4, 1], vertical_alignment="center")
        title.text(f"Conversation {one.position}: {_in_words(one.said[-1])}")
        if opener.button("Open", key=f"open-{one.code}", help=f"Open conversation {one.position}"):
            st.switch_page(desk_page, query_params={"item": one.code})
        for earlier in reversed(one.said[:-1]):
            title.text(f"    before that: {_in_words(earlier)}")


def _in_words(said: Label | Answer) -> str:
    if said.no_verdict_because:
        verdict = REASONS[said.no_verdict_because][0]
    else:
        verdict = _WORDS[said.verdict] if said.verdict else "answered"
    parts = [verdict]
    if isinstance(said, Label):
        parts.append(f"{said.created_at:%d %b %Y, %H:%M} UTC")
    if said.rationale:
        parts.append(f"“{said.rationale}”")
    return " · ".join(parts)
