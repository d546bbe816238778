"""A plain table of labels without a database: one row a label, in whatever categories the table has."""

import csv
import io
import re
import sys
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from impactbench.adapters import ImportRefused
from impactbench.domain import LabelVerdict
from validation.ratings import Ratings

KNOWN_SCALES = (
    tuple(LabelVerdict),
    ("absent", "present"),
    ("no", "yes"),
    ("disagree", "unsure", "agree"),
)
"""Scales that need not be declared, in scale order."""
WHOLE = "all"
"""The name of the group that is the whole table."""
_SEPARATORS = ",;\t"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ITEM, _RATER, _LABEL, _CLUSTER, _GROUP, _LINE = "item", "rater", "label", "cluster", "group", "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the columns of a table are called."""

    item: tuple[str, ...] = ("item_id",)
    """One column, or several that name an item together."""
    rater: str = "rater_id"
    label: str = "label"
    by: str | None = None
    """Groups to look at apart from each other."""
    cluster: str | None = None
    """What items belong to that are not independent."""

    @property
    def names(self) -> list[str]:
        return [
            *self.item,
            self.rater,
            self.label,
            *([self.by] if self.by else []),
            *([self.cluster] if self.cluster else []),
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelTable:
    """Labels with their declared categories, read and checked."""

    frame: pd.DataFrame
    categories: tuple[Hashable, ...]
    """In scale order: numbers where all of them are, else words."""
    declared: bool
    """Whether the categories were given, and not taken from a known scale or the numbers seen."""
    clustered: bool
    grouped: bool

    @property
    def numeric(self) -> bool:
        return not any(isinstance(category, str) for category in self.categories)

    def groups(self) -> Iterator[tuple[str, Ratings]]:
        """The whole table, then each group in the order of its first row; all have the declared categories."""
        yield WHOLE, self._ratings(self.frame)
        if self.grouped:
            for name, rows in self.frame.groupby(_GROUP, sort=False):
                yield str(name), self._ratings(rows)

    def _ratings(self, frame: pd.DataFrame) -> Ratings:
        return Ratings.from_frame(
            frame,
            categories=self.categories,
            unit=_ITEM,
            rater=_RATER,
            value=_LABEL,
            cluster=_CLUSTER if self.clustered else None,
        )


def read_label_table(
    path: Path, *, columns: Columns | None = None, categories: Sequence[str] | None = None
) -> LabelTable:
    """Read a CSV file (comma, semicolon or tab; UTF-8) or a Parquet file.

    Cells are text: `NA` and `None` are words like others, and only an empty cell is no label. Where all categories are
    numbers, labels are compared as numbers, so that `1`, `1.0` and 1 are the same.

    Args:
        path: the file.
        columns: what its columns are called.
        categories: every category there is, in scale order; needed unless the labels are numbers or of a known scale.

    Raises:
        ImportRefused: the first thing found wrong, with the line as the file shows it (the header is line 1; in a
            Parquet file rows are counted from 1).
    """
    columns = columns or Columns()
    where, header, records = read_cells(path, columns.names)
    frame = _name_columns(path, where, header, records, columns)
    _require_one_row_each(path, where, frame, columns)
    if columns.cluster:
        _require_one_cluster_each(path, where, frame)
    scale = _parse_scale(categories) if categories is not None else _find_scale(path, frame[_LABEL])
    frame[_LABEL] = _categorise(path, where, frame, scale)
    return LabelTable(
        frame=frame,
        categories=scale,
        declared=categories is not None,
        clustered=columns.cluster is not None,
        grouped=columns.by is not None,
    )


def read_cells(
    path: Path, wanted: Sequence[str] = ()
) -> tuple[str, list[str], Iterator[tuple[int, list[str]]]]:
    """A CSV or Parquet file as text: whether places are lines or rows, the column names, and (place, cells) of each record.

    Args:
        path: the file.
        wanted: columns that are looked for, to tell which sign parts the cells of a CSV file.

    Raises:
        ImportRefused: the file cannot be read, or a record has more or fewer cells than the header.
    """
    if path.suffix.casefold() in (".parquet", ".pq"):
        return "row", *_read_parquet(path)
    return "line", *_read_csv(path, wanted)


def _read_csv(path: Path, wanted: Sequence[str]) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportRefused(
            f"{path} is not UTF-8 text (byte {error.start + 1}); save it as CSV UTF-8"
        ) from error
    except OSError as error:
        raise ImportRefused(
            f"{path} cannot be read ({error.strerror}); give a CSV or Parquet file"
        ) from error
    first = text.partition("\n")[0].rstrip("\r")
    if not first.strip():
        raise ImportRefused(
            f"{path} is empty or begins with an empty line; its first line must name the columns"
        )
    csv.field_size_limit(sys.maxsize)
    separator = max(_SEPARATORS, key=lambda sign: (_fits(first, sign, wanted), first.count(sign)))
    records = _records(path, text, separator)
    _, header = next(records)
    return [name.strip() for name in header], records


def _fits(line: str, separator: str, wanted: Sequence[str]) -> bool:
    names = {name.strip() for name in next(csv.reader([line], delimiter=separator), [])}
    return names.issuperset(wanted)


def _records(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """(line on which a record begins, cells); empty lines are passed over."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    width, line = None, 1
    try:
        for record in reader:
            width = len(record) if width is None else width
            if any(cell.strip() for cell in record):
                if len(record) != width:
                    raise ImportRefused(
                        f"{path}, line {line}: there are {len(record)} cells and the first line has {width}; "
                        "put a cell that holds the separator in quotation marks"
                    )
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise ImportRefused(f"{path}, line {reader.line_num}: this is not valid CSV ({error})") from error


def _read_parquet(path: Path) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ImportRefused(f"{path} is not a Parquet file that can be read ({reason})") from error
    rows = zip(*(frame[name].tolist() for name in frame.columns), strict=True)
    cells = ((number, [_text(value) for value in row]) for number, row in enumerate(rows, start=1))
    return [str(name) for name in frame.columns], cells


def _text(value: object) -> str:
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _name_columns(
    path: Path, where: str, header: list[str], records: Iterator[tuple[int, list[str]]], columns: Columns
) -> pd.DataFrame:
    """Text columns item, rater, label, line, and cluster and group where there are such."""
    options = {**dict.fromkeys(columns.item, "--item"), columns.rater: "--rater", columns.label: "--label"}
    for name in columns.names:
        if header.count(name) != 1:
            what = "two columns" if name in header else "no column"
            raise ImportRefused(
                f"{path} has {what} {name!r}; it has {', '.join(map(repr, header))}"
                + (f": name another with {options[name]}" if name in options else "")
            )
    place = {name: header.index(name) for name in columns.names}
    optional = {_CLUSTER: columns.cluster, _GROUP: columns.by}
    rows = []
    for line, record in records:
        cell = {name: record[index].strip() for name, index in place.items()}
        required = [*columns.item, columns.rater, *(name for name in optional.values() if name)]
        for name in required:
            if not cell[name]:
                raise ImportRefused(
                    f"{path}, {where} {line}: the column {name!r} is empty; every label needs it"
                )
        row = {
            _ITEM: " | ".join(cell[name] for name in columns.item),
            _RATER: cell[columns.rater],
            _LABEL: cell[columns.label],
            _LINE: line,
        }
        rows.append(row | {key: cell[name] for key, name in optional.items() if name})
        if columns.by and cell[columns.by] == WHOLE:
            raise ImportRefused(
                f"{path}, {where} {line}: the column {columns.by!r} holds {WHOLE!r}, which is what the whole table is "
                "called; write another word"
            )
    names = [_ITEM, _RATER, _LABEL, _LINE, *(key for key, name in optional.items() if name)]
    return pd.DataFrame(rows, columns=names).astype(object)


def _require_one_row_each(path: Path, where: str, frame: pd.DataFrame, columns: Columns) -> None:
    second = frame.duplicated([_ITEM, _RATER])
    if not second.any():
        return
    row = frame[second].iloc[0]
    first = frame[(frame[_ITEM] == row[_ITEM]) & (frame[_RATER] == row[_RATER])].iloc[0]
    raise ImportRefused(
        f"{path}, {where}s {first[_LINE]} and {row[_LINE]}: two labels of item {row[_ITEM]!r} by rater {row[_RATER]!r}; "
        f"keep one, or name further columns that tell items apart with --item (now {', '.join(columns.item)})"
    )


def _require_one_cluster_each(path: Path, where: str, frame: pd.DataFrame) -> None:
    first = frame.drop_duplicates(_ITEM).set_index(_ITEM)
    stray = frame[_CLUSTER].to_numpy() != first.loc[frame[_ITEM], _CLUSTER].to_numpy()
    if stray.any():
        row = frame[stray].iloc[0]
        raise ImportRefused(
            f"{path}, {where} {row[_LINE]}: item {row[_ITEM]!r} is in cluster {row[_CLUSTER]!r} here and in "
            f"{first.loc[row[_ITEM], _CLUSTER]!r} in {where} {first.loc[row[_ITEM], _LINE]}; an item is in one cluster"
        )


def _parse_scale(categories: Sequence[str]) -> tuple[Hashable, ...]:
    words = [word.strip() for word in categories]
    scale: tuple[Hashable, ...] = tuple(map(_number, words)) if all(map(_is_number, words)) else tuple(words)
    if len(scale) < 2 or "" in scale or len(set(scale)) < len(scale):
        raise ImportRefused(
            f"--categories {','.join(categories)!r} must name two or more different categories in scale order, "
            "such as fail,borderline,pass"
        )
    return scale


def _find_scale(path: Path, labels: pd.Series) -> tuple[Hashable, ...]:
    seen = list(dict.fromkeys(label for label in labels if label))
    if not seen:
        raise ImportRefused(f"{path} holds no label; say with --categories a,b,c what there could be")
    if all(map(_is_number, seen)):
        scale: tuple[Hashable, ...] = tuple(sorted(set(map(_number, seen))))
        if len(scale) > 1:
            return scale
    for known in KNOWN_SCALES:
        if set(known).issuperset(seen):
            return tuple(str(word) for word in known)
    raise ImportRefused(
        f"the labels of {path} are no known scale; say which categories there are, in scale order and used or not: "
        f"--categories {_quoted(seen)}"
    )


def _quoted(words: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(words)
    text = line.getvalue()
    return f"'{text}'" if re.search(r"[^\w,.-]", text) else text


def _categorise(path: Path, where: str, frame: pd.DataFrame, scale: tuple[Hashable, ...]) -> pd.Series:
    """Each label as its category, None where the cell is empty."""
    numeric = not any(isinstance(category, str) for category in scale)
    known = set(scale)
    labels: list[Hashable | None] = []
    for text, line in zip(frame[_LABEL], frame[_LINE], strict=True):
        label = _number(text) if numeric and _is_number(text) else text
        if text and label not in known:
            raise ImportRefused(
                f"{path}, {where} {line}: {text!r} is not one of the categories {', '.join(map(str, scale))}; "
                "mend it, empty the cell where there is no label, or declare it with --categories"
            )
        labels.append(label if text else None)
    return pd.Series(labels, index=frame.index, dtype=object)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _number(text: str) -> float | int:
    value = float(text)
    return int(value) if value.is_integer() else value
