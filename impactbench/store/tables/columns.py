"""The base of every table, and the columns that most of them have."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, Text
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from impactbench.store.types import JSONColumn, UTCDateTime


class Table(SQLModel, registry=registry()):
    """The base of every table, with a registry of its own: Streamlit imports modules again when it reloads."""


def now() -> datetime:
    return datetime.now(UTC)


def text(**more: Any) -> Any:
    return Field(sa_column=Column(Text, nullable=False), **more)


def json(default: Any) -> Any:
    return Field(default_factory=default, sa_type=JSONColumn)


def time() -> Any:
    return Field(default_factory=now, sa_type=UTCDateTime)


def to(target: str, *, index: bool = True, **more: Any) -> Any:
    return Field(foreign_key=f"{target}.id", index=index, **more)
