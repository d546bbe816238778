"""Personal links: whoever opens one is the rater it was made for.

A link signs in one device, once, until it runs out or a newer one replaces it. Only a hash of it is kept, so that a copy
of the database opens no door.
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine, or_, update
from sqlmodel import Session, col, select

from impactbench.domain import ImpactBenchError
from impactbench.store.engine import reading, writing
from impactbench.store.tables import Assignment, Rater, ReviewSet, Study
from reviews.members.devices import add_device, hash_secret, signed_in_raters

VALID_DAYS = 60
ANOTHER_DEVICE_MINUTES = 60
"""How long a link works that somebody makes for a second device of their own."""


class InvitationRefused(ImpactBenchError):
    """A link that cannot be made; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A link that was used just now."""

    rater: Rater
    key: str
    """Of the device that it signed in."""


def invite(
    engine: Engine,
    rater: str,
    *,
    base_url: str,
    now: datetime | None = None,
    valid: timedelta = timedelta(days=VALID_DAYS),
    reusable: bool = False,
) -> str:
    """Make a new personal link for a rater (by pseudonym); the one they had stops working.

    Args:
        valid: for how long.
        reusable: whether it signs in any number of devices. For a demonstration only: such a link is a password.

    Raises:
        InvitationRefused: there is no such rater, or they are no longer active.
    """
    return f"{base_url}/enter/{make_token(engine, rater, now=now, valid=valid, reusable=reusable)}"


def make_token(
    engine: Engine,
    rater: str,
    *,
    now: datetime | None = None,
    valid: timedelta = timedelta(days=VALID_DAYS),
    reusable: bool = False,
) -> str:
    """The secret of a new link, which is a one-time code as well at somebody's first sign-in through their organisation.

    Raises:
        InvitationRefused: as for `invite`.
    """
    token = secrets.token_urlsafe(32)
    with writing(engine) as session:
        person = _find(session, rater)
        person.token_hash = hash_secret(token)
        person.token_expires_at = (now or datetime.now(UTC)) + valid
        person.token_used_at, person.token_reusable = None, reusable
        session.add(person)
    return token


def link_for_another_device(engine: Engine, rater: str, *, base_url: str, now: datetime | None = None) -> str:
    """A link that somebody who is signed in makes for themselves: short-lived, and for one device as any other.

    Raises:
        InvitationRefused: they are no longer active.
    """
    return invite(engine, rater, base_url=base_url, now=now, valid=timedelta(minutes=ANOTHER_DEVICE_MINUTES))


def rater_of_token(engine: Engine, token: str, *, now: datetime) -> Rater | None:
    """Whose link this is, without using it; None where it never was one, is used up, has expired or was replaced, or its
    rater is not active.
    """
    person = _of_token(engine, token)
    return person if person is not None and has_link(person, now=now) else None


def rater_of_used_token(engine: Engine, token: str) -> Rater | None:
    """Whose link this was, where it has been used and no newer one was made since; else None."""
    person = _of_token(engine, token)
    return person if person is not None and person.active and person.token_used_at is not None else None


def open_link(engine: Engine, token: str, *, now: datetime) -> Opened | None:
    """Use a link on a device; None as for `rater_of_token`. Of two who use it at the same moment one comes in."""
    with writing(engine) as session:
        used = session.execute(
            update(Rater)
            .where(
                col(Rater.token_hash) == hash_secret(token),
                col(Rater.active),
                col(Rater.token_expires_at) > now,
                or_(col(Rater.token_used_at).is_(None), col(Rater.token_reusable)),
            )
            .values(token_used_at=now)
            .returning(col(Rater.id))
        ).scalar_one_or_none()
        if used is None:
            return None
        return Opened(rater=session.get_one(Rater, used), key=add_device(session, used, now=now))


def has_link(person: Rater, *, now: datetime) -> bool:
    """Whether a rater has a link that works."""
    expires, unused = person.token_expires_at, person.token_used_at is None or person.token_reusable
    return (
        person.active and person.token_hash is not None and unused and expires is not None and expires > now
    )


def raters_without_way_in(
    engine: Engine, raters: Collection[str], *, now: datetime | None = None
) -> list[str]:
    """Those of the raters (by pseudonym) who have no link that works and are signed in nowhere, in the order given."""
    moment = now or datetime.now(UTC)
    with reading(engine) as session:
        people = session.exec(select(Rater).where(col(Rater.pseudonym).in_(list(raters)))).all()
        signed_in = signed_in_raters(session, now=moment)
    entering = {
        person.pseudonym
        for person in people
        if has_link(person, now=moment) or (person.active and person.id in signed_in)
    }
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


def _of_token(engine: Engine, token: str) -> Rater | None:
    with reading(engine) as session:
        return session.exec(select(Rater).where(Rater.token_hash == hash_secret(token))).one_or_none()


def _find(session: Session, rater: str) -> Rater:
    person = session.exec(select(Rater).where(Rater.pseudonym == rater)).one_or_none()
    if person is None:
        raise InvitationRefused(
            f"there is nobody called {rater!r}; add them with `impactbench people add {rater}`"
        )
    if not person.active:
        raise InvitationRefused(f"{rater!r} is no longer active, so there is no link for them")
    return person
