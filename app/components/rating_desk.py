"""The rating desk in the browser: it shows a `BlindItem`, keeps drafts, and sends an answer until it is acknowledged.

A component of our own, because no widget sends text while it is being typed, marks turns in a transcript, or keeps
sending until the server has answered. What it sends names the item and the revision it is about, so that a late or
doubled click can only ever store the same answer on the same item.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from app.components.formatting import formatted
from reviews.desk import OnDesk
from reviews.labels import REASONS
from reviews.rating.practice import is_practice

_KEY = "rating-desk"
_EVENTS = ("draft", "save", "view", "go")
"""In the order in which they are acted on: a draft may come together with what follows it."""
_ACTED = "rating-desk-acted"
_SCRIPT = (
    "rating_desk_text",
    "rating_desk",
    "rating_desk_sending",
    "rating_desk_passages",
    "rating_desk_questions",
    "rating_desk_break",
    "rating_desk_drawer",
)
"""Files that make one script, in this order."""


Act = Callable[[str, Mapping[str, Any]], None]
"""What to do about something that the rater did: `draft`, `save`, `view` or `go`, and what the browser sent along."""


def rating_desk(desk: OnDesk, *, act: Act, formatted_view: bool = False, refused: str | None = None) -> bool:
    """Show an item to be rated; True where something was acted on only now, so that the page must run again.

    Usually `act` is called before the page runs, as a callback, and the page shows what came of it. The first callback
    after a restart of the server is lost; then what was sent is found here, behind the page.

    Args:
        desk: the item and the rater's own work on it.
        act: what to do about a draft, an answer, another view or a step back; each may be sent more than once.
        formatted_view: show the messages with their formatting instead of exactly as written.
        refused: why what was sent last was not stored.
    """
    shown = as_shown(desk, formatted_view=formatted_view, refused=refused)
    acted = st.session_state.pop(_ACTED, False)
    callbacks = {f"on_{kind}_change": partial(_act_on, kind, act) for kind in _EVENTS}
    result = _component()(data=shown, key=_KEY, **callbacks)
    left = [] if acted else [(kind, sent) for kind in _EVENTS if (sent := result.get(kind))]
    for kind, sent in left:
        act(kind, sent)
    return bool(left)


def as_shown(desk: OnDesk, *, formatted_view: bool = False, refused: str | None = None) -> dict[str, Any]:
    """What the desk in the browser receives of an item: plain values, and none that a rater must not have."""
    item = desk.item
    turns = [turn.model_dump() for turn in item.turns]
    if formatted_view:
        turns = [turn | {"formatted": formatted(turn["text"])} for turn in turns]
    return {
        **item.model_dump(mode="json", exclude={"option_order", "turns"}),
        "turns": turns,
        "options": [str(option) for option in item.option_order],
        "reasons": [(reason, text) for reason, (text, _) in REASONS.items()],
        "elicitation": desk.elicitation,
        "questions": [question.model_dump(mode="json") for question in desk.asked],
        "disclosed": [one.model_dump() for one in desk.disclosed],
        "answer": desk.draft.content if desk.draft else _as_answered(desk),
        "base_revision": desk.label.revision if desk.label else 0,
        "done": desk.done,
        "previous": desk.previous,
        "active_seconds": desk.active_seconds,
        "saved_at": desk.last_saved_at.isoformat() if desk.last_saved_at else None,
        "draft_at": desk.draft.updated_at.isoformat() if desk.draft else None,
        "formatted": formatted_view,
        "practice": is_practice(item.code),
        "refused": refused,
    }


def _act_on(kind: str, act: Act) -> None:
    """The callback of one kind of event, which runs before the page."""
    sent = (st.session_state.get(_KEY) or {}).get(kind)
    if sent:
        act(kind, sent)
        st.session_state[_ACTED] = True


def _as_answered(desk: OnDesk) -> dict[str, Any] | None:
    """The newest answer, to begin a change from."""
    if desk.label is None:
        return None
    kept = desk.label.model_dump(
        include={"verdict", "forced_choice", "confidence", "rationale", "turns"}, mode="json"
    )
    responses = dict(desk.responses)
    passages = responses.pop("passages", [])
    return kept | {
        "no_verdict_because": desk.label.no_verdict_because or None,
        "responses": responses,
        "passages": passages,
        "active_seconds": 0,
    }


@cache
def _component() -> Any:
    here = Path(__file__).parent
    script = "\n".join((here / f"{part}.js").read_text(encoding="utf-8") for part in _SCRIPT)
    return st.components.v2.component(
        "impactbench_rating_desk",
        html='<div class="ib-desk"></div>',
        css=(here / "rating_desk.css").read_text(encoding="utf-8"),
        js=script,
        isolate_styles=False,
    )
