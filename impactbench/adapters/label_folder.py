"""A study's labels as a folder of plain files, from which an empty database can be filled again.

labels.csv           the newest revision of each label, one row a label
label-history.csv    every revision, oldest first
verdicts.csv         what judges said of the same items, one row a verdict
study.json           what the labels are about: metrics, conversations, review sets, raters, assignments, judges, plans

Each table stands beside itself as Parquet.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from impactbench.adapters import ImportRefused
from impactbench.adapters.label_tables import (
    HISTORY_COLUMNS,
    LABEL_COLUMNS,
    history_cells,
    read_history_cells,
)
from impactbench.adapters.label_verdicts import VERDICT_COLUMNS
from impactbench.adapters.spreadsheet_cells import csv_text, read_shielded_csv
from impactbench.adapters.study_labels import AFTER, PLANS, SECTIONS, VERDICTS, StudyLabels

FORMAT = "impactbench labels"
VERSION = 3
WITHOUT = {1: (*VERDICTS, PLANS), 2: (PLANS,)}
"""The tables that earlier versions did not have: judges' verdicts, registered plans. They are still read."""


def write_label_folder(labels: StudyLabels, folder: Path) -> tuple[Path, ...]:
    """Write the folder; the same labels give the same bytes.

    Raises:
        ImportRefused: the folder holds something else.
    """
    _require_room(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, tuple[Sequence[str], list[list[str]]]] = {
        "labels": (LABEL_COLUMNS, [[*row.values()] for row in labels.cells()]),
        "label-history": (HISTORY_COLUMNS, [*history_cells(labels.history)]),
        "verdicts": (VERDICT_COLUMNS, [[*row.values()] for row in labels.verdicts()]),
    }
    (folder / "study.json").write_bytes(_study_text(labels).encode())
    for name, (columns, rows) in tables.items():
        (folder / f"{name}.csv").write_bytes(csv_text(columns, rows).encode())
        _write_parquet(columns, rows, folder / f"{name}.parquet")
    written = (folder / f"{name}.{kind}" for name in tables for kind in ("csv", "parquet"))
    return tuple(sorted((*written, folder / "study.json")))


def _write_parquet(columns: Sequence[str], rows: Sequence[Sequence[str]], path: Path) -> None:
    """The words of a table; an empty cell is null."""
    cells = {
        name: pa.array([row[place] or None for row in rows], pa.string())
        for place, name in enumerate(columns)
    }
    pq.write_table(pa.table(cells), path, compression="zstd")


def read_label_folder(folder: Path) -> StudyLabels:
    """Read a folder that `write_label_folder` made, and check that its tables agree.

    Raises:
        ImportRefused: a file is missing or is not what it should be, or labels.csv was edited.
    """
    document = _read_document(folder / "study.json")
    sections = {name: document[name] for name in SECTIONS}
    path = folder / "label-history.csv"
    study = document["study"][0]["slug"]
    history = read_history_cells(path, study=study)
    labels = StudyLabels(study=study, sections=sections, history=history, adjudications=document[AFTER])
    _require_untouched(folder / "labels.csv", LABEL_COLUMNS, labels.cells(), source="label-history.csv")
    if not set(VERDICTS) & set(WITHOUT.get(document["version"], ())):
        _require_untouched(folder / "verdicts.csv", VERDICT_COLUMNS, labels.verdicts(), source="study.json")
    return labels


def _require_room(folder: Path) -> None:
    if folder.is_file():
        raise ImportRefused(f"{folder} is a file, it must be a folder that can be filled")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "study.json").is_file():
        raise ImportRefused(f"{folder} holds something else; name a new or an empty folder")


def _study_text(labels: StudyLabels) -> str:
    """The document, a line a row, so that two of them can be compared line by line."""
    parts = [f'"format": {json.dumps(FORMAT)}', f'"version": {VERSION}']
    for name, section in (*labels.sections.items(), (AFTER, labels.adjudications)):
        rows = ",\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in section)
        parts.append(f'"{name}": [\n{rows}\n]' if rows else f'"{name}": []')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _read_document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ImportRefused(f"{path}: there is no such file; `impactbench export labels` makes it") from None
    except (OSError, ValueError) as error:
        raise ImportRefused(f"{path}: this is not valid JSON ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ImportRefused(f"{path}: the format is not {FORMAT!r}; `impactbench export labels` makes it")
    if document.get("version") in WITHOUT:
        document |= {name: [] for name in WITHOUT[document["version"]]}
    elif document.get("version") != VERSION:
        raise ImportRefused(
            f"{path}: the version is {document.get('version')!r}, this program reads {VERSION}: update the program"
        )
    for name in (*SECTIONS, AFTER):
        rows = document.get(name)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ImportRefused(f"{path}: {name!r} must be a list of mappings")
    if len(document["study"]) != 1:
        raise ImportRefused(f"{path}: there are {len(document['study'])} studies, there must be one")
    return document


def _require_untouched(
    path: Path, columns: Sequence[str], expected: Sequence[Mapping[str, str]], *, source: str
) -> None:
    found = [cells for _, cells in read_shielded_csv(path, columns)]
    for number, (there, wanted) in enumerate(zip(found, expected, strict=False), start=2):
        if changed := [name for name in columns if there[name] != wanted[name]]:
            raise ImportRefused(
                f"{path}, row {number}: {changed[0]} is {there[changed[0]]!r} and by {source} it is"
                f" {wanted[changed[0]]!r}: the two must agree, so export again; labels and verdicts from elsewhere come in"
                " with `impactbench import ratings` and `impactbench import verdicts`"
            )
    if len(found) != len(expected):
        raise ImportRefused(f"{path}: there are {len(found)} rows and by {source} there are {len(expected)}")
