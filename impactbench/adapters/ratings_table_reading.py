"""Reads a long table of labels, one row a label, and checks it whole; nothing is kept here."""

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import file_hash, why_unfit
from impactbench.adapters.spreadsheet_cells import unshielded
from impactbench.domain import LabelStatus, LabelVerdict, Panel

COLUMNS = {
    "item": "item_id",
    "metric": "metric_id",
    "rater": "rater_id",
    "label": "label",
    "run": "run",
    "metric_version": "metric_version",
    "base_scenario": "base_scenario_id",
    "model": "model",
    "panel": "rater_group",
    "status": "status",
    "reason": "reason",
    "rationale": "rationale",
    "confidence": "confidence",
    "turns": "turns",
    "created": "created_utc",
    "seconds": "active_seconds",
    "repeat": "repeat_no",
}
"""What a column holds, and what it is called where nobody says otherwise. Only item, rater and label must be there."""

NO_LABEL = "the label is empty and no status says why"
DRAFT = "it is a draft"
REASON_NOT_STATED = "not stated in the imported table"

_REQUIRED = ("item", "rater", "label")
_DRAFT = "draft"
_ROLES = ", ".join(COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRow:
    """A label as a table gives it. `row` is its number in the file, as a spreadsheet shows it."""

    row: int
    item: str
    rater: str
    status: LabelStatus
    verdict: LabelVerdict | None
    metric: str = ""
    run: str = ""
    metric_version: int | None = None
    base_scenario: str = ""
    model: str = ""
    panel: Panel | None = None
    reason: str = ""
    rationale: str = ""
    confidence: int | None = None
    turns: tuple[int, ...] = ()
    created_at: datetime | None = None
    active_seconds: float | None = None
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsTable:
    """A table of labels, read and checked."""

    path: Path
    file_hash: str
    rows: tuple[RatingRow, ...]
    skipped: Mapping[str, int]
    """How many rows hold no label, by reason."""

    @property
    def n_read(self) -> int:
        return len(self.rows) + sum(self.skipped.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsOptions:
    """How a table differs from the convention."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """What the columns are called, by what they hold (the keys of `COLUMNS`)."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What other words mean: fail, borderline, pass, skip or cannot_judge."""


def read_ratings_table(path: Path, *, options: RatingsOptions | None = None) -> RatingsTable:
    """Read a CSV or Parquet file.

    A row is skipped, and counted, where it is a draft or where its label is empty and no status says why. A time
    without a zone is read as UTC where its column's name ends in `utc`, and refused elsewhere.

    Raises:
        ImportRefused: the first thing found wrong.
    """
    options = options or RatingsOptions()
    header, lines = _read_parquet(path) if path.suffix.casefold() in (".parquet", ".pq") else _read_csv(path)
    columns = _columns(path, header, options.columns)
    utc = "created" in columns and header[columns["created"]].casefold().endswith("utc")
    reader = _RowReader(path, columns, _words(options.words), naive_is_utc=utc)
    rows: dict[tuple[str, str, str, str, int | None, int], RatingRow] = {}
    panels: dict[str, RatingRow] = {}
    skipped: Counter[str] = Counter()
    for number, cells in lines:
        if not any(cells):
            continue
        row = reader.read(number, cells)
        if isinstance(row, str):
            skipped[row] += 1
            continue
        key = (row.run, row.item, row.metric, row.rater, row.metric_version, row.repeat)
        if key in rows:
            raise ImportRefused(
                f"{path}: rows {rows[key].row} and {number} are both a label of item {row.item!r}"
                f"{f' on metric {row.metric!r}' if row.metric else ''} by rater {row.rater!r}: keep one, or number"
                f" them in a column {COLUMNS['repeat']!r}"
            )
        rows[key] = row
        first = panels.setdefault(row.rater, row)
        if row.panel is not first.panel:
            raise ImportRefused(
                f"{path}: rater {row.rater!r} is {_panel(first)} in row {first.row} and {_panel(row)} in row {number};"
                " a rater is in one panel"
            )
    if not rows:
        raise ImportRefused(f"{path}: there is no label in the file, it must hold at least one")
    return RatingsTable(
        path=path, file_hash=file_hash(path), rows=tuple(rows.values()), skipped=dict(skipped)
    )


def _panel(row: RatingRow) -> str:
    return f"{row.panel}" if row.panel else "in no panel"


def _read_csv(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ImportRefused(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise ImportRefused(
            f"{path}: the file is not UTF-8 text (byte {error.start + 1}); save it as CSV UTF-8"
        ) from error
    except OSError as error:
        raise ImportRefused(f"{path}: the file cannot be read ({error.strerror})") from error
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    csv.field_size_limit(sys.maxsize)
    records = list(_records(path, text, separator))
    header = [name.strip() for name in records[0]] if records else []
    return header, (
        (number, [unshielded(cell) for cell in record]) for number, record in enumerate(records[1:], start=2)
    )


def _records(path: Path, text: str, separator: str) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    width = None
    try:
        for number, record in enumerate(reader, start=1):
            width = len(record) if width is None else width
            if record and len(record) != width:
                raise ImportRefused(
                    f"{path}, row {number}: there are {len(record)} cells and the first row has {width};"
                    " put a cell that holds the separator in quotation marks"
                )
            yield record
    except csv.Error as error:
        raise ImportRefused(f"{path}, line {reader.line_num}: this is not valid CSV ({error})") from error


def _read_parquet(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    try:
        frame = pd.read_parquet(path)
    except FileNotFoundError:
        raise ImportRefused(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ImportRefused(f"{path}: this is not a Parquet file that can be read ({reason})") from error
    rows = zip(*(frame[name].tolist() for name in frame.columns), strict=True)
    return [str(name) for name in frame.columns], (
        (number, [_cell(value) for value in row]) for number, row in enumerate(rows, start=1)
    )


def _cell(value: object) -> str:
    """A typed cell as the text that a CSV would hold."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return " ".join(_cell(part) for part in value)
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _columns(path: Path, header: list[str], named: Mapping[str, str]) -> dict[str, int]:
    """Where each of the columns stands that the table has."""
    have = ", ".join(map(repr, header)) or "no columns"
    if strange := [role for role in named if role not in COLUMNS]:
        raise ImportRefused(f"there is no kind of column {strange[0]!r}; there are {_ROLES}")
    places = {}
    for role, usual in COLUMNS.items():
        name = named.get(role, usual)
        if name not in header:
            if role in _REQUIRED or role in named:
                raise ImportRefused(
                    f"{path}: there is no column {name!r} for the {role}; the table has {have};"
                    f" name another with --column {role}=NAME"
                )
            continue
        if header.count(name) > 1:
            raise ImportRefused(f"{path}: two columns are called {name!r}, each must have a name of its own")
        places[role] = header.index(name)
    return places


def _words(named: Mapping[str, str]) -> dict[str, LabelVerdict | LabelStatus]:
    """What each word in the label column means, without regard to case."""
    meanings: dict[str, LabelVerdict | LabelStatus] = {verdict.value: verdict for verdict in LabelVerdict}
    known: dict[str, LabelVerdict | LabelStatus] = {
        **meanings,
        LabelStatus.SKIPPED.value: LabelStatus.SKIPPED,
        LabelStatus.CANNOT_JUDGE.value: LabelStatus.CANNOT_JUDGE,
    }
    for word, meaning in named.items():
        if meaning.strip().casefold() not in known:
            raise ImportRefused(f"--map {word}={meaning}: {meaning!r} must be one of {', '.join(known)}")
        meanings[word.strip().casefold()] = known[meaning.strip().casefold()]
    return meanings


@dataclass(frozen=True, slots=True)
class _RowReader:
    """Reads one row; says what is wrong with it by its number."""

    path: Path
    columns: Mapping[str, int]
    words: Mapping[str, LabelVerdict | LabelStatus]
    naive_is_utc: bool

    def read(self, number: int, cells: list[str]) -> RatingRow | str:
        """The label in a row, or the reason why the row is skipped."""
        cell = {role: cells[place].strip() for role, place in self.columns.items()}
        for role, text in cell.items():
            if unfit := why_unfit(text):
                raise self._refuse(
                    number, f"the {role} holds {unfit}, which no database can keep: take it out"
                )
        status = self._status(number, cell.get("status", ""))
        if status == _DRAFT:
            return DRAFT
        meaning = self._meaning(number, cell["label"])
        settled = self._settle(number, status, meaning)
        if settled is None:
            return NO_LABEL
        for role in ("item", "rater"):
            if not cell[role]:
                raise self._refuse(number, f"the {role} is empty, every label has one")
        return RatingRow(
            row=number,
            item=cell["item"],
            rater=cell["rater"],
            status=settled[0],
            verdict=settled[1],
            metric=cell.get("metric", ""),
            run=cell.get("run", ""),
            metric_version=self._whole(number, cell, "metric_version", least=1),
            base_scenario=cell.get("base_scenario", ""),
            model=cell.get("model", ""),
            panel=self._panel(number, cell.get("panel", "")),
            reason="" if settled[1] else cell.get("reason", "") or REASON_NOT_STATED,
            rationale=cell.get("rationale", ""),
            confidence=self._whole(number, cell, "confidence", least=1, most=4),
            turns=self._turns(number, cell.get("turns", "")),
            created_at=self._time(number, cell.get("created", "")),
            active_seconds=self._seconds(number, cell.get("seconds", "")),
            repeat=self._whole(number, cell, "repeat") or 0,
        )

    def _refuse(self, number: int, what: str) -> ImportRefused:
        return ImportRefused(f"{self.path}, row {number}: {what}")

    def _status(self, number: int, text: str) -> str:
        known = [*(status.value for status in LabelStatus), _DRAFT]
        if text and text.casefold() not in known:
            raise self._refuse(number, f"the status is {text!r}, it must be one of {', '.join(known)}")
        return text.casefold()

    def _meaning(self, number: int, text: str) -> LabelVerdict | LabelStatus | None:
        if not text:
            return None
        if text.casefold() not in self.words:
            raise self._refuse(
                number,
                f"the label is {text!r}, it must be one of {', '.join(self.words)};"
                f' say what it means with --map "{text}=pass"',
            )
        return self.words[text.casefold()]

    def _settle(
        self, number: int, status: str, meaning: LabelVerdict | LabelStatus | None
    ) -> tuple[LabelStatus, LabelVerdict | None] | None:
        """Status and verdict together; None where there is neither."""
        if isinstance(meaning, LabelStatus):
            status, meaning = status or meaning.value, None
        if meaning is None:
            if status == LabelStatus.SUBMITTED:
                raise self._refuse(
                    number, "the status is 'submitted' and there is no label: give one or the other"
                )
            return (LabelStatus(status), None) if status else None
        if status and status != LabelStatus.SUBMITTED:
            raise self._refuse(
                number,
                f"the status is {status!r} and the label is {meaning.value!r}: empty the label, or submit it",
            )
        return LabelStatus.SUBMITTED, meaning

    def _panel(self, number: int, text: str) -> Panel | None:
        if text and text.casefold() not in set(Panel):
            raise self._refuse(number, f"the panel is {text!r}, it must be 'internal' or 'external'")
        return Panel(text.casefold()) if text else None

    def _whole(
        self, number: int, cell: Mapping[str, str], role: str, *, least: int = 0, most: int | None = None
    ) -> int | None:
        text = cell.get(role, "").removesuffix(".0")
        if not text:
            return None
        value = int(text) if text.isdecimal() and len(text) < 10 else -1
        if value < least or (most is not None and value > most):
            span = f"from {least}" if most is None else f"from {least} to {most}"
            raise self._refuse(number, f"the {role} is {cell[role]!r}, it must be a whole number {span}")
        return value

    def _turns(self, number: int, text: str) -> tuple[int, ...]:
        parts = text.strip("[]").replace(",", " ").replace(";", " ").split()
        if not all(part.isdecimal() and 0 < int(part) < 1000 for part in parts):
            raise self._refuse(number, f"the turns are {text!r}, they must be numbers from 1, such as '2 5'")
        return tuple(sorted({int(part) for part in parts}))

    def _seconds(self, number: int, text: str) -> float | None:
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise self._refuse(number, f"the seconds are {text!r}, they must be a number from 0")
        return value

    def _time(self, number: int, text: str) -> datetime | None:
        if not text:
            return None
        try:
            value = datetime.fromisoformat(text)
            if value.tzinfo is None and self.naive_is_utc:
                value = value.replace(tzinfo=UTC)
            if value.tzinfo is not None:
                return value.astimezone(UTC)
        except (ValueError, OverflowError):
            raise self._refuse(
                number, f"the time is {text!r}, it must be written like '2026-03-01T09:30:00Z'"
            ) from None
        raise self._refuse(
            number,
            f"the time {text!r} has no zone: write it like '2026-03-01T09:30:00Z', or call the column"
            f" {COLUMNS['created']!r} if it is UTC",
        )
