"""People as members of a study: their roles, the doors they come in by, and what is left of those who have gone."""

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal

from sqlalchemy import Engine, delete, func
from sqlalchemy.orm.attributes import flag_modified
from sqlmodel import Session, col, select

from impactbench.domain import ImpactBenchError, Panel, Role
from impactbench.store.engine import reading, writing
from impactbench.store.tables import Assignment, Draft, Label, Rater, ReviewSet
from reviews.members.devices import end_all_devices, hash_secret, signed_in_raters
from reviews.members.invitations import has_link

Door = Literal["device", "link", "organisation", "none", "left"]
"""How somebody comes in: on a device that is signed in, by a link not used yet, through their organisation, not at all, or
never again."""

_FORMER = {Role.EXPERT: "former-rater", Role.METHODOLOGIST: "former-member", Role.MAINTAINER: "former-member"}


class PersonRefused(ImpactBenchError):
    """Something that cannot be done with a person; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who is or was in a study."""

    name: str
    role: Role
    panel: Panel | None
    door: Door
    link_until: datetime | None
    """When the personal link runs out; None where there is none that works."""
    devices: int
    """On how many they are signed in."""
    asked: int
    """Items that they were given."""
    answered: int
    expertise: tuple[str, ...]
    languages: tuple[str, ...]
    conflicts: tuple[str, ...]


def list_people(engine: Engine, *, now: datetime | None = None) -> list[Person]:
    """Everybody, by name."""
    moment = now or datetime.now(UTC)
    with reading(engine) as session:
        counts = (
            select(
                col(Assignment.rater_id).label("rater_id"),
                func.count(col(Assignment.id)).label("asked"),
                func.count(col(Label.id)).label("answered"),
            )
            .outerjoin(Label, (col(Label.assignment_id) == Assignment.id) & (col(Label.revision) == 1))
            .group_by(col(Assignment.rater_id))
            .subquery()
        )
        rows = session.exec(
            select(Rater, counts.c.asked, counts.c.answered)
            .outerjoin(counts, counts.c.rater_id == Rater.id)
            .order_by(col(Rater.pseudonym))
        ).all()
        devices = signed_in_raters(session, now=moment)
    return [
        Person(
            name=rater.pseudonym,
            role=rater.role,
            panel=rater.panel,
            door=_door(rater, moment, signed_in=rater.id in devices),
            link_until=rater.token_expires_at if has_link(rater, now=moment) else None,
            devices=devices.get(rater.id or 0, 0) if rater.active else 0,
            asked=asked or 0,
            answered=answered or 0,
            expertise=tuple(rater.expertise.split()),
            languages=tuple(rater.languages),
            conflicts=tuple(rater.conflicts),
        )
        for rater, asked, answered in rows
    ]


def _door(rater: Rater, now: datetime, *, signed_in: bool) -> Door:
    if not rater.active:
        return "left"
    if signed_in:
        return "device"
    if has_link(rater, now=now):
        return "link"
    return "none" if rater.identity is None else "organisation"


def revoke(engine: Engine, name: str) -> bool:
    """End somebody's personal link and sign them out on every device; False where there was nothing to end.

    Raises:
        PersonRefused: there is nobody of that name.
    """
    with writing(engine) as session:
        person = find_person(session, name)
        had = has_link(person, now=datetime.now(UTC))
        ended = end_all_devices(session, person.id)
        _drop_link(person)
    return had or ended > 0


def deactivate(engine: Engine, name: str) -> str:
    """Let somebody go: no way in, a neutral name, nothing personal; gives the new name.

    What they said stays as it is, and so does every figure. What they had only begun to write is deleted.

    Raises:
        PersonRefused: there is nobody of that name, or they have left already.
    """
    with writing(engine) as session:
        person = find_person(session, name)
        if not person.active:
            raise PersonRefused(f"{name!r} has left already")
        before, person.pseudonym = person.pseudonym, _neutral_name(session, person.role)
        person.active = False
        person.identity = None
        _drop_link(person)
        end_all_devices(session, person.id)
        person.expertise, person.languages, person.conflicts = "", [], []
        mine = select(Assignment.id).where(Assignment.rater_id == person.id)
        session.execute(delete(Draft).where(col(Draft.assignment_id).in_(mine)))
        for review_set in session.exec(select(ReviewSet)).all():
            renamed = _renamed(review_set.design, before, person.pseudonym)
            if renamed != review_set.design:
                review_set.design = renamed
                flag_modified(review_set, "design")
        return person.pseudonym


def change_role(engine: Engine, name: str, *, role: Role, panel: Panel | None = None) -> None:
    """Give somebody another role, or an expert another panel.

    Raises:
        PersonRefused: they are unknown or have left, rate items still, or a panel is named for somebody who rates nothing.
    """
    if panel is not None and role is not Role.EXPERT:
        raise PersonRefused(f"a {role} rates nothing and so is in no panel; leave the panel out")
    with writing(engine) as session:
        person = find_person(session, name)
        if not person.active:
            raise PersonRefused(f"{name!r} has left and can have no role")
        if (person.role, person.panel) == (role, panel):
            return
        if person.role is Role.EXPERT and (waiting := _open_items(session, person)):
            raise PersonRefused(
                f"{name!r} has {waiting} assignments in reviews that are still open, and whoever rates must not see results; "
                "lock these reviews first, or add the person under another name"
            )
        person.role, person.panel = role, panel


def link_identity(engine: Engine, name: str, identity: str) -> None:
    """Let somebody sign in as this identity (`ISSUER#SUBJECT`) of their organisation.

    Raises:
        PersonRefused: they are unknown or have left, it is not an identity, or it is somebody else's.
    """
    _require_identity(identity)
    with writing(engine) as session:
        person = find_person(session, name)
        if not person.active:
            raise PersonRefused(f"{name!r} has left and cannot sign in")
        _give_identity(session, person, identity)


def claim_identity(engine: Engine, code: str, identity: str, *, now: datetime | None = None) -> Rater | None:
    """At a first sign-in: whoever has this one-time code is this identity from now on; None where the code is not one.

    The code is the secret of a personal link. It works once here, and the link is gone with it.

    Raises:
        PersonRefused: the identity is not one, or is somebody else's.
    """
    _require_identity(identity)
    with writing(engine) as session:
        person = session.exec(select(Rater).where(Rater.token_hash == hash_secret(code))).one_or_none()
        if person is None or not has_link(person, now=now or datetime.now(UTC)):
            return None
        _give_identity(session, person, identity)
        _drop_link(person)
        return person


def person_of_identity(engine: Engine, identity: str) -> Rater | None:
    """Who signs in as an identity; None where nobody does, or they have left."""
    with reading(engine) as session:
        return session.exec(select(Rater).where(Rater.identity == identity, col(Rater.active))).one_or_none()


def _drop_link(person: Rater) -> None:
    person.token_hash = person.token_expires_at = person.token_used_at = None
    person.token_reusable = False


def _give_identity(session: Session, person: Rater, identity: str) -> None:
    other = session.exec(select(Rater).where(Rater.identity == identity)).one_or_none()
    if other is not None and other.id != person.id:
        raise PersonRefused(f"the identity {identity!r} belongs to {other.pseudonym!r} already")
    person.identity = identity


def _require_identity(identity: str) -> None:
    issuer, _, subject = identity.partition("#")
    if not issuer.startswith(("https://", "http://")) or not subject or len(identity) > 1_000:
        raise PersonRefused(
            f"{identity[:100]!r} is no identity; write ISSUER#SUBJECT, such as https://login.example.org#a1b2"
        )


def find_person(session: Session, name: str) -> Rater:
    """Somebody by name.

    Raises:
        PersonRefused: there is nobody of that name.
    """
    person = session.exec(select(Rater).where(Rater.pseudonym == name)).one_or_none()
    if person is None:
        raise PersonRefused(f"there is nobody called {name!r}; `impactbench people list` shows who there is")
    return person


def _open_items(session: Session, person: Rater) -> int:
    return session.exec(
        select(func.count(col(Assignment.id)))
        .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
        .where(
            Assignment.rater_id == person.id, ReviewSet.origin == "design", col(ReviewSet.locked_at).is_(None)
        )
    ).one()


def _neutral_name(session: Session, role: Role) -> str:
    """The first name of its kind that is free; it says nothing of who it was."""
    stem = _FORMER[role]
    taken = set(session.exec(select(Rater.pseudonym).where(col(Rater.pseudonym).startswith(stem))).all())
    return next(name for number in count(1) if (name := f"{stem}-{number}") not in taken)


def _renamed(value: Any, before: str, after: str) -> Any:
    """A JSON value in which a name stands for another, as a value or as a key."""
    match value:
        case dict():
            return {
                after if key == before else key: _renamed(part, before, after) for key, part in value.items()
            }
        case list():
            return [_renamed(part, before, after) for part in value]
        case _:
            return after if value == before else value
