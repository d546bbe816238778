"""Slots that their raters have abandoned: given up after a time, and opened to somebody else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
from sqlalchemy import Engine, update
from sqlmodel import col, select

from impactbench.domain import AssignmentReason
from impactbench.store.engine import reading, writing
from impactbench.store.tables import Assignment, Label
from reviews.assignment import Member, PlanRefused
from reviews.design.new_seats import NewSeat, Shortage, add_seats, find_raters, require_unchanged
from reviews.design.open_set import IN_THE_OVERLAP, OpenSet, names_by, read_open_set, require_unlocked
from reviews.design.slots import find_set, open_sets

SURPLUS = "the slot had been given to somebody else by then; the label is kept"


@dataclass(frozen=True, kw_only=True)
class Release:
    """What giving up abandoned slots of a review set would do; nothing of it is stored yet."""

    opened: OpenSet
    before: datetime
    """Raters who were not seen since then have abandoned what they have not answered."""
    abandoned: pd.DataFrame
    """One row a slot to give up: assignment_id, key, rater, reason, seen_at."""
    seats: tuple[NewSeat, ...]
    shortages: tuple[Shortage, ...]

    @property
    def summary(self) -> dict[str, Any]:
        """The preview as plain values."""
        per_rater = self.abandoned["rater"].value_counts()
        return {
            "study": self.opened.study,
            "review_set": self.opened.slug,
            "not_seen_since": self.before.isoformat(),
            "released": len(self.abandoned),
            "raters": {str(name): int(number) for name, number in per_rater.items()},
            "replaced": len(self.seats),
            "shortages": [
                {"item": s.item, "metric": s.metric, "lack": s.lack, "because": s.because}
                for s in self.shortages
            ],
        }


def draft_releases(
    engine: Engine,
    study: str,
    *,
    older_than: timedelta,
    slug: str | None = None,
    raters: Sequence[Member] = (),
    now: datetime | None = None,
) -> list[Release]:
    """For each open set of a study the slots that have been abandoned, and who could take them over; stores nothing.

    Abandoned is a slot without a label, opened longer ago than `older_than`, whose rater has done nothing at all since.

    Raises:
        PlanRefused: the study has no open set, or none of that name.
    """
    if older_than <= timedelta(0):
        raise PlanRefused("a time of nothing makes every slot abandoned; give one such as 14d")
    before = (now or datetime.now(UTC)) - older_than
    names = [one.slug for one in open_sets(engine, study)]
    if slug is not None or not names:
        names = [slug or ""]
    return [_draft(engine, read_open_set(engine, study, name, raters=raters), before) for name in names]


def _draft(engine: Engine, opened: OpenSet, before: datetime) -> Release:
    own = opened.assignments
    with reading(engine) as session:
        recent = set(session.exec(select(Assignment.id).where(col(Assignment.created_at) > before)))
    left = own["status"].eq("not_yet_rated") & own["released_at"].isna() & ~own["assignment_id"].isin(recent)
    abandoned = own[left & (own["seen_at"].isna() | (own["seen_at"] <= before))]
    overlap = abandoned[abandoned["reason"].isin(IN_THE_OVERLAP)]
    wanted = overlap["key"].value_counts()
    gone = names_by(overlap["key"], overlap["rater"])
    remaining = {
        key: tuple(name for name in team if name not in gone.get(key, ()))
        for key, team in opened.holders.items()
    }
    seats, shortages = find_raters(
        replace(opened, holders=remaining),
        {str(key): int(number) for key, number in wanted.items()},
        but_for=sorted(set(abandoned["rater"])),
    )
    return Release(
        opened=opened,
        before=before,
        abandoned=abandoned[["assignment_id", "key", "rater", "reason", "inclusion_probability", "seen_at"]],
        seats=tuple(seats),
        shortages=tuple(shortages),
    )


def save_release(engine: Engine, draft: Release, *, now: datetime | None = None) -> int:
    """Give the slots up and open others in their place, all or nothing; how many were given up.

    A slot whose rater has answered in the meantime is refused with the rest: the draft is out of date.

    Raises:
        PlanRefused: the set was locked or changed since the draft.
    """
    ids = [int(key) for key in draft.abandoned["assignment_id"]]
    if not ids:
        return 0
    with writing(engine) as session:
        review_set = find_set(session, draft.opened.study, draft.opened.slug, lock=True)
        require_unlocked(review_set.slug, review_set.locked_at)
        require_unchanged(session, draft.opened)
        answered = select(Label.id).where(Label.assignment_id == Assignment.id).exists()
        given_up = session.execute(
            update(Assignment)
            .where(col(Assignment.id).in_(ids), col(Assignment.released_at).is_(None), ~answered)
            .values(released_at=now or datetime.now(UTC))
            .returning(col(Assignment.id))
        ).all()
        if len(given_up) != len(ids):
            raise PlanRefused(
                "some of these slots were answered since the preview; run the command again for a new one"
            )
        for reason in IN_THE_OVERLAP:
            of_reason = draft.abandoned[draft.abandoned["reason"] == reason]
            chances = dict(zip(of_reason["key"], of_reason["inclusion_probability"], strict=True))
            seats = [seat for seat in draft.seats if _reason(draft, seat) == reason]
            add_seats(session, draft.opened, review_set, seats, reason=reason, probabilities=chances)
    return len(given_up)


def _reason(draft: Release, seat: NewSeat) -> str:
    """A seat takes the place of a slot of the core where one of its item was given up, else of an extra one."""
    reasons = set(draft.abandoned.loc[draft.abandoned["key"] == seat.item, "reason"])
    return AssignmentReason.CORE if AssignmentReason.CORE in reasons else AssignmentReason.ADAPTIVE


def surplus_labels(assignments: pd.DataFrame) -> pd.DataFrame:
    """A label on a slot that had been given up: review_set, conversation_id, metric_version_id, rater, released_at,
    labelled_at, because.

    Args:
        assignments: as `frames.assignments` gives them, with `slots`.
    """
    late = assignments[assignments["released_at"].notna() & (assignments["status"] != "not_yet_rated")]
    columns = ["review_set", "conversation_id", "metric_version_id", "rater", "released_at", "labelled_at"]
    return late[columns].assign(because=SURPLUS).reset_index(drop=True)
