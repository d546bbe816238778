"""A taxonomy of behaviours with definitions and boundary conditions, as YAML or CSV.

YAML: a list of entries, or a mapping with `name`, `description` and `categories`, which hold `entries` (or further
`categories`). CSV: one row an entry. The fields of an entry are those of `FIELDS`; lists in a cell are parted by `|`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.candidates import Adapted, Candidate, slug_of, with_own_slugs
from impactbench.adapters.documents import Entry, read_yaml_documents, shown
from impactbench.adapters.label_table import read_cells
from impactbench.domain import MetricDefinition, Polarity
from impactbench.resources import subareas

FIELDS = {
    "name": "what it is called",
    "definition": "what it is",
    "polarity": "positive (wanted) or negative (unwanted)",
    "includes": "what counts, at the boundary",
    "excludes": "what does not count, at the boundary",
    "examples_present": "words of a chatbot that show it",
    "examples_absent": "words of a chatbot that do not",
    "question": "how an expert would ask it",
    "subareas": "where it stands",
    "matters": "why it matters",
    "sources": "what that rests on",
    "category": "where it stands in the taxonomy",
}
"""The fields of an entry. Only name and definition must be there, and polarity where none is given for all."""

_LISTS = ("includes", "excludes", "examples_present", "examples_absent", "subareas", "sources")


def read_taxonomy(path: Path, *, polarity: Polarity | None = None) -> Adapted:
    """Read a taxonomy.

    Args:
        path: .yaml, .yml, .csv or .parquet
        polarity: of entries that do not say theirs.

    Raises:
        ImportRefused: an entry lacks its name, its definition or its polarity, or a field is not what it should be.
    """
    if path.suffix.casefold() in (".yaml", ".yml"):
        title, construct, entries = _from_yaml(path)
    else:
        title, construct, entries = path.stem, "", list(_from_table(path))
    candidates = [_candidate(path, entry, benchmark=slug_of(title), polarity=polarity) for entry in entries]
    if not candidates:
        raise ImportRefused(f"{path}: there is no entry in the taxonomy")
    return Adapted(
        format="taxonomy",
        source_file=path.name,
        title=title,
        construct=construct,
        candidates=with_own_slugs(candidates),
    )


def _from_yaml(path: Path) -> tuple[str, str, list[Entry]]:
    documents = read_yaml_documents(path)
    document = documents[0] if len(documents) == 1 else documents
    if isinstance(document, list):
        return path.stem, "", list(Entry(str(path), {"entries": document}).entries("entries"))
    if not isinstance(document, dict):
        raise ImportRefused(f"{path}: the file holds {shown(document)}, it must be a list or a mapping")
    root = Entry(str(path), document)
    return root.text("name", default=path.stem), root.text("description", default=""), list(_below(root, ""))


def _below(entry: Entry, category: str) -> Iterator[Entry]:
    for each in entry.entries("entries"):
        fields = {"category": category, **each.fields} if category else each.fields
        yield Entry(each.where, fields)
    for each in entry.entries("categories"):
        yield from _below(each, " / ".join(filter(None, [category, each.text("name")])))


def _from_table(path: Path) -> Iterator[Entry]:
    where, header, records = read_cells(path, ("name", "definition"))
    for line, record in records:
        cells = dict(zip(header, (cell.strip() for cell in record), strict=True))
        fields: dict[str, Any] = {
            name: [part.strip() for part in cell.split("|") if part.strip()] if name in _LISTS else cell
            for name, cell in cells.items()
            if cell
        }
        yield Entry(f"{path}, {where} {line}", fields)


def _candidate(path: Path, entry: Entry, *, benchmark: str, polarity: Polarity | None) -> Candidate:
    name, definition = entry.text("name").strip(), entry.text("definition").strip()
    includes, excludes = _several(entry, "includes"), _several(entry, "excludes")
    known = {place.slug for place in subareas()}
    places = _several(entry, "subareas")
    other = sorted(str(field) for field in set(entry.fields) - set(FIELDS))
    return Candidate(
        benchmark=benchmark,
        slug=slug_of(name),
        source_file=path.name,
        source_place=entry.where.removeprefix(str(path)).lstrip(":, ") or f"entry {name!r}",
        passage="\n".join(f"{field}: {_flat(entry.fields[field])}" for field in FIELDS if entry.has(field)),
        definition=MetricDefinition(
            name=name,
            polarity=_polarity(entry, polarity),
            definition=definition,
            interpretive_clause=_boundary(includes, excludes),
            question=entry.text("question", default=""),
            examples_present=_several(entry, "examples_present"),
            examples_absent=_several(entry, "examples_absent"),
        ),
        subareas=tuple(place for place in places if place in known),
        matters=entry.text("matters", default=""),
        sources=_several(entry, "sources"),
        notes=(
            *([f"it stands in the category {entry.text('category')!r}"] if entry.has("category") else []),
            *(f"{place!r} is none of the fourteen subareas" for place in places if place not in known),
            *([f"not carried over: {', '.join(other)}"] if other else []),
        ),
    )


def _polarity(entry: Entry, otherwise: Polarity | None) -> Polarity:
    if not entry.has("polarity") and otherwise is not None:
        return otherwise
    said = entry.text("polarity", default="")
    if said not in set(Polarity):
        raise entry.refuse(
            f"polarity is {shown(said or None)}, it must be 'positive' or 'negative'; --polarity gives it for all"
        )
    return Polarity(said)


def _several(entry: Entry, name: str) -> tuple[str, ...]:
    if isinstance(entry.fields.get(name), str):
        return (entry.text(name).strip(),)
    return tuple(text.strip() for text in entry.texts(name))


def _boundary(includes: tuple[str, ...], excludes: tuple[str, ...]) -> str:
    """Boundary conditions as sentences of an interpretive clause."""
    return " ".join(
        [
            *(f"It counts: {text.rstrip('.')}." for text in includes),
            *(f"It does not count: {text.rstrip('.')}." for text in excludes),
        ]
    )


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return " | ".join(map(_flat, value))
    return (
        "; ".join(f"{key}: {part}" for key, part in value.items())
        if isinstance(value, Mapping)
        else str(value)
    )
