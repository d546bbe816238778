"""The data behind a report: a study as a few plain files from which every figure follows, and back again.

A report is always computed from what these files hold, never from the database, so that a stranger who has the files can
recompute it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from impactbench.adapters import ImportRefused
from impactbench.adapters.spreadsheet_cells import csv_text, read_shielded_csv
from reviews.blindness import recognition
from reviews.evidence import StudyTables, joined

DATA = "data"
ABOUT, TRANSCRIPTS = "about.json", "transcripts.jsonl"
Turns = Mapping[tuple[str, str], list[dict[str, str]]]

CONVERSATIONS = ("run", "conversation", "base_scenario_id", "variant", "model", "family", "n_turns")
METRIC = ("benchmark", "metric", "metric_version")
METRICS = (*METRIC, "name", "polarity", "definition", "interpretive_clause", "subareas")
RATINGS = (
    "run",
    "conversation",
    "benchmark",
    "metric",
    "metric_version",
    "review_set",
    "rater_id",
    "rater_group",
    "repeat_no",
    "assigned_as",
    "status",
    "label",
    "no_verdict_because",
    "confidence",
    "position",
    "stratum",
    "inclusion_probability",
    "given_up",
    "active_seconds",
    "created_utc",
    "turns",
    "rationale",
)
VERDICTS = (
    "run",
    "conversation",
    "benchmark",
    "metric",
    "metric_version",
    "judge_no",
    "judge",
    "judge_family",
    "repeat_no",
    "present",
    "passed",
    "unscored_because",
    "justification",
)
METRIC_REVIEWS = (*METRIC, "rater_id", "question", "answer")
DECISIONS = ("run", "conversation", "benchmark", "metric", "metric_version", "verdict")
COUNTED = ("examples_adequate", "relabel")
"""The questions about a metric whose answers are counted; what else reviewers wrote about it stays in the house."""
FILES = {
    "conversations.csv": CONVERSATIONS,
    "metrics.csv": METRICS,
    "ratings.csv": RATINGS,
    "verdicts.csv": VERDICTS,
    "decisions.csv": DECISIONS,
    "metric-reviews.csv": METRIC_REVIEWS,
    "recognition.csv": recognition.COLUMNS,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Package:
    """A study as it leaves the house."""

    tables: StudyTables
    about: Mapping[str, Any]
    """What is not in a table: see `reviews.report.gathering`."""
    transcripts: Turns
    """(run, conversation) -> turns, as far as they are shared."""


def as_files(package: Package) -> dict[str, bytes]:
    """The files of a package by name: the same package, the same bytes."""
    tables = package.tables
    item = {int(row["conversation_id"]): row for row in tables.conversations.to_dict("records")}
    version = {int(row["metric_version_id"]): row for row in tables.metrics.to_dict("records")}

    def of(row: Mapping[Any, Any]) -> list[str]:
        about, metric = item[int(row["conversation_id"])], version[int(row["metric_version_id"])]
        names = (
            about["run"],
            about["conversation"],
            metric["benchmark"],
            metric["metric"],
            metric["version"],
        )
        return [_cell(name) for name in names]

    rows: dict[str, list[list[str]]] = {
        "conversations.csv": [
            _cells(row, "run", "conversation", "base_scenario", "age", "model", "family", "n_turns")
            for row in item.values()
        ],
        "metrics.csv": [
            [
                *_cells(
                    row,
                    "benchmark",
                    "metric",
                    "version",
                    "name",
                    "polarity",
                    "definition",
                    "interpretive_clause",
                ),
                " | ".join(row["subareas"]),
            ]
            for row in version.values()
        ],
        "ratings.csv": [
            [
                *of(row),
                *_cells(row, "review_set", "rater", "panel", "repeat", "reason", "status", "label"),
                *_cells(
                    row, "no_verdict_because", "confidence", "position", "stratum", "inclusion_probability"
                ),
                "" if pd.isna(row["released_at"]) else "yes",
                *_cells(row, "active_seconds", "labelled_at"),
                " ".join(map(str, row["turns"])) if isinstance(row["turns"], list) else "",
                _cell(row["rationale"]),
            ]
            for row in tables.assignments.to_dict("records")
        ],
        "verdicts.csv": [
            [
                *of(row),
                *_cells(row, "judge_id", "judge", "judge_family", "repeat", "present", "passed"),
                *_cells(row, "unscored_because", "justification"),
            ]
            for row in tables.judgments.to_dict("records")
        ],
        "decisions.csv": [[*of(row), _cell(row["verdict"])] for row in tables.decisions.to_dict("records")],
        "metric-reviews.csv": [
            [
                *_cells(version[int(row["metric_version_id"])], "benchmark", "metric", "version"),
                *_cells(row, "rater", "question", "value"),
            ]
            for row in tables.metric_reviews.to_dict("records")
            if row["question"] in COUNTED
        ],
        "recognition.csv": [
            _cells(row, *recognition.COLUMNS) for row in tables.recognised.to_dict("records")
        ],
    }
    files = {name: csv_text(FILES[name], held).encode() for name, held in rows.items()}
    files[ABOUT] = (json.dumps(package.about, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()
    if package.transcripts:
        lines = (
            json.dumps({"run": run, "conversation": key, "turns": turns}, ensure_ascii=False) + "\n"
            for (run, key), turns in sorted(package.transcripts.items())
        )
        files[TRANSCRIPTS] = "".join(lines).encode()
    return files


def data_hash(files: Mapping[str, bytes]) -> str:
    """One hash over all files, whatever their order."""
    digests = {name: hashlib.sha256(held).hexdigest() for name, held in sorted(files.items())}
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()


def read_files(folder: Path) -> dict[str, bytes]:
    """The files of a package in a folder.

    Raises:
        ImportRefused: one that every package has is not there.
    """
    for name in (*FILES, ABOUT):
        if not (folder / name).is_file():
            raise ImportRefused(f"{folder} has no {name}; give the folder of a report, which holds its data")
    names = [name for name in (*FILES, ABOUT, TRANSCRIPTS) if (folder / name).is_file()]
    return {name: (folder / name).read_bytes() for name in names}


def read_package(folder: Path) -> Package:
    """The package in a folder.

    Raises:
        ImportRefused: a file is missing or is not what a package holds.
    """
    read_files(folder)
    conversations = [row for _, row in read_shielded_csv(folder / "conversations.csv", CONVERSATIONS)]
    metrics = [row for _, row in read_shielded_csv(folder / "metrics.csv", METRICS)]
    reader = _Reader(
        folder,
        {(row["run"], row["conversation"]): number for number, row in enumerate(conversations, start=1)},
        {
            (row["benchmark"], row["metric"], row["metric_version"]): n
            for n, row in enumerate(metrics, start=1)
        },
    )
    tables = reader.tables(conversations, metrics)
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        said = [json.loads(line) for line in _lines(folder / TRANSCRIPTS)]
        transcripts = {(one["run"], one["conversation"]): one["turns"] for one in said}
    except (ValueError, KeyError, TypeError) as error:
        raise ImportRefused(
            f"{folder}: {ABOUT} or {TRANSCRIPTS} is not the JSON of a report ({error})"
        ) from error
    return Package(tables=tables, about=about, transcripts=transcripts)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []


@dataclass(frozen=True, slots=True)
class _Reader:
    folder: Path
    conversation: Mapping[tuple[str, str], int]
    version: Mapping[tuple[str, str, str], int]

    def tables(self, conversations: list[dict[str, str]], metrics: list[dict[str, str]]) -> StudyTables:
        about = pd.DataFrame(
            [
                {
                    "conversation_id": number,
                    "run": row["run"],
                    "conversation": row["conversation"],
                    "age": row["variant"] or None,
                    "model": row["model"],
                    "family": row["family"],
                    "base_scenario": row["base_scenario_id"],
                    "n_turns": int(row["n_turns"]) if row["n_turns"] else None,
                }
                for number, row in enumerate(conversations, start=1)
            ]
        )
        versions = pd.DataFrame(
            [
                row
                | {
                    "metric_version_id": number,
                    "version": int(row["metric_version"]),
                    "subareas": row["subareas"].split(" | ") if row["subareas"] else [],
                }
                for number, row in enumerate(metrics, start=1)
            ]
        ).drop(columns="metric_version")
        return joined(
            versions,
            self._read("ratings.csv", _rating, _RATING),
            self._read("verdicts.csv", _verdict, _VERDICT).astype(
                {"present": "boolean", "passed": "boolean"}
            ),
            self._read("decisions.csv", lambda row, _: {"verdict": row["verdict"]}, ("verdict",)),
            about,
            self._metric_reviews(),
            self._recognised(),
        )

    def _metric_reviews(self) -> pd.DataFrame:
        path, rows = self.folder / "metric-reviews.csv", []
        for number, row in read_shielded_csv(path, METRIC_REVIEWS):
            version = self.version.get((row["benchmark"], row["metric"], row["metric_version"]))
            if version is None:
                raise ImportRefused(f"{path}, row {number}: there is no {row['metric']!r} in metrics.csv")
            rows.append((version, row["rater_id"], row["question"], row["answer"]))
        return pd.DataFrame(rows, columns=["metric_version_id", "rater", "question", "value"])

    def _recognised(self) -> pd.DataFrame:
        rows = read_shielded_csv(self.folder / "recognition.csv", recognition.COLUMNS)
        return pd.DataFrame([row for _, row in rows], columns=list(recognition.COLUMNS))

    def _read(
        self,
        name: str,
        values: Callable[[Mapping[str, str], int], dict[str, Any]],
        columns: tuple[str, ...],
    ) -> pd.DataFrame:
        path, rows = self.folder / name, []
        for number, row in read_shielded_csv(path, FILES[name]):
            try:
                key = {
                    "conversation_id": self.conversation[row["run"], row["conversation"]],
                    "metric_version_id": self.version[row["benchmark"], row["metric"], row["metric_version"]],
                }
                rows.append(key | values(row, number))
            except KeyError as error:
                raise ImportRefused(
                    f"{path}, row {number}: there is no {error.args[0]!r} in conversations.csv or metrics.csv"
                ) from error
            except ValueError as error:
                raise ImportRefused(f"{path}, row {number}: {error}") from error
        return pd.DataFrame(rows, columns=["conversation_id", "metric_version_id", *columns])


_RATING = (
    "assignment_id",
    "review_set",
    "rater_id",
    "rater",
    "panel",
    "repeat",
    "position",
    "stratum",
    "inclusion_probability",
    "status",
    "label",
    "no_verdict_because",
    "confidence",
    "rationale",
    "turns",
    "active_seconds",
    "labelled_at",
    "reason",
    "released_at",
)
_VERDICT = (
    "judge_id",
    "judge",
    "judge_family",
    "repeat",
    "present",
    "passed",
    "unscored_because",
    "justification",
)


def _rating(row: Mapping[str, str], number: int) -> dict[str, Any]:
    return {
        "assignment_id": number,
        "review_set": row["review_set"],
        "rater_id": row["rater_id"],
        "rater": row["rater_id"],
        "panel": row["rater_group"] or None,
        "repeat": int(row["repeat_no"]),
        "position": int(row["position"]),
        "stratum": row["stratum"],
        "inclusion_probability": float(row["inclusion_probability"])
        if row["inclusion_probability"]
        else None,
        "status": row["status"],
        "label": row["label"] or None,
        "no_verdict_because": row["no_verdict_because"],
        "confidence": float(row["confidence"]) if row["confidence"] else None,
        "rationale": row["rationale"],
        "turns": [int(turn) for turn in row["turns"].split()],
        "active_seconds": float(row["active_seconds"]) if row["active_seconds"] else None,
        "labelled_at": row["created_utc"] or None,
        "reason": row["assigned_as"],
        "released_at": row["given_up"] or None,
    }


def _verdict(row: Mapping[str, str], _: int) -> dict[str, Any]:
    truth = {"True": True, "False": False, "": None}
    return {
        "judge_id": int(row["judge_no"]),
        "judge": row["judge"],
        "judge_family": row["judge_family"],
        "repeat": int(row["repeat_no"]),
        "present": truth[row["present"]],
        "passed": truth[row["passed"]],
        "unscored_because": row["unscored_because"],
        "justification": row["justification"],
    }


def _cells(row: Mapping[Any, Any], *names: str) -> list[str]:
    return [_cell(row.get(name)) for name in names]


def _cell(value: Any) -> str:
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
