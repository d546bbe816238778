"""A study's labels as a folder of plain files, from which an empty database can be filled again.

labels.csv, labels.parquet   the newest revision of each label, one row a label
label-history.csv            every revision, oldest first
study.json                   what the labels are about: metrics, conversations, review sets, raters, assignments
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
from impactbench.adapters.spreadsheet_cells import csv_text, read_shielded_csv
from impactbench.adapters.study_labels import AFTER, SECTIONS, StudyLabels

FORMAT = "impactbench labels"
VERSION = 1


def write_label_folder(labels: StudyLabels, folder: Path) -> tuple[Path, ...]:
    """Write the folder; the same labels give the same bytes.

    Raises:
        ImportRefused: the folder holds something else.
    """
    _require_room(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows = labels.cells()
    files = {
        "labels.csv": csv_text(
            LABEL_COLUMNS, ([row[name] for name in LABEL_COLUMNS] for row in rows)
        ).encode(),
        "label-history.csv": csv_text(HISTORY_COLUMNS, history_cells(labels.history)).encode(),
        "study.json": _study_text(labels).encode(),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    table = pa.table(
        {name: pa.array([row[name] or None for row in rows], pa.string()) for name in LABEL_COLUMNS}
    )
    pq.write_table(table, folder / "labels.parquet", compression="zstd")
    return tuple(sorted(folder / name for name in (*files, "labels.parquet")))


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
    _require_untouched(folder / "labels.csv", labels.cells())
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
    if document.get("version") != VERSION:
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


def _require_untouched(path: Path, expected: Sequence[Mapping[str, str]]) -> None:
    found = [cells for _, cells in read_shielded_csv(path, LABEL_COLUMNS)]
    for number, (there, wanted) in enumerate(zip(found, expected, strict=False), start=2):
        if changed := [name for name in LABEL_COLUMNS if there[name] != wanted[name]]:
            raise ImportRefused(
                f"{path}, row {number}: {changed[0]} is {there[changed[0]]!r} and by label-history.csv it is"
                f" {wanted[changed[0]]!r}: the two must agree, so export again; labels from elsewhere come in with"
                " `impactbench import ratings`"
            )
    if len(found) != len(expected):
        raise ImportRefused(
            f"{path}: there are {len(found)} labels and by label-history.csv there are {len(expected)}"
        )
