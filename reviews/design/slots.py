"""Assignments as slots of a design: the set that they are of, and when their raters were last seen."""

from collections.abc import Mapping

import pandas as pd
from sqlalchemy import Engine, func
from sqlmodel import Session, col, select

from impactbench.store.engine import reading
from impactbench.store.tables import Assignment, Draft, Exposure, Label, Rater, ReviewSet, Study
from reviews.assignment import PlanRefused


def last_seen(engine: Engine) -> dict[str, pd.Timestamp]:
    """When each rater last did anything: was sent an item, left a draft, saved a label."""
    seen: dict[str, pd.Timestamp] = {}
    name = col(Rater.pseudonym)
    with reading(engine) as session:
        for moments in (
            select(name, func.max(Exposure.shown_at)).join(Exposure, col(Exposure.rater_id) == Rater.id),
            select(name, func.max(Draft.updated_at))
            .join(Assignment, col(Assignment.rater_id) == Rater.id)
            .join(Draft, col(Draft.assignment_id) == Assignment.id),
            select(name, func.max(Label.created_at))
            .join(Assignment, col(Assignment.rater_id) == Rater.id)
            .join(Label, col(Label.assignment_id) == Assignment.id),
        ):
            for rater, moment in session.exec(moments.group_by(name)):
                at = pd.Timestamp(moment)
                seen[rater] = max(seen.get(rater, at), at)
    return seen


def seen_at(raters: pd.Series, seen: Mapping[str, pd.Timestamp]) -> pd.Series:
    """When each of these raters last did anything at all; missing where they never did."""
    return pd.to_datetime(raters.map(seen), utc=True)


def open_sets(engine: Engine, study: str) -> list[ReviewSet]:
    """The review sets made here that may still be added to, oldest first."""
    with reading(engine) as session:
        query = (
            select(ReviewSet)
            .join(Study, col(Study.id) == ReviewSet.study_id)
            .where(Study.slug == study, ReviewSet.origin == "design", col(ReviewSet.locked_at).is_(None))
            .order_by(col(ReviewSet.id))
        )
        return list(session.exec(query))


def find_set(session: Session, study: str, slug: str, *, lock: bool = False) -> ReviewSet:
    """A review set made here; with `lock`, nobody else changes it until the transaction ends.

    Raises:
        PlanRefused: there is none of this name, or it came as an import.
    """
    query = (
        select(ReviewSet)
        .join(Study, col(Study.id) == ReviewSet.study_id)
        .where(Study.slug == study, ReviewSet.origin == "design")
        .order_by(col(ReviewSet.id))
    )
    named = query.where(ReviewSet.slug == slug)
    found = session.exec(named.with_for_update(of=ReviewSet) if lock else named).one_or_none()
    if found is None:
        known = [one.slug for one in session.exec(query)]
        there = (
            f"there are {', '.join(known)}" if known else f"open one with `impactbench review open {study}`"
        )
        raise PlanRefused(f"the study {study!r} has no review set {slug!r} of its own; {there}")
    return found
