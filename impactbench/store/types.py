"""Column types that behave the same on SQLite and PostgreSQL."""

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, CheckConstraint, DateTime, Dialect, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator

JSONColumn = JSON().with_variant(JSONB(), "postgresql")


class UTCDateTime(TypeDecorator[datetime]):
    """An instant. Naive values are refused; values come back in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without a zone was to be stored: {value!r}; use datetime.now(UTC)")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class EnumText(TypeDecorator[StrEnum]):
    """A `StrEnum` kept as its text, so that an old database can be read without the program."""

    impl = String
    cache_ok = True

    def __init__(self, enum: type[StrEnum]) -> None:
        self.enum = enum
        self.width = max(len(member) for member in enum)
        super().__init__(self.width)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else self.enum(value).value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], StrEnum | None]:
        """One look-up a cell: tables of many rows are read through this."""
        known: dict[Any, StrEnum | None] = {None: None, **{member.value: member for member in self.enum}}

        def read(value: Any) -> StrEnum | None:
            try:
                return known[value]
            except KeyError:
                return self.enum(value)

        return read


def one_of(column: str, enum: type[StrEnum]) -> CheckConstraint:
    """The CHECK that keeps foreign words out of an enum column."""
    words = ", ".join(f"'{member.value}'" for member in enum)
    return CheckConstraint(f"{column} IN ({words})", name=f"{column}_is_known")
