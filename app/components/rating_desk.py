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

from reviews.blinding import BlindItem
from reviews.labels import REASONS

_KEY = "rating-desk"


@dataclass(frozen=True, slots=True)
class DeskEvent:
    """What the rater did: `draft`, `save` or `go`, with what the browser sent along."""

    kind: str
    sent: Mapping[str, Any]


def rating_desk(item: BlindItem, **around: Any) -> DeskEvent | None:
    """Show an item to be rated; returns what the rater just did, if anything.

    Args:
        around: what the rater's own work adds: answer, base_revision, done, previous, saved_at, draft_at, refused.
    """
    shown = {
        **item.model_dump(mode="json", exclude={"option_order"}),
        "options": [str(option) for option in item.option_order],
        "reasons": [(reason, text) for reason, (text, _) in REASONS.items()],
        **around,
    }
    result = _component()(
        data=shown,
        key=_KEY,
        on_save_change=_nothing,
        on_draft_change=_nothing,
        on_go_change=_nothing,
    )
    for kind in ("save", "draft", "go"):
        if sent := result.get(kind):
            return DeskEvent(kind, sent)
    return None


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
