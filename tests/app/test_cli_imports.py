"""`impactbench import` says what it read, and a mistake is one sentence and exit code 1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.impactbench.adapters.folders import FIRST, Folder, make_folder

HUMANEBENCH = "data/impactbench/benchmarks/humanebench"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make_folder(tmp_path)


def _import(url: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", "from app.cli import main; main()", "import", *map(str, arguments)],
        env=os.environ | {"IMPACTBENCH_DATABASE_URL": url, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_published_run_is_imported_with_one_command(shared: Path, database_url: str) -> None:
    first = _import(database_url, "run", shared / HUMANEBENCH)
    assert first.returncode == 0, first.stderr
    assert "18 conversations: 13 present, 5 absent; 13 passed, 5 failed" in first.stdout
    assert "the folder does not name its judge, which is recorded as 'unnamed-judge'" in first.stdout
    assert "Next: impactbench review open humanebench " in first.stdout

    again = _import(database_url, "run", shared / HUMANEBENCH)
    assert again.returncode == 0, again.stderr
    assert "Nothing new: all of this was imported before, and nothing was changed." in again.stdout


def test_labels_are_imported_and_counted(folder: Folder, sqlite_url: str, tmp_path: Path) -> None:
    _import(sqlite_url, "run", folder.path)
    table = tmp_path / "labels.csv"
    table.write_text(f"item,who,said,status\n{FIRST},a,HELL YES,\n{FIRST},b,,skip\n{FIRST},c,,\n")
    options = [
        "--item-column",
        "item",
        "--rater-column",
        "who",
        "--label-column",
        "said",
        "--map",
        "HELL YES=pass",
    ]

    done = _import(sqlite_url, "ratings", table, "--study", "kindness", *options)
    assert done.returncode == 0, done.stderr
    assert "3 rows read: 2 labels added, 0 revised, 0 already there, 1 skipped" in done.stdout
    assert "1 items, 2 raters (2 no panel); 1 skip, 1 submitted" in done.stdout
    assert "skipped: 1 because the label is empty and no status says why" in done.stdout
    assert "Nothing new" in _import(sqlite_url, "ratings", table, "--study", "kindness", *options).stdout


def test_a_mistake_is_one_sentence(folder: Folder, sqlite_url: str, tmp_path: Path) -> None:
    folder.edit("scores.json", lambda scores: scores[0].update(present="false"))

    done = _import(sqlite_url, "run", folder.path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Error: {folder.run}/scores.json: score of conversation '{FIRST}': present is the text 'false', it must be"
        " true, false or null, without quotation marks\n"
    )


def test_an_empty_database_is_refused_before_anything_is_read(folder: Folder, tmp_path: Path) -> None:
    done = _import(f"sqlite:///{tmp_path / 'new.db'}", "run", folder.path)
    assert done.returncode == 1
    assert "run `impactbench db upgrade`" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--map", "yes"], "--map is 'yes', it must be written NAME=VALUE"),
        (["--column", "rationale=why"], "there is no column 'why' for the rationale"),
        (["--without-transcripts"], "say --polarity positive or negative"),
        ([], "there is no study 'nowhere'"),
    ],
)
def test_options_that_do_not_fit_are_named(
    sqlite_url: str, tmp_path: Path, options: list[str], said: str
) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("item_id,rater_id,label\nc1,a,pass\n")

    done = _import(sqlite_url, "ratings", table, "--study", "nowhere", *options)
    assert done.returncode == 1
    assert said in done.stderr
