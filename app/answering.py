"""What comes of what a rater did at the desk, whichever way it was sent: by the page, or past it (`app.desk_route`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Engine

from reviews import desk
from reviews.labels import Answer, LabelRefused, StaleAnswer
from reviews.rating import worklist

Sent = Mapping[str, Any]
"""What the browser sent: the item, the revision that it is about, and a draft's content or an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What came of an answer."""

    following: str | None = None
    """The item to show next; None where something else comes first, such as questions or thanks."""
    refused: str | None = None
    """Why it was not stored."""
    conflict: Answer | None = None
    """The answer, where another one was stored meanwhile and the rater has to choose."""


def save(engine: Engine, rater_id: int, sent: Sent) -> Saved:
    """Store an answer on the item and the revision that it names, whatever is shown by now."""
    code = str(sent["code"])
    try:
        answer = Answer.model_validate(sent["answer"])
        desk.save(engine, rater_id, code, answer, base_revision=int(sent["base_revision"]))
    except StaleAnswer:
        return Saved(conflict=answer)
    except LabelRefused as refusal:
        return Saved(refused=f"Not saved: {refusal}")
    except ValidationError:
        return Saved(refused="Not saved: this answer is not complete, or a text in it is too long.")
    questions, following = worklist.what_follows(engine, rater_id, after=code)
    return Saved(following=following if questions is None else None)


def keep_draft(engine: Engine, rater_id: int, sent: Sent) -> bool:
    """Keep what was begun; False where an answer that was saved meanwhile made it stale.

    Raises:
        LabelRefused: the item is not this rater's, or the draft is too large.
    """
    content, revision = dict(sent["content"]), int(sent["base_revision"])
    return desk.keep_draft(engine, rater_id, str(sent["code"]), content, base_revision=revision)


def open_item(engine: Engine, rater_id: int, code: str) -> desk.OnDesk:
    """An item for the desk, put on record as sent to the rater.

    Raises:
        LabelRefused: it is not in their list.
    """
    on_desk = desk.take_up(engine, rater_id, code)
    desk.record_exposure(engine, rater_id, code)
    return on_desk
