"""Rows that travel between databases: what they belong to is named by its natural key, never by a number.

A conversation is `{"run": ["winter", "pass/model"], "key": "m01_s001", ...}`: the column `run_id` became `run`, and the
number the key by which anybody would name that run.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, inspect, select
from sqlmodel import Session

from impactbench.adapters import ImportRefused
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent

Key = tuple[Any, ...]
Row = Mapping[str, Any]

_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A table whose rows travel."""

    table: type[t.Table]
    key: tuple[str, ...]
    """The columns that name a row; numbers among them stand for the keys of what they point to."""
    must_agree: tuple[str, ...] = ()
    """What may not differ from a row of the same key that is there already."""


KINDS: dict[str, _Kind] = {
    "subarea": _Kind(table=t.Subarea, key=("slug",)),
    "benchmark": _Kind(table=t.Benchmark, key=("slug",)),
    "metric": _Kind(table=t.Metric, key=("benchmark_id", "slug")),
    "metric_version": _Kind(
        table=t.MetricVersion, key=("metric_id", "version"), must_agree=("content_hash", "polarity")
    ),
    "placement": _Kind(table=t.Placement, key=("metric_id", "subarea_id")),
    "model": _Kind(table=t.Model, key=("slug",)),
    "scenario": _Kind(table=t.Scenario, key=("metric_version_id", "slug"), must_agree=("content_hash",)),
    "study": _Kind(table=t.Study, key=("slug",)),
    "registration": _Kind(table=t.Registration, key=("study_id", "revision"), must_agree=("plan_hash",)),
    "run": _Kind(table=t.Run, key=("study_id", "slug")),
    "conversation": _Kind(table=t.Conversation, key=("run_id", "key"), must_agree=("content_hash",)),
    "judge": _Kind(table=t.Judge, key=("model_id", "prompt_hash", "parameters_hash")),
    "judgment": _Kind(
        table=t.Judgment,
        key=("conversation_id", "metric_version_id", "judge_id", "repeat"),
        must_agree=("present", "unscored_because", "justification"),
    ),
    "rater": _Kind(table=t.Rater, key=("pseudonym",), must_agree=("panel",)),
    "review_set": _Kind(table=t.ReviewSet, key=("study_id", "slug"), must_agree=("design_hash",)),
    "assignment": _Kind(
        table=t.Assignment,
        key=("study_id", "conversation_id", "metric_version_id", "rater_id", "repeat"),
        must_agree=("review_set_id",),
    ),
    "label": _Kind(
        table=t.Label,
        key=("assignment_id", "revision"),
        must_agree=("status", "verdict", "no_verdict_because", "confidence", "rationale", "turns"),
    ),
    "response": _Kind(
        table=t.Response,
        key=("rater_id", "review_set_id", "subject", "question", "revision"),
        must_agree=("value",),
    ),
    "mask": _Kind(
        table=t.Mask,
        key=("conversation_id", "message", "start", "end", "revision"),
        must_agree=("decision",),
    ),
    "adjudication": _Kind(
        table=t.Adjudication,
        key=("study_id", "conversation_id", "metric_version_id", "revision"),
        must_agree=("verdict", "because"),
    ),
}
"""By table, in an order in which nothing comes before what it belongs to."""


@dataclass(slots=True)
class PortableStore:
    """Reads and keeps portable rows within one transaction."""

    session: Session
    read: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)
    _ids: dict[str, dict[Key, int]] = field(default_factory=dict)
    _keys: dict[str, dict[int, Key]] = field(default_factory=dict)

    def keys(self, name: str) -> dict[int, Key]:
        """The natural key of each row of a table, by its number."""
        if name not in self._keys:
            self._keys[name] = {number: key for key, number in self.ids(name).items()}
        return self._keys[name]

    def ids(self, name: str) -> dict[Key, int]:
        """The number of each row of a table, by its natural key."""
        if name not in self._ids:
            kind = KINDS[name]
            columns = [_column(kind.table, part) for part in kind.key]
            numbers = inspect(kind.table).columns["id"]
            parents = [self._parents(column) for column in columns]
            self._ids[name] = {
                _flat(
                    part if known is None else known[part] for part, known in zip(parts, parents, strict=True)
                ): number
                for number, *parts in self.session.execute(select(numbers, *columns))
            }
        return self._ids[name]

    def portable(self, name: str, row: t.Table, *, leave_out: Sequence[str] = ()) -> dict[str, Any]:
        """A row with keys instead of numbers, in JSON's types."""
        values = row.model_dump(mode="json")
        carried: dict[str, Any] = {}
        for column in inspect(KINDS[name].table).columns:
            if column.name == "id" or column.name in leave_out:
                continue
            if known := self._parents(column):
                carried[column.name.removesuffix("_id")] = list(known[values[column.name]])
            else:
                carried[column.name] = values[column.name]
        return carried

    def keep(self, name: str, rows: Sequence[Row], *, where: str = "") -> dict[Key, int]:
        """Add the rows that are not there; the number of every row of the table, by its key.

        Raises:
            ImportRefused: a row of the same key says something else, or one belongs to nothing that is there.
        """
        kind = KINDS[name]
        placed = [self._placed(name, row, where=where) for row in rows]
        before = set(self.ids(name)) if "id" in inspect(kind.table).columns else set()
        added = 0
        for first in range(0, len(placed), _AT_ONCE):
            added += insert_if_absent(self.session, kind.table, placed[first : first + _AT_ONCE])
        self.read[name] += len(rows)
        self.added[name] += added
        self._ids.pop(name, None)
        self._keys.pop(name, None)
        if "id" not in inspect(kind.table).columns:
            return {}
        if known := [
            (row, values) for row, values in zip(rows, placed, strict=True) if self.key(name, row) in before
        ]:
            self._require_agreement(name, known, where=where)
        return self.ids(name)

    def key(self, name: str, row: Row) -> Key:
        """The natural key of a portable row."""
        parts = []
        for part in KINDS[name].key:
            column = _column(KINDS[name].table, part)
            parts.append(tuple(row[part.removesuffix("_id")]) if _target(column) else row[part])
        return _flat(parts)

    def _placed(self, name: str, row: Row, *, where: str) -> dict[str, Any]:
        placed = dict(row)
        for column in inspect(KINDS[name].table).columns:
            short = column.name.removesuffix("_id")
            if not (target := _target(column)) or short not in placed:
                continue
            key = tuple(placed.pop(short))
            if key not in self.ids(target):
                raise ImportRefused(
                    f"{where or name}: a {name} belongs to the {target.replace('_', ' ')} {_shown(key)}, which is not there"
                )
            placed[column.name] = self.ids(target)[key]
        return placed

    def _require_agreement(
        self, name: str, rows: Sequence[tuple[Row, dict[str, Any]]], *, where: str
    ) -> None:
        kind = KINDS[name]
        if not kind.must_agree:
            return
        table, ids = inspect(kind.table).columns, self.ids(name)
        wanted = {ids[self.key(name, row)]: (row, values) for row, values in rows}
        numbers = sorted(wanted)
        for first in range(0, len(numbers), _AT_ONCE):
            query = select(table["id"], *(table[part] for part in kind.must_agree))
            several = numbers[first : first + _AT_ONCE]
            for number, *stored in self.session.execute(query.where(table["id"].in_(several))):
                row, values = wanted[number]
                for part, there in zip(kind.must_agree, stored, strict=True):
                    if part in values and values[part] != there and (name, values[part]) != ("rater", None):
                        raise ImportRefused(
                            f"{where or name}: {name.replace('_', ' ')} {_shown(self.key(name, row))} is in the database"
                            f" with another {part.removesuffix('_id').replace('_', ' ')}; nothing was changed: bring it"
                            " into an empty database, or under another name"
                        )

    def _parents(self, column: Column[Any]) -> dict[int, Key] | None:
        target = _target(column)
        return self.keys(target) if target else None


def _column(table: type[t.Table], name: str) -> Column[Any]:
    column: Column[Any] = inspect(table).columns[name]
    return column


def _target(column: Column[Any]) -> str:
    """The table that a column points to; empty where it is a value of its own."""
    for key in column.foreign_keys:
        return str(key.column.table.name)
    return ""


def _flat(parts: Any) -> Key:
    """One key of parts, of which some are keys themselves."""
    whole: list[Any] = []
    for part in parts:
        if isinstance(part, tuple):
            whole += part
        else:
            whole.append(part)
    return tuple(whole)


def _shown(key: Key) -> str:
    return "/".join(str(part) for part in key)
