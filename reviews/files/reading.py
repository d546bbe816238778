"""Ratings and verdicts from plain files: what each row says, and what it says of its item."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from impactbench.adapters import ImportRefused
from impactbench.adapters.label_table import read_cells

Says = Literal["verdict", "presence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What the columns of one kind of file are called."""

    kind: str
    """How its options begin: "" for ratings, "verdict" for verdicts."""
    item: tuple[str, ...]
    """One column, or several that name an item together."""
    who: str
    """The column of the rater or judge; the file's name stands for it where there is none."""
    value: tuple[str, ...]
    """The column of the label or verdict: the first of these that a file has."""
    wide: tuple[str, ...] = ()
    """Columns that are a rater or judge each, in a table with one row an item."""
    repeat: str = "repeat_no"


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemColumns:
    """Columns that say something about an item: of each kind the first that a file has."""

    metric: tuple[str, ...] = ("metric_id",)
    target: tuple[str, ...] = ("model",)
    polarity: tuple[str, ...] = ("polarity",)
    group: tuple[str, ...] = ()
    metric_from: str | None = None
    """`COLUMN=REGEX`: the metric is the first group of the match in that column, such as `input_id=(.+)-[0-9]+`."""
    negative: str | None = None
    """`COLUMN=PATTERN`: items that match are of negative polarity, the others of positive."""


@dataclass(frozen=True, slots=True)
class Said:
    """One cell with a label or a verdict, or an empty one."""

    where: str
    item: str
    who: str
    repeat: int
    word: str


@dataclass(slots=True)
class Items:
    """What is known of each item, with the place where it was first said."""

    facts: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)

    def learn(self, item: str, name: str, value: str, where: str) -> None:
        """Keep a fact.

        Raises:
            ImportRefused: another file or row says otherwise.
        """
        known = self.facts.setdefault(item, {}).setdefault(name, (value, where))
        if known[0] != value:
            raise ImportRefused(
                f"{where}: item {item!r} has the {name} {value!r} here and {known[0]!r} in {known[1]}; an item has one"
                f" {name} (name further columns of the item, or make two words one with --rename OLD=NEW)"
            )

    def of(self, item: str, name: str) -> str | None:
        found = self.facts.get(item, {}).get(name)
        return found[0] if found else None


def read_source(
    paths: Sequence[Path], source: Source, about: ItemColumns, *, items: Items, rename: Mapping[str, str]
) -> list[Said]:
    """Every cell of some files of one kind; what they say of items goes into `items`.

    Raises:
        ImportRefused: a column is missing, a cell of the item is empty, or two cells are of one item, person and repeat.
    """
    said = [one for path in paths for one in _read_file(path, source, about, items, rename)]
    first: dict[tuple[str, str, int], str] = {}
    for one in said:
        key = (one.item, one.who, one.repeat)
        if key in first:
            raise ImportRefused(
                f"{one.where}: {one.who!r} has already said something of item {one.item!r} in {first[key]}; keep one,"
                f" number repeats in a column {source.repeat!r}, or name further columns of the item with"
                f" {_option(source, 'item')}"
            )
        first[key] = one.where
    return said


def _read_file(
    path: Path, source: Source, about: ItemColumns, items: Items, rename: Mapping[str, str]
) -> Iterator[Said]:
    where, header, records = read_cells(path, source.item)
    _require(path, header, source)
    value = next((name for name in source.value if name in header), "")
    pattern_column, _, pattern = (about.negative or "").partition("=")
    metric_column, _, metric_pattern = (about.metric_from or "").partition("=")
    told = {
        "metric": about.metric,
        "model": about.target,
        "polarity": about.polarity,
        "group": about.group,
    }
    columns = {
        name: next(header.index(column) for column in names if column in header)
        for name, names in told.items()
        if set(names) & set(header)
    }
    for place, record in records:
        cell = dict(zip(header, (text.strip() for text in record), strict=True))
        here = f"{path}, {where} {place}"
        parts = [rename.get(cell[name], cell[name]) for name in source.item]
        if "" in parts:
            raise ImportRefused(
                f"{here}: the column {source.item[parts.index('')]!r} is empty; every row needs its item"
            )
        item = " | ".join(parts)
        for name, index in columns.items():
            if text := record[index].strip():
                items.learn(item, name, rename.get(text, text), here)
        if pattern and pattern_column in cell:
            turned = fnmatchcase(cell[pattern_column], pattern)
            items.learn(item, "polarity", "negative" if turned else "positive", here)
        if metric_column in cell and (metric := _metric(cell[metric_column], metric_pattern, here)):
            items.learn(item, "metric", metric, here)
        repeat = _repeat(cell.get(source.repeat, ""), here, source)
        if source.wide:
            yield from (Said(here, item, name, repeat, cell[name]) for name in source.wide)
        else:
            yield Said(here, item, cell.get(source.who) or path.stem, repeat, cell[value])


def _require(path: Path, header: list[str], source: Source) -> None:
    wanted = [(name, _option(source, "item")) for name in source.item]
    wanted += [(name, "--judge-column" if source.kind else "--rater-column") for name in source.wide]
    if not source.wide and not any(name in header for name in source.value):
        wanted.append((source.value[0], "--verdict" if source.kind else "--label"))
    for name, option in wanted:
        if header.count(name) != 1:
            what = "two columns" if name in header else "no column"
            raise ImportRefused(
                f"{path} has {what} {name!r}; it has {', '.join(map(repr, header))}: name another with {option}"
            )


def _option(source: Source, name: str) -> str:
    return f"--{source.kind}-{name}" if source.kind else f"--{name}"


def _metric(cell: str, pattern: str, here: str) -> str:
    try:
        found = re.fullmatch(pattern, cell)
        return found[1] if found else ""
    except (re.error, IndexError) as error:
        raise ImportRefused(
            f"{here}: the pattern {pattern!r} of --metric-from has no group, or is no regular expression ({error})"
        ) from error


def _repeat(cell: str, here: str, source: Source) -> int:
    if cell and not cell.isdecimal():
        raise ImportRefused(f"{here}: {source.repeat} is {cell!r}; it must be a whole number from 0 on")
    return int(cell or 0)
