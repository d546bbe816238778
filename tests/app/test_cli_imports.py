"""`impactbench import` says what it read, and a mistake is one sentence and exit code 1."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.command import Command, Said
from tests.impactbench.adapters.folders import FIRST, Folder, make_folder

HUMANEBENCH = "data/impactbench/benchmarks/humanebench"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make_folder(tmp_path)


Import = Callable[..., Said]


@pytest.fixture
def run_import(impactbench: Command, monkeypatch: pytest.MonkeyPatch) -> Import:
    """`impactbench import ...` on a database."""

    def run(url: str, *arguments: object) -> Said:
        monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", url)
        return impactbench("import", *arguments)

    return run


def test_the_published_run_is_imported_with_one_command(
    run_import: Import, shared: Path, database_url: str
) -> None:
    first = run_import(database_url, "run", shared / HUMANEBENCH)
    assert first.code == 0, first.err
    assert "18 conversations: 13 present, 5 absent; 13 passed, 5 failed" in first.out
    assert "the folder does not name its judge, which is recorded as 'unnamed-judge'" in first.out
    assert "Next: impactbench review open humanebench " in first.out

    again = run_import(database_url, "run", shared / HUMANEBENCH)
    assert again.code == 0, again.err
    assert "Nothing new: all of this was imported before, and nothing was changed." in again.out


def test_labels_are_imported_and_counted(
    run_import: Import, folder: Folder, sqlite_url: str, tmp_path: Path
) -> None:
    run_import(sqlite_url, "run", folder.path)
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

    done = run_import(sqlite_url, "ratings", table, "--study", "kindness", *options)
    assert done.code == 0, done.err
    assert "3 rows read: 2 labels added, 0 revised, 0 already there, 1 skipped" in done.out
    assert "1 items, 2 raters (2 no panel); 1 skip, 1 submitted" in done.out
    assert "skipped: 1 because the label is empty and no status says why" in done.out
    assert "Nothing new" in run_import(sqlite_url, "ratings", table, "--study", "kindness", *options).out


def test_a_mistake_is_one_sentence(
    run_import: Import, folder: Folder, sqlite_url: str, tmp_path: Path
) -> None:
    folder.edit("scores.json", lambda scores: scores[0].update(present="false"))

    done = run_import(sqlite_url, "run", folder.path)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"Error: {folder.run}/scores.json: score of conversation '{FIRST}': present is the text 'false', it must be"
        " true, false or null, without quotation marks\n"
    )


def test_an_empty_database_is_refused_before_anything_is_read(
    run_import: Import, folder: Folder, tmp_path: Path
) -> None:
    done = run_import(f"sqlite:///{tmp_path / 'new.db'}", "run", folder.path)
    assert done.code == 1
    assert "run `impactbench db upgrade`" in done.err


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
    run_import: Import, sqlite_url: str, tmp_path: Path, options: list[str], said: str
) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("item_id,rater_id,label\nc1,a,pass\n")

    done = run_import(sqlite_url, "ratings", table, "--study", "nowhere", *options)
    assert done.code == 1
    assert said in done.err
