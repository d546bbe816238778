"""`export`, `adapt` and the imports of other programs' files, as a person types them."""

import shutil
from pathlib import Path

import pytest
import yaml

from impactbench.store.engine import connect
from tests.app.command import Command
from tests.impactbench.adapters.folders import FIRST, make_folder
from tests.impactbench.adapters.labelled_study import label_everything


@pytest.fixture
def at(impactbench: Command, monkeypatch: pytest.MonkeyPatch, sqlite_url: str) -> Command:
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    return impactbench


def ok(command: Command, *arguments: object) -> str:
    done = command(*arguments)
    assert done.code == 0, done.err
    return done.out


def test_labels_go_from_one_database_to_the_next(
    at: Command, sqlite_url: str, sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = connect(sqlite_url)
    label_everything(engine)
    engine.dispose()
    said = ok(at, "export", "labels", "winter", tmp_path / "out")
    assert "labels by 3 raters" in said
    for name in ("label-studio", "argilla", "inspect"):
        ok(at, "export", "labels", "winter", tmp_path / name, "--format", name)
        assert at("export", "labels", "winter", tmp_path / name, "--format", name).code == 1

    shutil.copy(sqlite_template, tmp_path / "other.db")
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", f"sqlite:///{tmp_path / 'other.db'}")
    assert "Nothing new" not in ok(at, "import", "labels", tmp_path / "out")
    assert "Nothing new" in ok(at, "import", "labels", tmp_path / "out")
    ok(at, "export", "labels", "winter", tmp_path / "again")
    for path in (tmp_path / "out").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_a_run_goes_out_and_a_second_judge_comes_in(at: Command, tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    ok(at, "import", "run", folder.path)
    assert "2 metrics, 4 scenarios, 1 runs, 4 conversations, 4 judgments" in ok(
        at, "export", "run", "kindness", tmp_path / "out"
    )
    assert (tmp_path / "out/kindness/benchmark.yaml").exists()

    verdicts = tmp_path / "verdicts.csv"
    verdicts.write_text(f"item_id,present\n{FIRST},false\n")
    arguments = ("import", "verdicts", verdicts, "--study", "kindness", "--judge", "gpt-5")
    assert "1 verdicts read (1 absent), 1 added" in ok(at, *arguments)
    assert "Nothing new" in ok(at, *arguments)


def test_a_blueprint_is_adapted_reviewed_and_checked(at: Command, tmp_path: Path, shared: Path) -> None:
    review = tmp_path / "candidates.yaml"
    said = ok(at, "adapt", "weval", shared / "data/weval/test.yml", "--out", review)
    assert "4 candidates from test.yml; none is in the suite" in said
    refused = at("adapt", "accept", review, "--by", "Ana", "--out", tmp_path / "suite")
    assert refused.code == 1
    assert "it has no decision (4 of 4 have none)" in refused.err

    text = review.read_text()
    review.write_text(text.replace("decision: ''", "decision: accept"))
    assert "4 accepted as proposed" in ok(
        at, "adapt", "accept", review, "--by", "Ana", "--out", tmp_path / "suite"
    )
    (file,) = (tmp_path / "suite").iterdir()
    assert len(yaml.safe_load(file.read_text())["metrics"]) == 4
    assert "comprehensive-system-test/" in ok(at, "suite", "list", tmp_path / "suite")

    broken = at(
        "adapt", "weval", shared / "data/weval/maternal-health-uttar-pradesh.yml", "--out", tmp_path / "x"
    )
    assert (broken.code, broken.err.count("\n")) == (1, 1)
    assert not (tmp_path / "x").exists()


def test_a_model_drafts_from_a_script(at: Command, tmp_path: Path, shared: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(
        "rules:\n- purpose: candidate\n  answers:\n  - text: '"
        '{"name": "Drafted", "polarity": "negative", "definition": "It harms.", "question": "",'
        ' "interpretive_clause": "", "examples_present": [], "examples_absent": []}'
        "'\n"
    )
    review = tmp_path / "candidates.yaml"
    said = ok(
        at, "adapt", "kora", shared / "data/kora/risks.json", "--out", review,
        "--model", "some/model", "--provider", f"scripted:{script}",
    )  # fmt: skip
    assert "26 candidates from risks.json, 26 of them drafted by some/model" in said
    first = yaml.safe_load(review.read_text())["candidates"][0]
    assert (first["proposed"]["name"], first["drafted_by"]) == ("Drafted", "some/model")
    assert first["passage"].startswith("Content is in scope")


def test_other_programs_files_are_imported_and_counted(at: Command, tmp_path: Path, shared: Path) -> None:
    data = shared / "data"
    log = data / "inspect_logs/2025-05-12T20-28-13-04-00_popularity.json"
    assert "Note: the log ended as 'cancelled'" in ok(at, "import", "inspect", log, "--study", "inspect")
    (ratings,) = (data / "vera_mh").glob("*Ratings*.csv")
    said = ok(at, "import", "vera", data / "vera_mh/conversations", "--ratings", ratings)
    assert "without a transcript and were left out" in said
    scout = data / "inspect_scout/validation-demo/eval-awareness.csv"
    options = ("--study", "scout", "--rater", "val", "--polarity", "negative", "--without-transcripts")
    refused = at("import", "scout", scout, *options)
    assert "line 2: target is 'asdf', it must be true or false" in refused.err
    assert "17 added" in ok(at, "import", "scout", scout, *options, "--leave-out-faulty")
