"""JSON and YAML files, read so that a mistake in them can be named: which file, which entry, which value."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from impactbench.adapters import ImportRefused

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Entry:
    """A mapping in a file, and how to say where it stands."""

    where: str
    fields: Mapping[str, Any]

    def refuse(self, what: str) -> ImportRefused:
        return ImportRefused(f"{self.where}: {what}")

    def has(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def text(self, name: str, *, default: str | None = None) -> str:
        """The text of a field. Without a default it must be there and say something."""
        value = self.fields.get(name)
        if value is None and default is not None:
            return default
        if name not in self.fields:
            raise self.refuse(f"there is no {name!r}, which must be a text")
        if not isinstance(value, str):
            raise self.refuse(f"{name} is {shown(value)}, it must be a text")
        if default is None and not value.strip():
            raise self.refuse(f"{name} is empty, it must say something")
        if unfit := why_unfit(value):
            raise self.refuse(f"{name} holds {unfit}, which no database can keep: take it out")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts of a list; an absent list is empty."""
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.refuse(f"{name} is {shown(value)}, it must be a list of texts")
        return tuple(Entry(f"{self.where}: {name}", {"entry": part}).text("entry") for part in value)

    def truth(self, name: str) -> bool | None:
        """True, false or null; an absent field is null."""
        value = self.fields.get(name)
        if value is None or isinstance(value, bool):
            return value
        raise self.refuse(
            f"{name} is {shown(value)}, it must be true, false or null, without quotation marks"
        )

    def number(self, name: str, *, default: int | None = None, least: int = 0) -> int:
        value = self.fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.refuse(f"{name} is {shown(value)}, it must be a whole number from {least}")
        return value

    def mapping(self, name: str) -> "Entry":
        """The mapping of a field; an absent one is empty."""
        value = self.fields.get(name)
        if value is None:
            return Entry(f"{self.where}: {name}", {})
        if not isinstance(value, dict):
            raise self.refuse(f"{name} is {shown(value)}, it must be a mapping")
        return Entry(f"{self.where}: {name}", value)

    def entries(self, name: str) -> Iterator["Entry"]:
        """The mappings of a list; an absent list is empty."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, list):
            raise self.refuse(f"{name} is {shown(value)}, it must be a list")
        return _entries(f"{self.where}: {name}", value or [], noun="entry", key="")


def read_json_entries(path: Path, *, noun: str, key: str) -> Iterator[Entry]:
    """The mappings of a JSON list, each named by `noun` and the field `key`.

    Raises:
        ImportRefused: there is no such file, it is not valid JSON, or it is not a list of mappings.
    """
    text = read_text(path)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ImportRefused(
            f"{path}, line {error.lineno}: this is not valid JSON ({error.msg}, column {error.colno})"
        ) from error
    if not isinstance(value, list):
        raise ImportRefused(f"{path}: the file holds {shown(value)}, it must be a list")
    return _entries(str(path), value, noun=noun, key=key)


def read_yaml(path: Path) -> Entry:
    """The mapping of a YAML file.

    Raises:
        ImportRefused: there is no such file, it is not valid YAML, or it is not a mapping.
    """
    text = read_text(path)
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _not_yaml(path, text, error) from error
    if not isinstance(value, dict):
        raise ImportRefused(f"{path}: the file holds {shown(value)}, it must be a mapping")
    return Entry(str(path), value)


def read_yaml_documents(path: Path) -> list[Any]:
    """The documents of a YAML file; empty ones are passed over.

    Raises:
        ImportRefused: there is no such file, or it is not valid YAML.
    """
    text = read_text(path)
    try:
        return [document for document in yaml.safe_load_all(text) if document is not None]
    except yaml.YAMLError as error:
        raise _not_yaml(path, text, error) from error


def _not_yaml(path: Path, text: str, error: yaml.YAMLError) -> ImportRefused:
    """Where a file is not YAML, and what is wrong there."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "it cannot be read"
    if mark is None:
        return ImportRefused(f"{path}: this is not valid YAML ({problem})")
    if problem == "mapping values are not allowed here":
        lines = text.splitlines()
        line = lines[mark.line].strip() if mark.line < len(lines) else ""
        problem += f": a text that holds a colon and a blank needs quotation marks, in {shown(line)}"
    return ImportRefused(f"{path}, line {mark.line + 1}: this is not valid YAML ({problem})")


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def shown(value: Any) -> str:
    """A value as a message quotes it: short, and with its kind where the kind is the mistake.

    >>> shown("false"), shown(None), shown({"a": 1})
    ("the text 'false'", 'null', 'a mapping')
    """
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"the text {value if len(value) < 40 else value[:37] + '...'!r}"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return repr(value)


def why_unfit(text: str) -> str:
    r"""What in a text cannot be stored on every database; empty where it can.

    >>> why_unfit("😀"), why_unfit("a\x00b")
    ('', 'the character U+0000')
    """
    if "\x00" in text:
        return "the character U+0000"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"half a character (U+{ord(text[error.start]):04X})"
    return ""


def _entries(where: str, values: list[Any], *, noun: str, key: str) -> Iterator[Entry]:
    for position, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise ImportRefused(f"{where}: {noun} {position} is {shown(value)}, it must be a mapping")
        name = value.get(key, _ABSENT)
        yield Entry(
            f"{where}: {noun} {name!r}" if isinstance(name, str) else f"{where}: {noun} {position}", value
        )


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        ImportRefused: there is no such file, or it is not UTF-8 text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ImportRefused(f"{path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise ImportRefused(f"{path}: the file is not UTF-8 text (byte {error.start + 1})") from error
    except OSError as error:
        raise ImportRefused(f"{path}: the file cannot be read ({error.strerror})") from error
