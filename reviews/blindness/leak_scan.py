"""Where a transcript gives its model away, and what a person decided about it.

What can mean nothing but a model of the study is hidden at once. What may mean something else waits for a person; until
then it is hidden where it may be a name of the study's own models, and shown where it is not. The original is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from sqlalchemy import Engine, func
from sqlmodel import Session, col, select

from impactbench.domain import ImpactBenchError, Role
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import Conversation, Mask, Model, Rater, Run, Study
from reviews.blinding import HiddenSpan, names_to_hide
from reviews.blindness.known_names import Detector, Finding, detector

Decision = Literal["hide", "show"]
Models = Iterable[tuple[str, str, str]]
"""The models of a study as (slug, family, provider)."""
_CONTEXT = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision about a place, then and by whom."""

    decision: str
    by: str
    at: datetime


class LeakRefused(ImpactBenchError):
    """A decision about a leak that cannot be kept; the text says what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A place in a conversation that may give the model away."""

    number: int
    """Its place in the scan, from 1; the same data give the same number, whatever was decided."""
    conversation_id: int
    run: str
    conversation: str
    """The key of the conversation."""
    message: int
    """Index of the message, from 0."""
    turn: int
    """The exchange, from 1."""
    speaker: str
    start: int
    end: int
    """Offsets in code points of the message as it was recorded."""
    found: str
    before: str
    behind: str
    """The words on either side."""
    certain: bool
    own: bool
    """Whether one of the study's models is so named."""
    phrase: bool
    """Whether it is a turn of phrase in which a model speaks of itself, with no name that is known."""
    decision: Decision | None

    @property
    def waits(self) -> bool:
        """Whether a person has still to decide."""
        return not self.certain and self.decision is None

    @property
    def hidden(self) -> bool:
        """Whether raters see `[name hidden]` at this place as things stand."""
        return self.decision == "hide" or (self.decision is None and (self.certain or self.own))


def scan(engine: Engine, study: str) -> list[Leak]:
    """Everything in the conversations of a study that may give a model away, by run, conversation and place.

    Raises:
        LeakRefused: there is no such study.
    """
    leaks: list[Leak] = []
    with reading(engine) as session:
        found_by = _detector(study_models(session, study))
        rows = session.exec(
            select(Conversation.id, Run.slug, Conversation.key, Conversation.turns)
            .join(Run, col(Run.id) == Conversation.run_id)
            .join(Study, col(Study.id) == Run.study_id)
            .where(Study.slug == study)
            .order_by(Run.slug, Conversation.key)
        )
        for conversation_id, run, key, turns in rows:
            number = 0
            for index, message in enumerate(turns):
                text = message["content"]
                number += message["role"] == "user"
                for one in found_by.find(text, by_chatbot=message["role"] != "user"):
                    leaks.append(
                        Leak(
                            number=len(leaks) + 1,
                            conversation_id=conversation_id or 0,
                            run=run,
                            conversation=key,
                            message=index,
                            turn=number,
                            speaker="Person" if message["role"] == "user" else "Chatbot",
                            start=one.start,
                            end=one.end,
                            found=one.found,
                            before=text[max(0, one.start - _CONTEXT) : one.start],
                            behind=text[one.end : one.end + _CONTEXT],
                            certain=one.certain,
                            own=one.own,
                            phrase=one.phrase,
                            decision=None,
                        )
                    )
    return with_decisions(engine, study, leaks)


def with_decisions(engine: Engine, study: str, leaks: Iterable[Leak]) -> list[Leak]:
    """The leaks of an earlier scan with what has been decided by now; messages never change, so none need be read."""
    with reading(engine) as session:
        decided = _decisions(session, study)
    return [
        replace(leak, decision=_decision(leak, leak.message, decided.get(leak.conversation_id, ())))
        for leak in leaks
    ]


def undecided(engine: Engine, study: str) -> int:
    """How many places wait for a person to decide."""
    return sum(leak.waits for leak in scan(engine, study))


def undecided_in_words(engine: Engine, study: str) -> str:
    """What a preview says about them; empty where nothing waits."""
    waiting = [leak for leak in scan(engine, study) if leak.waits]
    if not waiting:
        return ""
    words = sorted({leak.found for leak in waiting}, key=str.casefold)
    named = ", ".join(f"“{word}”" for word in words[:5]) + (", …" if len(words) > 5 else "")
    places = "1 place" if len(waiting) == 1 else f"{len(waiting):,} places"
    verb = "waits" if len(waiting) == 1 else "wait"
    return (
        f"{places} where a conversation may give its model away {verb} for a decision ({named}):"
        f" see `impactbench review leaks {study}`"
    )


def decide(engine: Engine, leaks: Iterable[Leak], decision: Decision, *, decided_by: int) -> int:
    """Keep what a person decided about some leaks; returns how many decisions are new or changed.

    The same decision twice is kept once, with the name of whoever made it first. A changed decision is a new revision,
    and the newest says what raters may read from now on; what they read before can still be told.

    Raises:
        LeakRefused: whoever decides is no active maintainer.
    """
    changed = 0
    with writing(engine) as session:
        person = session.get(Rater, decided_by)
        if person is None or not person.active or person.role is not Role.MAINTAINER:
            raise LeakRefused("what raters may read is decided by a maintainer who is active")
        for leak in leaks:
            place = _place(leak)
            row = {**place, "found": leak.found, "decision": decision, "decided_by": decided_by}
            while (kept := _newest_mask(session, place)) is None or kept.decision != decision:
                # Somebody else may decide about the same place at this moment; then theirs is looked at again.
                revision = 1 if kept is None else kept.revision + 1
                if insert_if_absent(session, Mask, [{**row, "revision": revision}]):
                    changed += 1
                    break
    return changed


def history(engine: Engine, study: str) -> dict[tuple[int, int, int, int], list[Decided]]:
    """Place (conversation id, message, start, end) -> everything that was decided about it, oldest first.

    Only places that were decided about twice or more: of the others the newest decision says all.
    """
    with reading(engine) as session:
        rows = session.exec(
            select(Mask, Rater.pseudonym)
            .join(Rater, col(Rater.id) == Mask.decided_by)
            .join(Conversation, col(Conversation.id) == Mask.conversation_id)
            .join(Run, col(Run.id) == Conversation.run_id)
            .join(Study, col(Study.id) == Run.study_id)
            .where(Study.slug == study)
            .order_by(col(Mask.revision))
        ).all()
    decided: dict[tuple[int, int, int, int], list[Decided]] = {}
    for mask, by in rows:
        said = Decided(decision=mask.decision, by=by, at=mask.created_at)
        decided.setdefault((mask.conversation_id, mask.message, mask.start, mask.end), []).append(said)
    return {place: said for place, said in decided.items() if len(said) > 1}


def maintainer(engine: Engine, pseudonym: str | None) -> int:
    """The id of the maintainer who decides: the one named, or the only one.

    Raises:
        LeakRefused: nobody is so called, or it is not clear who is meant.
    """
    with reading(engine) as session:
        people = session.exec(
            select(Rater.id, Rater.pseudonym).where(Rater.role == Role.MAINTAINER, col(Rater.active))
        ).all()
    found = [number for number, name in people if pseudonym in (None, name)]
    if len(found) == 1 and found[0] is not None:
        return found[0]
    if pseudonym is not None:
        raise LeakRefused(f"there is no active maintainer called {pseudonym!r}")
    if not people:
        raise LeakRefused(
            "there is no maintainer to decide: add one with `impactbench people add NAME --role maintainer`"
        )
    names = ", ".join(sorted(name for _, name in people))
    raise LeakRefused(f"there are several maintainers ({names}): say who decides with --by NAME")


def hidden_spans(
    session: Session, conversation_id: int, turns: Sequence[Mapping[str, str]], models: Models
) -> list[HiddenSpan]:
    """The places of a conversation that a rater must not read, for `reviews.blinding.blind_turns`.

    Args:
        conversation_id: whose decisions count.
        turns: its messages as they were recorded.
        models: every model of the study, as (slug, family, provider).
    """
    masks = session.exec(select(Mask).where(Mask.conversation_id == conversation_id)).all()
    return spans_to_hide(turns, models=models, masks=masks)


def spans_to_hide(
    turns: Sequence[Mapping[str, str]], *, models: Models, masks: Sequence[Mask] = ()
) -> list[HiddenSpan]:
    """The same from decisions at hand: what was decided to be hidden, and what nobody has decided but is certain or own."""
    found_by = _detector(models)
    masks = _newest(masks)
    spans = {HiddenSpan(mask.message, mask.start, mask.end) for mask in masks if mask.decision == "hide"}
    for index, message in enumerate(turns):
        for one in found_by.find(message["content"], by_chatbot=message["role"] != "user"):
            if (one.certain or one.own) and _decision(one, index, masks) is None:
                spans.add(HiddenSpan(index, one.start, one.end))
    return sorted(spans)


def spans_in_text(text: str, *, models: Models) -> list[tuple[int, int]]:
    """The places of a text by a rater, such as a reason, where a model of the study may be named."""
    found = _detector(models).find(text, by_chatbot=False)
    return [(one.start, one.end) for one in found if one.certain or one.own]


def study_models(session: Session, study: str) -> list[tuple[str, str, str]]:
    """The models of a study, as (slug, family, provider).

    Raises:
        LeakRefused: there is no such study.
    """
    if session.exec(select(func.count()).select_from(Study).where(Study.slug == study)).one() == 0:
        raise LeakRefused(f"there is no study {study!r}")
    rows = session.exec(
        select(Model.slug, Model.family, Model.provider)
        .join(Conversation, col(Conversation.model_id) == Model.id)
        .join(Run, col(Run.id) == Conversation.run_id)
        .join(Study, col(Study.id) == Run.study_id)
        .where(Study.slug == study)
        .distinct()
    ).all()
    return [(slug, family, provider) for slug, family, provider in rows]


def _detector(models: Models) -> Detector:
    known = frozenset((slug, family, provider) for slug, family, provider in models)
    return detector(frozenset(names_to_hide(known)), known)


def _decisions(session: Session, study: str) -> dict[int, list[Mask]]:
    masks = session.exec(
        select(Mask)
        .join(Conversation, col(Conversation.id) == Mask.conversation_id)
        .join(Run, col(Run.id) == Conversation.run_id)
        .join(Study, col(Study.id) == Run.study_id)
        .where(Study.slug == study)
    ).all()
    by_conversation: dict[int, list[Mask]] = {}
    for mask in _newest(masks):
        by_conversation.setdefault(mask.conversation_id, []).append(mask)
    return by_conversation


def _place(leak: Leak) -> dict[str, int]:
    return {
        "conversation_id": leak.conversation_id,
        "message": leak.message,
        "start": leak.start,
        "end": leak.end,
    }


def _newest_mask(session: Session, place: Mapping[str, int]) -> Mask | None:
    return session.exec(select(Mask).filter_by(**place).order_by(col(Mask.revision).desc()).limit(1)).first()


def _newest(masks: Iterable[Mask]) -> list[Mask]:
    """Of every place the newest decision; of two of the same revision the later in the list."""
    ordered = sorted(masks, key=lambda mask: mask.revision)
    return list(
        {(mask.conversation_id, mask.message, mask.start, mask.end): mask for mask in ordered}.values()
    )


def _decision(one: Finding | Leak, message: int, masks: Iterable[Mask]) -> Decision | None:
    """What was decided about a place, or about a larger one that holds it."""
    decided = [
        mask.decision
        for mask in masks
        if mask.message == message and mask.start <= one.start and one.end <= mask.end
    ]
    if "hide" in decided:
        return "hide"
    return "show" if decided else None
