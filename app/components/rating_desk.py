"""The rating desk in the browser: it shows a `BlindItem`, keeps drafts, and sends an answer until it is acknowledged.

A component of our own, because no widget sends text while it is being typed, marks turns in a transcript, or keeps
sending until the server has answered. What it sends names the item and the revision it is about, so that a late or
doubled click can only ever store the same answer on the same item.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from app.components.formatting import formatted
from reviews.desk import OnDesk
from reviews.labels import REASONS

_KEY = "rating-desk"
_EVENTS = ("draft", "save", "view", "go")


@dataclass(frozen=True, slots=True)
class DeskEvent:
    """What the rater did: `draft`, `save`, `go` or `view`, with what the browser sent along."""

    kind: str
    sent: Mapping[str, Any]


def rating_desk(desk: OnDesk, *, formatted_view: bool = False, refused: str | None = None) -> list[DeskEvent]:
    """Show an item to be rated; returns what the rater just did, oldest first: a draft may come with what follows it.

    Args:
        desk: the item and the rater's own work on it.
        formatted_view: show the messages with their formatting instead of exactly as written.
        refused: why what was sent last was not stored.
    """
    item = desk.item
    turns = [turn.model_dump() for turn in item.turns]
    if formatted_view:
        turns = [turn | {"formatted": formatted(turn["text"])} for turn in turns]
    shown = {
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
        "refused": refused,
    }
    result = _component()(data=shown, key=_KEY, **{f"on_{kind}_change": _nothing for kind in _EVENTS})
    return [DeskEvent(kind, sent) for kind in _EVENTS if (sent := result.get(kind))]


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
    here = Path(__file__)
    return st.components.v2.component(
        "impactbench_rating_desk",
        html='<div class="ib-desk"></div>',
        css=here.with_suffix(".css").read_text(encoding="utf-8"),
        js=here.with_suffix(".js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )


def _nothing() -> None:
    """A trigger needs a callback to be known; the page acts on the value instead, which survives a restart."""
