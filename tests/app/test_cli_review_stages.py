from datetime import timedelta

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from app.cli.review_stages import parse_duration
from impactbench.domain import LabelVerdict
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.assignment import PlanRefused
from tests.app.command import Command
from tests.browser.desks import plain_turns, set_desks
from tests.reviews.invented_study import add_study, answer

RATERS = [
    part
    for name in ("Ada:internal", "Bo:internal", "Cy:internal", "Di:internal")
    for part in ("--rater", name)
]


@pytest.fixture
def opened(
    impactbench: Command, sqlite_engine: Engine, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> Engine:
    """A set `first` of the study winter: 16 items, two of four raters each."""
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    add_study(sqlite_engine)
    said = impactbench(
        "review", "open", "winter", "--set", "first", "--overlap", 2, "--seed", 7, *RATERS, "--yes"
    )
    assert said.code == 0
    return sqlite_engine


def test_the_overlap_is_raised_once_and_says_what_it_did(impactbench: Command, opened: Engine) -> None:
    extend = ("review", "extend", "winter", "--set", "first", "--to", 3)
    asked = impactbench(*extend)
    assert asked.code == 2
    assert "16 of 16 items of first get more raters, up to 3: 16 new assignments." in asked.out
    assert impactbench(*extend, "--dry-run", "--json").json["state"] == "dry_run"
    assert len(frames.assignments(opened, "winter")) == 32
    said = impactbench(*extend, "--yes", "--rater", "Ed:internal", "--json")
    assert said.json["state"] == "opened"
    assert sum(said.json["raters"].values()) == 16
    assert list(said.json["links"]) == ["Ed"]
    again = impactbench(*extend, "--yes", "--json")
    assert again.json["state"] == "nothing_to_open"
    assert len(frames.assignments(opened, "winter")) == 48


def test_an_adaptive_stage_waits_for_the_first(impactbench: Command, opened: Engine) -> None:
    extend = ("review", "extend", "winter", "--set", "first", "--to", 4, "--adaptive", "--yes")
    early = impactbench(*extend)
    assert (early.code, early.out) == (1, "")
    assert "wait for more labels" in early.err
    for assignment in frames.assignments(opened, "winter")["assignment_id"]:
        answer(opened, assignment)
    said = impactbench(*extend, "--json").json
    assert set(said["probabilities"].values()) <= {0.1, 0.3}
    assert len(said["probabilities"]) == 16


def test_abandoned_slots_are_released(impactbench: Command, opened: Engine) -> None:
    with writing(opened) as session:
        people = {rater.id: rater.pseudonym for rater in session.exec(select(t.Rater)).all()}
        for row in session.exec(select(t.Assignment)).all():
            row.created_at -= timedelta(days=30)
            if people[row.rater_id] != "Ada":
                session.add(t.Exposure(rater_id=row.rater_id, assignment_id=row.id or 0))
    release = ("review", "release", "winter", "--older-than", "14d")
    asked = impactbench(*release)
    assert asked.code == 2
    assert "first: 8 slots of raters not seen since" in asked.out
    said = impactbench(*release, "--yes", "--json").json
    assert (said["state"], said["sets"][0]["raters"], said["sets"][0]["replaced"]) == (
        "released",
        {"Ada": 8},
        8,
    )
    assert impactbench(*release, "--yes", "--json").json["state"] == "nothing_to_release"


def test_a_lock_is_asked_for_and_made_once(impactbench: Command, opened: Engine) -> None:
    lock = ("review", "lock", "winter", "--set", "first")
    asked = impactbench(*lock)
    assert asked.code == 2
    assert "A lock cannot be undone" in asked.err
    first = impactbench(*lock, "--yes", "--json")
    assert (first.json["newly"], first.json["waiting"]) == (True, 32)
    again = impactbench(*lock, "--yes", "--json")
    assert (again.json["newly"], again.json["locked_at"]) == (False, first.json["locked_at"])
    refused = impactbench("review", "extend", "winter", "--set", "first", "--to", 3, "--yes")
    assert refused.code == 1
    assert "is locked" in refused.err


def test_results_are_marked_as_public_after_asking(impactbench: Command, opened: Engine) -> None:
    asked = impactbench("review", "mark-reported", "winter")
    assert (asked.code, "cannot be undone" in asked.err) == (2, True)
    assert "is still open" in impactbench("review", "mark-reported", "winter", "--yes").err
    impactbench("review", "lock", "winter", "--set", "first", "--yes")
    assert impactbench("review", "mark-reported", "winter", "--yes", "--json").json["newly"] == ["first"]
    assert "nothing has changed" in impactbench("review", "mark-reported", "winter", "--yes").err


def test_a_plan_needs_no_database(impactbench: Command) -> None:
    plan = ("review", "plan", "--raters", 12, "--hours", 4, "--metrics", 18)
    said = impactbench(*plan)
    assert said.code == 0
    assert "12 raters with 4 hours each can rate 240 items 3 times over" in said.out
    assert "accuracy of the judge" in said.out
    only = impactbench(*plan, "--question", "accuracy", "--items-per-hour", 30, "--json").json
    assert {prospect["question"] for prospect in only["prospects"]} == {"accuracy"}
    assert only["items"] == 480
    refused = impactbench(*plan, "--overlap", 20)
    assert (refused.code, refused.out) == (1, "")
    assert "overlap 20 needs 20 raters and there are 12" in refused.err


def test_options_of_the_design_reach_the_preview(impactbench: Command, opened: Engine) -> None:
    open_again = ("review", "open", "winter", "--set", "second", "--overlap", 2, "--dry-run")
    new = [part for name in "EFG" for part in ("--rater", f"{name}:internal")]
    said = impactbench(*open_again, *new, "--repeats", 0.1, "--cap", 11)
    assert said.code == 0
    assert "too few items to keep 15 positions" in said.out
    assert "Hours at 4.0 minutes an item" in said.out
    refused = impactbench(*open_again, *new, "--cap", 5)
    assert "need 32 seats; raise the limits" in refused.err


@pytest.mark.parametrize(("text", "days"), [("14d", 14), (" 2w", 14), ("48h", 2)])
def test_times_are_read(text: str, days: int) -> None:
    assert parse_duration(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["14", "d", "-3d", "2 weeks", ""])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(PlanRefused, match="write a number and h, d or w"):
        parse_duration(text)


def test_a_pilot_moves_items_to_where_the_judge_errs(
    impactbench: Command, sqlite_engine: Engine, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    set_desks(sqlite_engine, [plain_turns(n) for n in range(1, 9)], "kestrel", base_url="http://here")
    opened = ("review", "open", "winter", "--set", "two", "--overlap", 1, "--seed", 3, "--items", 6)
    piloted = (*opened, "--strata", "verdict", "--pilot", "one", "--rater", "owl:external", "--yes", "--json")
    early = impactbench(*piloted)
    assert (early.code, early.out) == (1, "")
    assert "it says nothing about where the judge errs; leave --pilot out" in early.err
    for row in frames.assignments(sqlite_engine, "winter").to_dict("records"):
        # The judge passes every second conversation; the expert agrees where it fails, and half the time where it passes.
        passed = row["conversation_id"] % 4 == 0
        answer(sqlite_engine, row["assignment_id"], LabelVerdict.PASS if passed else LabelVerdict.FAIL)
    chances = {one["stratum"]: one["inclusion_probability"] for one in impactbench(*piloted).json["strata"]}
    assert chances["pass"] > chances["fail"]
    kept = frames.assignments(sqlite_engine, "winter")
    kept = kept[kept["review_set"] == "two"]
    assert len(kept) == 6
    assert dict(zip(kept["stratum"], kept["inclusion_probability"], strict=True)) == pytest.approx(chances)
