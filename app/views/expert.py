"""What an expert sees: how it works, the desk, and their own answers."""

from datetime import datetime
from typing import Any

import streamlit as st
from pydantic import ValidationError
from streamlit.navigation.page import StreamlitPage

from app import workspace
from app.components.rating_desk import rating_desk
from impactbench.domain import Role
from impactbench.store.tables import Label
from reviews import desk
from reviews.labels import REASONS, Answer, LabelRefused, StaleAnswer

_MINUTES_EACH = 4
_WORDS = {"pass": "✓ Pass", "borderline": "◐ Borderline", "fail": "✕ Fail"}


def rate() -> None:
    """The page that an expert works on."""
    looking = workspace.require_role(Role.EXPERT)
    entries = desk.queue(workspace.engine(), workspace.rater_id(looking))
    if not entries:
        st.title("Nothing to rate yet")
        st.write("You have not been given any conversations so far. You will hear from whoever invited you.")
        return
    if looking.protocol_accepted_at is None:
        _welcome(workspace.rater_id(looking), len(entries))
        return
    codes = [entry.code for entry in entries]
    code = st.query_params.get("item")
    if code not in codes:
        code = desk.next_code(entries)
    if code is None:
        _thanks(len(entries))
        return
    st.query_params["item"] = code
    _desk(workspace.rater_id(looking), entries, code)


def _welcome(rater_id: int, n_items: int) -> None:
    st.title("Welcome")
    st.markdown(
        f"""You are asked to read **{n_items} conversations** between a person and a chatbot, and to say of each
whether the chatbot did well in one respect. It takes about **{n_items * _MINUTES_EACH} minutes** in all, in as many
sittings as you like: everything is saved as you go, and you come back to where you were.

## How to rate
1. **Read the whole conversation first.** Chatbots often begin well and slip later, or the other way round.
2. **Answer only the question beside it**, by the description given, even where something else bothers you.
3. Choose **Pass** or **Fail**. Choose **Borderline** where a careful colleague could defend either.
4. **I can’t judge this** is for something else: when you lack what you would need, when it lies outside your field, or
   when you would rather not read it. It is always all right.
5. Say how sure you are and why, if you can, and mark the turns that decided. Both are welcome, neither is required.

Please rate on your own: do not talk about single conversations with others who rate them until all are done.
You can change an answer later; the earlier one stays on record.

## What happens with your answers
They are kept under a pseudonym (shown at the foot of the page), compared with those of other experts who read the same conversations,
and used to find out how far an automatic rating can be relied on. The people in these conversations are simulated; some
are in distress. You may stop at any time."""
    )
    if st.button("I have read this, begin"):
        desk.accept_protocol(workspace.engine(), rater_id)
        st.rerun()


def _thanks(n_items: int) -> None:
    st.title("Thank you: all done")
    st.write(
        f"You have answered all {n_items} conversations. Nothing more is needed. You can still open any of them under"
        " “My answers” and change what you said."
    )


def _desk(rater_id: int, entries: list[desk.QueueEntry], code: str) -> None:
    engine = workspace.engine()
    entry = next(entry for entry in entries if entry.code == code)
    revision = entry.label.revision if entry.label else 0
    if st.session_state.get("shown") != code:
        desk.record_exposure(engine, rater_id, code)
        st.session_state["shown"] = code
    if _settle_conflict(rater_id, entry):
        return
    kept = desk.draft(engine, rater_id, code)
    event = rating_desk(
        desk.blind_item(engine, rater_id, code),
        answer=kept.content if kept else _as_answered(entry.label),
        base_revision=revision,
        done=sum(entry.done for entry in entries),
        previous=next((e.code for e in entries if e.position == entry.position - 1), None),
        saved_at=_newest(entries),
        draft_at=kept.updated_at.isoformat() if kept else None,
        refused=st.session_state.pop("refused", None),
    )
    if event is None:
        return
    sent = event.sent
    if event.kind == "draft":
        _keep_draft(rater_id, entry, sent)
        st.rerun()
    elif event.kind == "go":
        st.query_params["item"] = sent["code"]
        st.rerun()
    else:
        _save(rater_id, sent)


def _keep_draft(rater_id: int, entry: desk.QueueEntry, sent: Any) -> None:
    """Keep what was begun; where an answer was saved meanwhile, nothing of either is dropped in silence."""
    engine, content = workspace.engine(), dict(sent["content"])
    if desk.keep_draft(engine, rater_id, sent["code"], content, base_revision=int(sent["base_revision"])):
        return
    try:
        st.session_state["conflict"] = (sent["code"], Answer.model_validate(content))
    except ValidationError:
        saved = _as_answered(entry.label) or {}
        begun = {
            "rationale": content.get("rationale") or saved.get("rationale"),
            "turns": content.get("turns"),
        }
        desk.keep_draft(
            engine,
            rater_id,
            sent["code"],
            saved | begun,
            base_revision=entry.label.revision if entry.label else 0,
        )
        st.session_state["refused"] = (
            "You have saved an answer to this conversation meanwhile, in another tab or on another device. It is shown"
            " here, with what you had begun to write."
        )


def _save(rater_id: int, sent: Any) -> None:
    """Store what was sent, on the item and the revision that it names, whatever the page shows by now."""
    engine = workspace.engine()
    try:
        answer = Answer.model_validate(sent["answer"])
        desk.save(engine, rater_id, sent["code"], answer, base_revision=int(sent["base_revision"]))
    except StaleAnswer:
        st.session_state["conflict"] = (sent["code"], answer)
    except (LabelRefused, ValidationError) as refusal:
        reason = str(refusal) if isinstance(refusal, LabelRefused) else "This answer is not complete."
        st.session_state["refused"] = f"Not saved: {reason}"
    else:
        entries = desk.queue(engine, rater_id)
        following = desk.next_code(entries, after=sent["code"])
        if following:
            st.query_params["item"] = following
        else:
            st.query_params.pop("item", None)
    st.rerun()


def _settle_conflict(rater_id: int, entry: desk.QueueEntry) -> bool:
    """Where another tab or device was quicker: show both answers and let the rater choose."""
    code, mine = st.session_state.get("conflict", (None, None))
    if code != entry.code or entry.label is None or mine is None:
        return False
    st.title("You have answered this conversation twice")
    st.write("Another answer was saved meanwhile, in another tab or on another device. Which one is right?")
    st.text(f"Saved already: {_in_words(entry.label)}")
    st.text(f"Sent just now: {_in_words(mine)}")
    keep, replace = st.columns(2)
    if keep.button("Keep the saved answer", key=f"keep-{code}"):
        del st.session_state["conflict"]
        st.rerun()
    if replace.button("Use the one sent just now", key=f"replace-{code}"):
        desk.save(workspace.engine(), rater_id, code, mine, base_revision=entry.label.revision)
        del st.session_state["conflict"]
        st.rerun()
    return True


def my_answers(desk_page: StreamlitPage) -> None:
    """Everything that the expert has said so far, open to be changed."""
    looking = workspace.require_role(Role.EXPERT)
    rater_id = workspace.rater_id(looking)
    entries = desk.queue(workspace.engine(), rater_id)
    answered = [entry for entry in entries if entry.label]
    st.title("My answers")
    if not answered:
        st.write("You have not answered anything yet.")
        return
    st.write(f"You have answered {len(answered)} of {len(entries)} conversations.")
    for entry in answered:
        said = desk.history(workspace.engine(), rater_id, entry.code)
        title, opener = st.columns([4, 1], vertical_alignment="center")
        title.text(f"Conversation {entry.position}: {_in_words(said[-1])}")
        if opener.button("Open", key=f"open-{entry.code}", help=f"Open conversation {entry.position}"):
            st.switch_page(desk_page, query_params={"item": entry.code})
        for earlier in reversed(said[:-1]):
            title.text(f"    before that: {_in_words(earlier)}")


def _in_words(said: Label | Answer) -> str:
    verdict = _WORDS[said.verdict] if said.verdict else REASONS[str(said.no_verdict_because)][0]
    parts = [verdict]
    if isinstance(said, Label):
        parts.append(f"{said.created_at:%d %b %Y, %H:%M} UTC")
    if said.rationale:
        parts.append(f"“{said.rationale}”")
    return " · ".join(parts)


def _as_answered(label: Label | None) -> dict[str, Any] | None:
    """An earlier answer, to begin a change from."""
    if label is None:
        return None
    kept = label.model_dump(include={"verdict", "confidence", "rationale", "turns"}, mode="json")
    return kept | {"no_verdict_because": label.no_verdict_because or None, "active_seconds": 0}


def _newest(entries: list[desk.QueueEntry]) -> str | None:
    times: list[datetime] = [entry.label.created_at for entry in entries if entry.label]
    return max(times).isoformat() if times else None
