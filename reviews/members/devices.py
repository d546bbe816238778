"""Devices: browsers that somebody has signed in. The key of one is in its cookie; here only a hash of it is kept."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import ColumnElement, Engine, Text, bindparam, update
from sqlmodel import Session, col, select

from impactbench.domain import ImpactBenchError
from impactbench.store.engine import reading, reading_rows, writing, writing_rows
from impactbench.store.tables import Device, Rater
from impactbench.store.types import UTCDateTime

SIGNED_IN_DAYS = 60
"""How long a device stays signed in."""


class DeviceRefused(ImpactBenchError):
    """A device that is not there; the text says how to see which are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A device of somebody, as they and a maintainer may see it."""

    number: int
    since: datetime
    until: datetime
    last_seen_on: date


def hash_secret(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def add_device(session: Session, rater_id: int, *, now: datetime) -> str:
    """Sign a browser in; gives the key that it is known by."""
    key = secrets.token_urlsafe(32)
    session.add(
        Device(
            rater_id=rater_id,
            key_hash=hash_secret(key),
            created_at=now,
            last_seen_on=now.astimezone(UTC).date(),
        )
    )
    return key


def rater_of_device(engine: Engine, key: str, *, now: datetime) -> Rater | None:
    """Whose device has this key; None where it never was one, was revoked or is too old, or its rater is not active.

    The first time on a day is put down, so that people can see which of their devices are in use.
    """
    with reading_rows(engine) as rows:
        found = rows.execute(_BEHIND, {"key_hash": hash_secret(key), "since": _since(now)}).one_or_none()
    if found is None:
        return None
    device, last_seen_on, *person = found
    today = now.astimezone(UTC).date()
    if last_seen_on < today:
        with writing_rows(engine) as rows:
            rows.execute(update(Device).where(col(Device.id) == device).values(last_seen_on=today))
    return Rater(**dict(zip(_OF_RATER, person, strict=True)))


def devices_of(engine: Engine, name: str) -> list[SignedIn]:
    """The devices on which somebody (by pseudonym) is signed in, the newest first."""
    with reading(engine) as session:
        devices = session.exec(
            select(Device)
            .join(Rater, col(Rater.id) == Device.rater_id)
            .where(Rater.pseudonym == name, col(Rater.active), *_in_force(datetime.now(UTC)))
            .order_by(col(Device.id).desc())
        ).all()
    return [
        SignedIn(
            number=device.id or 0,
            since=device.created_at,
            until=device.created_at + timedelta(days=SIGNED_IN_DAYS),
            last_seen_on=device.last_seen_on,
        )
        for device in devices
    ]


def end_device(engine: Engine, name: str, number: int) -> None:
    """Sign one of somebody's devices out.

    Raises:
        DeviceRefused: they have no such device that is signed in.
    """
    with writing(engine) as session:
        device = session.exec(
            select(Device)
            .join(Rater, col(Rater.id) == Device.rater_id)
            .where(Device.id == number, Rater.pseudonym == name, *_in_force(datetime.now(UTC)))
        ).one_or_none()
        if device is None:
            raise DeviceRefused(
                f"{name!r} is signed in on no device {number}; `impactbench people devices {name}` lists them"
            )
        device.revoked_at = datetime.now(UTC)


def end_this_device(engine: Engine, key: str) -> None:
    """Sign out the device that has this key; where there is none, nothing happens."""
    with writing(engine) as session:
        session.execute(
            update(Device)
            .where(col(Device.key_hash) == hash_secret(key), col(Device.revoked_at).is_(None))
            .values(revoked_at=datetime.now(UTC))
        )


def end_all_devices(session: Session, rater_id: int | None) -> int:
    """Sign somebody out everywhere; returns on how many devices they were."""
    devices = session.exec(
        select(Device).where(Device.rater_id == rater_id, *_in_force(datetime.now(UTC)))
    ).all()
    for device in devices:
        device.revoked_at = datetime.now(UTC)
    return len(devices)


def signed_in_raters(session: Session, *, now: datetime) -> dict[int, int]:
    """Rater -> on how many devices they are signed in; whoever is on none is not in it."""
    counts: dict[int, int] = {}
    for rater_id in session.exec(select(Device.rater_id).where(*_in_force(now))).all():
        counts[rater_id] = counts.get(rater_id, 0) + 1
    return counts


def _in_force(now: datetime | None = None) -> tuple[ColumnElement[bool], ...]:
    """The conditions under which a device is signed in; without a time, it is bound to `since`."""
    since = _SINCE if now is None else _since(now)
    return col(Device.revoked_at).is_(None), col(Device.created_at) > since


def _since(now: datetime) -> datetime:
    """A device that was signed in before is not any more."""
    return now - timedelta(days=SIGNED_IN_DAYS)


_SINCE = bindparam("since", type_=UTCDateTime())
_OF_RATER = tuple(Rater.model_fields)
_BEHIND = (
    select(col(Device.id), col(Device.last_seen_on), *(getattr(Rater, name) for name in _OF_RATER))
    .join(Rater, col(Rater.id) == Device.rater_id)
    .where(Device.key_hash == bindparam("key_hash", type_=Text), col(Rater.active), *_in_force())
)
