"""Which of somebody's devices it is that asks."""

from sqlalchemy import Engine
from sqlmodel import select

from impactbench.store.engine import reading
from impactbench.store.tables import Device
from reviews.members.devices import hash_secret


def number_of_device(engine: Engine, key: str) -> int | None:
    """The number, as in `devices_of`, of the device that has this key; None where no device has it."""
    with reading(engine) as session:
        return session.exec(select(Device.id).where(Device.key_hash == hash_secret(key))).one_or_none()
