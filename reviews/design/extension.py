"""Raising the overlap of an open review set: only the missing slots are opened, and nothing that is done is touched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import AssignmentReason
from impactbench.store.engine import writing
from reviews.assignment import Member, PlanRefused
from reviews.design.new_seats import NewSeat, Shortage, add_seats, find_raters, require_unchanged
from reviews.design.open_set import OpenSet, read_open_set, require_unlocked
from reviews.design.slots import find_set


@dataclass(frozen=True, kw_only=True)
class Extension:
    """What raising the overlap would open; nothing of it is stored yet."""

    opened: OpenSet
    to: int
    reason: AssignmentReason
    seats: tuple[NewSeat, ...]
    shortages: tuple[Shortage, ...]
    notes: tuple[str, ...]
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """Item -> its chance of extra raters, for every item that could have been drawn."""

    @property
    def loads(self) -> dict[str, int]:
        """New items of each rater."""
        counts = pd.Series([seat.rater for seat in self.seats], dtype=object).value_counts()
        return {member.name: int(counts.get(member.name, 0)) for member in self.opened.members}

    @property
    def summary(self) -> dict[str, Any]:
        """The preview as plain values."""
        return {
            "study": self.opened.study,
            "review_set": self.opened.slug,
            "to": self.to,
            "reason": self.reason,
            "items": len(self.opened.items),
            "items_extended": len({seat.item for seat in self.seats}),
            "assignments": len(self.seats),
            "raters": self.loads,
            "shortages": [
                {
                    "item": s.item,
                    "metric": s.metric,
                    "missing": s.missing,
                    "lack": s.lack,
                    "because": s.because,
                }
                for s in self.shortages
            ],
            "probabilities": dict(self.probabilities),
            "notes": list(self.notes),
        }


def draft_extension(
    engine: Engine, study: str, slug: str, *, to: int, raters: Sequence[Member] = ()
) -> Extension:
    """Give every item that has fewer than `to` raters as many as are missing; stores nothing.

    Args:
        raters: people to draw on besides the raters of the set.

    Raises:
        PlanRefused: the set is not there or locked, or `to` is no number of raters.
    """
    if to < 1:
        raise PlanRefused(f"overlap {to} is no number of raters; give 1 or more")
    opened = read_open_set(engine, study, slug, raters=raters)
    has = {key: len(opened.holders.get(key, ())) for key in opened.items["key"]}
    seats, shortages = find_raters(opened, {key: max(0, to - n) for key, n in has.items()})
    notes = []
    if above := sum(n > to for n in has.values()):
        notes.append(f"{above} items have more than {to} raters and keep them: nothing is taken away.")
    if done := sum(n == to for n in has.values()):
        notes.append(f"{done} items have {to} raters already.")
    return Extension(
        opened=opened,
        to=to,
        reason=AssignmentReason.CORE,
        seats=tuple(seats),
        shortages=tuple(shortages),
        notes=tuple(notes),
    )


def save_extension(engine: Engine, draft: Extension) -> int:
    """Open the slots, all of them or none; how many were opened.

    Raises:
        PlanRefused: the set was locked or changed since the draft.
    """
    with writing(engine) as session:
        review_set = find_set(session, draft.opened.study, draft.opened.slug, lock=True)
        require_unlocked(review_set.slug, review_set.locked_at)
        require_unchanged(session, draft.opened)
        return add_seats(
            session,
            draft.opened,
            review_set,
            draft.seats,
            reason=draft.reason,
            probabilities=draft.probabilities,
        )
