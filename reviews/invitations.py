"""Personal links: whoever opens one is the rater it was made for.

A link may be opened on several devices until it expires or a newer one replaces it. Only a hash of it is kept, so that
a copy of the database opens no door.
"""

import hashlib
import secrets
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.domain import ImpactBenchError
from impactbench.store.engine import reading, writing
from impactbench.store.tables import Assignment, Rater, ReviewSet, Study

VALID_DAYS = 60


class InvitationRefused(ImpactBenchError):
    """A link that cannot be made; the text says why."""


def invite(
    engine: Engine, rater: str, *, base_url: str, now: datetime | None = None, days: int = VALID_DAYS
) -> str:
    """Make a new personal link for a rater (by pseudonym); the one they had stops working.

    Raises:
        InvitationRefused: there is no such rater, or they are no longer active.
    """
    return f"{base_url}/enter/{make_token(engine, rater, now=now, days=days)}"


def make_token(engine: Engine, rater: str, *, now: datetime | None = None, days: int = VALID_DAYS) -> str:
    """The secret of a new link, which is a one-time code as well at somebody's first sign-in through their organisation.

    Raises:
        InvitationRefused: as for `invite`.
    """
    token = secrets.token_urlsafe(32)
    with writing(engine) as session:
        person = _find(session, rater)
        person.token_hash = hash_token(token)
        person.token_expires_at = (now or datetime.now(UTC)) + timedelta(days=days)
        session.add(person)
    return token


def hash_token(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def rater_of_token(engine: Engine, token: str, *, now: datetime) -> Rater | None:
    """Whose link this is; None where it never was one, has expired, was replaced, or its rater is not active."""
    return rater_of_hash(engine, hash_token(token), now=now)


def rater_of_hash(engine: Engine, token_hash: str, *, now: datetime) -> Rater | None:
    """As `rater_of_token`, from the hash that a sign-in cookie carries."""
    with reading(engine) as session:
        person = session.exec(select(Rater).where(Rater.token_hash == token_hash)).one_or_none()
    return person if person is not None and may_enter(person, now=now) else None


def may_enter(person: Rater, *, now: datetime) -> bool:
    """Whether a rater has a link that works."""
    expires = person.token_expires_at
    return person.active and person.token_hash is not None and expires is not None and expires > now


def raters_without_link(engine: Engine, raters: Collection[str], *, now: datetime | None = None) -> list[str]:
    """Those of the raters (by pseudonym) who have no link that works, in the order given."""
    with reading(engine) as session:
        people = session.exec(select(Rater).where(col(Rater.pseudonym).in_(list(raters)))).all()
    entering = {person.pseudonym for person in people if may_enter(person, now=now or datetime.now(UTC))}
    return [rater for rater in raters if rater not in entering]


def raters_to_invite(engine: Engine, study: str) -> list[str]:
    """The active raters of a study's own review sets, by pseudonym.

    Raises:
        InvitationRefused: the study has none.
    """
    with reading(engine) as session:
        raters = session.exec(
            select(Rater.pseudonym)
            .join(Assignment, col(Assignment.rater_id) == Rater.id)
            .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
            .join(Study, col(Study.id) == ReviewSet.study_id)
            .where(Study.slug == study, ReviewSet.origin == "design", col(Rater.active))
            .distinct()
            .order_by(col(Rater.pseudonym))
        ).all()
    if not raters:
        raise InvitationRefused(
            f"the study {study!r} has no review set with raters; open one with `impactbench review open {study}`"
        )
    return list(raters)


def _find(session: Session, rater: str) -> Rater:
    person = session.exec(select(Rater).where(Rater.pseudonym == rater)).one_or_none()
    if person is None:
        raise InvitationRefused(
            f"there is nobody called {rater!r}; add them with `impactbench people add {rater}`"
        )
    if not person.active:
        raise InvitationRefused(f"{rater!r} is no longer active, so there is no link for them")
    return person
