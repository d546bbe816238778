"""Records with the columns that Argilla gives a data set on the Hugging Face hub, as JSON lines, out and in.

For each question `q` there are three parallel lists: `q.responses`, `q.responses.users`, `q.responses.status`.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import Entry, file_hash, read_text, shown
from impactbench.adapters.label_items import labelled_items
from impactbench.adapters.ratings_table_reading import REASON_NOT_STATED, RatingRow, RatingsTable
from impactbench.adapters.study_labels import StudyLabels
from impactbench.domain import LabelStatus, LabelVerdict

QUESTIONS = {"verdict": "label", "reason": "reason", "rationale": "rationale", "confidence": "confidence"}
"""The questions of a record, and the column of the long table that each takes its answers from."""

CANNOT_JUDGE = "cannot_judge"
_STATUS = {
    LabelStatus.SUBMITTED: "submitted",
    LabelStatus.CANNOT_JUDGE: "submitted",
    LabelStatus.SKIPPED: "discarded",
}


def argilla_records(labels: StudyLabels) -> Iterator[dict[str, Any]]:
    """A record for each item. Skips are discarded responses; a repeat is a user of its own, `<rater>#<repeat>`."""
    for item in labelled_items(labels):
        given = [cells for cells in item.labels if cells["status"] in _STATUS]
        record: dict[str, Any] = {"id": item.key, **item.data}
        for question, column in QUESTIONS.items():
            record[f"{question}.responses"] = [_answer(cells, question, column) for cells in given]
            record[f"{question}.responses.users"] = [_user(cells) for cells in given]
            record[f"{question}.responses.status"] = [
                _STATUS[LabelStatus(cells["status"])] for cells in given
            ]
        yield record


def write_argilla(labels: StudyLabels, path: Path) -> None:
    """Write the records to a file; the same labels give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(record, ensure_ascii=False) for record in argilla_records(labels))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _answer(cells: Mapping[str, str], question: str, column: str) -> Any:
    if question == "verdict" and cells["status"] == LabelStatus.CANNOT_JUDGE:
        return CANNOT_JUDGE
    if not cells[column]:
        return None
    return int(cells[column]) if question == "confidence" else cells[column]


def _user(cells: Mapping[str, str]) -> str:
    return cells["rater_id"] + (f"#{cells['repeat_no']}" if cells["repeat_no"] != "0" else "")


def read_argilla(path: Path) -> RatingsTable:
    """Read records as labels; drafts and pending responses are no labels, and are counted.

    Raises:
        ImportRefused: a line is no record, its lists are of different lengths, or a verdict is another word.
    """
    rows: list[RatingRow] = []
    skipped: dict[str, int] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise ImportRefused(f"{path}, line {number}: this is not valid JSON ({error.msg})") from error
        if not isinstance(value, dict):
            raise ImportRefused(f"{path}, line {number}: the line holds {shown(value)}, it must be a mapping")
        record = Entry(f"{path}, line {number}", value)
        for row in _rows(record, number):
            if isinstance(row, str):
                skipped[row] = skipped.get(row, 0) + 1
            else:
                rows.append(row)
    if not rows:
        raise ImportRefused(f"{path}: there is no response in the file, it must hold at least one")
    return RatingsTable(path=path, file_hash=file_hash(path), rows=tuple(rows), skipped=skipped)


def _rows(record: Entry, line: int) -> Iterator[RatingRow | str]:
    answers = {question: _list(record, f"{question}.responses") for question in QUESTIONS}
    users = _list(record, "verdict.responses.users")
    statuses = _list(record, "verdict.responses.status")
    for question, given in answers.items():
        if len(given) not in (0, len(users)) or len(users) != len(statuses):
            raise record.refuse(f"{question}.responses, its users and its status must be lists of one length")
    for place, (user, status) in enumerate(zip(users, statuses, strict=True)):
        said = {question: given[place] if given else None for question, given in answers.items()}
        name, _, repeat = str(user).partition("#")
        if status not in ("submitted", "discarded"):
            yield f"the response is {status}"
            continue
        verdict = str(said["verdict"] or "")
        known = verdict in set(LabelVerdict)
        if status == "submitted" and not known and verdict != CANNOT_JUDGE:
            raise record.refuse(
                f"the verdict of {name!r} is {shown(said['verdict'])}, it must be fail, borderline, pass or {CANNOT_JUDGE}"
            )
        kept = LabelVerdict(verdict) if status == "submitted" and known else None
        without = LabelStatus.SKIPPED if status == "discarded" else LabelStatus.CANNOT_JUDGE
        yield RatingRow(
            row=line,
            item=record.text("item_id"),
            rater=name,
            status=LabelStatus.SUBMITTED if kept else without,
            verdict=kept,
            metric=record.text("metric_id", default=""),
            run=record.text("run", default=""),
            metric_version=record.number("metric_version", default=0) or None,
            reason="" if kept else str(said["reason"] or REASON_NOT_STATED),
            rationale=str(said["rationale"] or ""),
            confidence=said["confidence"],
            repeat=int(repeat) if repeat.isdecimal() else 0,
        )


def _list(record: Entry, name: str) -> list[Any]:
    value = record.fields.get(name)
    if value is not None and not isinstance(value, list):
        raise record.refuse(f"{name} is {shown(value)}, it must be a list")
    return value or []
