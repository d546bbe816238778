"""What a report says, before it has a look: sections of sentences, tables, pictures and quotations, all of it plain text."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """A table under its caption; every cell is text."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, and the table that it draws."""

    name: str
    """Of the file in `figures/`."""
    says: str
    """What it shows, for those who cannot see it."""
    chart: dict[str, Any]
    """A Vega-Lite specification; text in `currentColor`."""
    table: Table


@dataclass(frozen=True, slots=True)
class Quotation:
    """A conversation word for word, with who said what of it."""

    title: str
    turns: tuple[tuple[str, str], ...]
    """(role word, message)."""
    said: Table


@dataclass(frozen=True, slots=True)
class Section:
    """One question and its answer."""

    key: str
    title: str
    answer: str
    """The sentence that answers it."""
    paragraphs: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    quotations: tuple[Quotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report."""

    title: str
    subtitle: str
    notice: str
    sections: tuple[Section, ...]
    card: dict[str, Any] = field(default_factory=dict)
