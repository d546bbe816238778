import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.adapters.run_folder import import_run_folder
from impactbench.adapters.run_folder_reading import read_run_folder
from impactbench.domain import LabelStatus, LabelVerdict
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.members.invitations import rater_of_token
from tests.app.command import Command

FOUR = [
    part
    for name in ("Ada:internal", "Bo:internal", "Cy:external", "Di:external")
    for part in ("--rater", name)
]
OPEN = ("review", "open", "humane", "--overlap", 3, "--seed", 7, *FOUR)


@pytest.fixture
def humane(sqlite_engine: Engine, sqlite_url: str, shared: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The real run of HumaneBench, imported as the study `humane`; the command line's database."""
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("IMPACTBENCH_BASE_URL", "https://review.example/")
    folder = shared / "data/impactbench/benchmarks/humanebench"
    import_run_folder(sqlite_engine, read_run_folder(folder), study="humane")
    return sqlite_engine


def links_in(text: str) -> dict[str, str]:
    lines = [line.split("  ") for line in text.splitlines() if "/enter/" in line]
    return {name: link.removeprefix("https://review.example/enter/") for name, link in lines}


def test_a_review_set_is_shown_saved_and_its_raters_get_links(impactbench: Command, humane: Engine) -> None:
    said = impactbench(*OPEN, "--yes")
    assert said.code == 0
    assert "18 of 18 conversations, 3 raters each, 54 assignments, seed 7" in said.out
    assert "humanebench/m02 | negative" in said.out
    assert "Ada (new)" in said.out
    assert "all raters are connected" in said.out
    assert "is open: 54 assignments" in said.err
    tokens = links_in(said.out)
    assert list(tokens) == ["Ada", "Bo", "Cy", "Di"]
    for name, token in tokens.items():
        person = rater_of_token(humane, token, now=datetime.now(UTC))
        assert person is not None
        assert person.pseudonym == name

    frame = frames.assignments(humane, "humane")
    assert sorted(frame["rater"].value_counts()) == [13, 13, 14, 14]
    assert frame.groupby("conversation_id")["rater"].nunique().eq(3).all()
    assert frame.groupby("conversation_id")["panel"].nunique().eq(2).all()


def test_without_anybody_to_ask_nothing_is_saved(impactbench: Command, humane: Engine) -> None:
    said = impactbench(*OPEN)
    assert said.code == 2
    assert "Plan " in said.out
    assert "Nothing is saved" in said.err
    assert "--yes" in said.err
    assert frames.assignments(humane, "humane").empty
    assert frames.raters(humane).empty


def test_a_dry_run_saves_nothing_and_ends_well(impactbench: Command, humane: Engine) -> None:
    said = impactbench(*OPEN, "--dry-run", "--yes", "--json")
    assert said.code == 0
    assert (said.json["state"], said.json["links"]) == ("dry_run", {})
    assert frames.assignments(humane, "humane").empty


def test_the_same_command_again_adds_nothing_and_breaks_no_link(impactbench: Command, humane: Engine) -> None:
    first = impactbench(*OPEN, "--yes", "--json").json
    again = impactbench(*OPEN, "--yes", "--json")
    assert again.json["state"] == "already_open"
    assert again.json["links"] == {}
    assert again.json["plan_hash"] == first["plan_hash"]
    assert "nothing was added" in again.err
    token = first["links"]["Ada"].rpartition("/")[2]
    assert rater_of_token(humane, token, now=datetime.now(UTC)) is not None
    assert len(frames.assignments(humane, "humane")) == 54


def test_json_holds_the_whole_plan_and_nothing_else_is_printed(impactbench: Command, humane: Engine) -> None:
    plan = impactbench(*OPEN, "--yes", "--json").json
    stored = frames.assignments(humane, "humane").merge(
        frames.conversations(humane, "humane"), on="conversation_id"
    )
    for rater in plan["raters"]:
        own = stored[stored["rater"] == rater["rater"]].sort_values("position")
        assert rater["order"] == (own["run"] + "::" + own["conversation"]).tolist()
    assert plan["pairs"]["with_common_items"] == 6
    assert plan["connected"] is True
    assert plan["notes"] == []


def test_a_file_names_the_raters(impactbench: Command, humane: Engine, tmp_path: Path) -> None:
    path = tmp_path / "raters.csv"
    path.write_text("rater,panel\nAda,internal\nCy,external\n")
    said = impactbench("review", "open", "humane", "--overlap", 2, "--raters", path, "--yes", "--json")
    assert [rater["items"] for rater in said.json["raters"]] == [18, 18]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--overlap", 5], "overlap 5 needs 5 raters and there are 4"),
        (["--overlap", 1], "overlap 1 cannot give every item an internal and an external rater"),
        (["--items", 100], "100 items cannot be drawn from 18 conversations"),
        (["--metric", "m09"], "no complete conversation of a metric 'm09'; there are m01, m02, m03"),
        (["--rater", "Eve"], "'Eve' is not known yet; write Eve:internal or external to add them"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(
    impactbench: Command, humane: Engine, options: list[object], sentence: str
) -> None:
    said = impactbench(*OPEN, *options, "--yes")
    assert (said.code, said.out) == (1, "")
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert frames.raters(humane).empty


def test_new_links_replace_old_ones_after_asking(impactbench: Command, humane: Engine) -> None:
    old = links_in(impactbench(*OPEN, "--yes").out)
    asked = impactbench("review", "links", "humane")
    assert asked.code == 2
    assert "stop working" in asked.err
    assert rater_of_token(humane, old["Ada"], now=datetime.now(UTC)) is not None
    new = links_in(impactbench("review", "links", "humane", "--yes").out)
    assert rater_of_token(humane, old["Ada"], now=datetime.now(UTC)) is None
    assert rater_of_token(humane, new["Ada"], now=datetime.now(UTC)) is not None


def test_status_counts_what_is_done_by_rater_and_metric(impactbench: Command, humane: Engine) -> None:
    impactbench(*OPEN, "--yes")
    with writing(humane) as session:
        mine = session.exec(
            select(t.Assignment).join(t.Rater).where(t.Rater.pseudonym == "Ada").limit(3)
        ).all()
        for assignment, status in zip(mine, [LabelStatus.SUBMITTED] * 2 + [LabelStatus.SKIPPED], strict=True):
            verdict = LabelVerdict.PASS if status is LabelStatus.SUBMITTED else None
            session.add(
                t.Label(
                    assignment_id=assignment.id or 0,
                    revision=1,
                    operation=assignment.code,
                    status=status,
                    verdict=verdict,
                )
            )
    said = impactbench("review", "status", "humane", "--json").json
    ada = said["raters"][0]
    assert (ada["rater"], ada["done"], ada["skipped"], ada["asked"] - ada["waiting"]) == ("Ada", 2, 1, 3)
    assert sum(metric["asked"] for metric in said["metrics"]) == 54
    with writing(humane) as session:
        seen = {"rater_id": mine[0].rater_id, "review_set_id": mine[0].review_set_id, "subject": "set"}
        session.add(t.Response(**seen, question="recognised_model", revision=1, value="in a few"))
    shown = impactbench("review", "status", "humane")
    assert "did you recognise a model? no: 0, in a few: 1, in many: 0; 3 still to be asked." in shown.out
    (asked,) = impactbench("review", "status", "humane", "--json").json["recognised"]
    assert (asked["asked"], asked["answered"]["in a few"]) == (4, 1)
    assert "By metric" in shown.out
    assert "humanebench/m03" in shown.out


def test_a_study_without_a_review_set_says_how_to_open_one(impactbench: Command, humane: Engine) -> None:
    for verb in ("status", "links"):
        said = impactbench("review", verb, "humane")
        assert said.code == 1
        assert "open one with `impactbench review open humane`" in said.err


def test_people_are_added_with_a_link(impactbench: Command, humane: Engine) -> None:
    said = impactbench("people", "add", "Max", "--role", "methodologist")
    assert said.code == 0
    person = rater_of_token(humane, said.out.strip().rpartition("/")[2], now=datetime.now(UTC))
    assert person is not None
    assert (person.pseudonym, person.role) == ("Max", "methodologist")
    again = impactbench("people", "add", "Max", "--role", "methodologist")
    assert "the old one no longer works" in again.err
    assert impactbench("people", "add", "Max", "--role", "maintainer").code == 1


@pytest.mark.parametrize(("answer", "code", "assignments"), [("y", 0, 54), ("n", 2, 0), ("", 2, 0)])
def test_at_a_keyboard_the_question_comes_after_the_preview(
    humane: Engine, sqlite_url: str, answer: str, code: int, assignments: int
) -> None:
    keyboard, stdin = os.openpty()
    command = [sys.executable, "-c", "from app.cli import main; main()", *map(str, OPEN)]
    with subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        os.close(stdin)
        os.write(keyboard, f"{answer}\n".encode())
        out, err = process.communicate(timeout=60)
    os.close(keyboard)
    assert "Plan " in out
    assert "Open this review set? [y/N]" in err
    assert process.returncode == code, err
    assert len(frames.assignments(humane, "humane")) == assignments
    assert ("/enter/" in out) == (code == 0)
