"""Labels go to annotation programs and come back: several raters of an item stay apart, and a skip stays a skip."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from impactbench.adapters import ImportRefused
from impactbench.adapters.argilla_records import argilla_records, read_argilla, write_argilla
from impactbench.adapters.inspect_scores import inspect_scores
from impactbench.adapters.label_studio import label_studio_tasks, read_label_studio, write_label_studio
from impactbench.adapters.ratings_table import import_ratings_table
from impactbench.adapters.ratings_table_reading import RatingsTable
from impactbench.adapters.study_labels import StudyLabels, read_study_labels
from impactbench.domain import Polarity
from tests.impactbench.adapters.labelled_study import label_everything


@pytest.fixture
def labels(sqlite_engine: Engine) -> StudyLabels:
    label_everything(sqlite_engine)
    return read_study_labels(sqlite_engine, "winter")


def said(table: RatingsTable) -> set[tuple[Any, ...]]:
    return {
        (
            row.run,
            row.item,
            row.metric,
            row.metric_version,
            row.rater,
            row.status.value,
            row.verdict or "",
            row.rationale,
        )
        for row in table.rows
    }


def expected(labels: StudyLabels) -> set[tuple[Any, ...]]:
    return {
        (
            row["run"], row["item_id"], row["metric_id"], int(row["metric_version"]), row["rater_id"], row["status"],
            row["label"], row["rationale"],
        )
        for row in labels.cells()
    }  # fmt: skip


def test_label_studio_gets_and_gives_back_every_label(labels: StudyLabels, tmp_path: Path) -> None:
    write_label_studio(labels, tmp_path / "tasks.json")
    table = read_label_studio(tmp_path / "tasks.json")

    assert said(table) == expected(labels)
    tasks = label_studio_tasks(labels)
    assert max(len(task["annotations"]) for task in tasks) == 3
    cancelled = [each for task in tasks for each in task["annotations"] if each["was_cancelled"]]
    assert cancelled
    assert {row.status.value for row in table.rows if row.verdict is None} == {"skip"}
    assert len(cancelled) == sum(row.verdict is None for row in table.rows)


def test_argilla_gets_and_gives_back_every_label(
    labels: StudyLabels, tmp_path: Path, sqlite_engine: Engine
) -> None:
    write_argilla(labels, tmp_path / "records.jsonl")
    table = read_argilla(tmp_path / "records.jsonl")

    assert said(table) == expected(labels)
    record = next(argilla_records(labels))
    assert {len(record[f"verdict.responses{part}"]) for part in ("", ".users", ".status")} == {
        len(record["verdict.responses.users"])
    }
    imported = import_ratings_table(
        sqlite_engine, table, study="elsewhere", without_transcripts=True, polarity=Polarity.POSITIVE
    )
    assert imported.added == len(table.rows)


def test_inspect_gets_scores_that_say_who_gave_them_and_when(labels: StudyLabels) -> None:
    scores = [score for record in inspect_scores(labels) for score in record["scores"].values()]

    assert len(scores) == len(labels.cells())
    assert {score["value"] for score in scores} == {"C", "P", "I", "N"}
    revised = max(scores, key=lambda score: len(score["history"]))
    assert [edit["value"] for edit in revised["history"]] == ["I", "P", "C"]
    assert revised["value"] == "C"
    assert revised["history"][1]["provenance"]["reason"] == "=again"
    assert revised["history"][1]["provenance"]["timestamp"] == "2026-03-01T09:32:00.123456Z"


def task(tmp_path: Path, **annotation: Any) -> Path:
    choice = {"from_name": "q", "to_name": "t", "type": "choices", "value": {"choices": ["Good"]}}
    given = {"completed_by": 7, "was_cancelled": False, "result": [choice], **annotation}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 5, "data": {"item_id": "c1"}, "annotations": [given]}]))
    return path


def test_words_of_another_project_can_be_said_to_mean_verdicts(tmp_path: Path) -> None:
    (row,) = read_label_studio(task(tmp_path), words={"good": "pass"}).rows
    assert (row.item, row.rater, row.verdict) == ("c1", "7", "pass")


@pytest.mark.parametrize(
    ("annotation", "sentence"),
    [
        (
            {},
            "task 5: annotations: entry 1: the choice is the text 'Good', it must be fail, borderline, pass",
        ),
        ({"result": []}, "there are 0 questions with choices, there must be one"),
        ({"completed_by": None, "was_cancelled": True}, "completed_by is null, it must say who annotated"),
        ({"created_at": "yesterday", "was_cancelled": True}, "the time is 'yesterday'"),
    ],
)
def test_an_annotation_that_says_nothing_usable_is_named(
    tmp_path: Path, annotation: dict[str, Any], sentence: str
) -> None:
    path = task(tmp_path, **annotation)
    with pytest.raises(ImportRefused, match=re.escape(sentence)):
        read_label_studio(path)


def test_lists_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    record = {
        "item_id": "c1",
        "verdict.responses": ["pass"],
        "verdict.responses.users": ["a", "b"],
        "verdict.responses.status": ["submitted", "submitted"],
    }
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(record))
    with pytest.raises(
        ImportRefused, match=r"line 1: verdict\.responses, its users and its status must be lists"
    ):
        read_argilla(path)
