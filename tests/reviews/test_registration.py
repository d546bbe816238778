from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews import evidence
from reviews.registration import (
    AnalysisPlan,
    RegistrationRefused,
    deviations,
    read_plan,
    register,
    registrations,
)
from tests.reviews.invented_study import add_study
from tests.reviews.test_extension import MIXED, answer_all, open_set


def found(engine: Engine) -> list[tuple[str, str, str]]:
    plans = registrations(engine, "winter")
    tables = evidence.read_tables(engine, "winter")
    return [(one.what, one.planned, one.found) for one in deviations(plans, tables)]


def test_a_plan_registered_before_labels_that_is_followed_has_no_deviation(engine: Engine) -> None:
    add_study(engine)
    kept = register(engine, "winter", AnalysisPlan(overlap=2, items=16))
    assert kept.before_labels
    again = register(engine, "winter", AnalysisPlan(overlap=2, items=16))
    assert (again.newly, again.plan_hash, again.revision) == (False, kept.plan_hash, 1)
    open_set(engine, raters=MIXED)
    answer_all(engine)
    assert found(engine) == []


def test_labels_that_come_in_later_and_are_dated_earlier_are_a_deviation(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine, raters=MIXED)
    register(sqlite_engine, "winter", AnalysisPlan())
    with writing(sqlite_engine) as session:
        before = datetime.now(UTC) - timedelta(days=3)
        for one in session.exec(select(t.Assignment).limit(2)):
            label = {
                "assignment_id": one.id,
                "revision": 1,
                "operation": f"old-{one.id}",
                "created_at": before,
            }
            session.add(t.Label(**label, status="submitted", verdict="pass"))
    assert found(sqlite_engine) == [
        ("time of registration", "before any label", "2 labels that came in afterwards are dated before it")
    ]


def test_what_comes_out_otherwise_is_listed(sqlite_engine: Engine) -> None:
    assert deviations([], evidence.read_tables(sqlite_engine, "winter"))[0].found == "no plan was registered"
    add_study(sqlite_engine)
    open_set(sqlite_engine, raters=MIXED)
    answer_all(sqlite_engine)
    plan = AnalysisPlan(overlap=3, items=40, judge="tansy-9", cut_off=0.8, admissible_set="0" * 64)
    assert register(sqlite_engine, "winter", plan).labels_then == 32
    with pytest.raises(RegistrationRefused, match="say why"):
        register(sqlite_engine, "winter", plan.model_copy(update={"margin": 0.1}))
    register(sqlite_engine, "winter", plan.model_copy(update={"margin": 0.1}), because="too strict")
    said = {what.partition(",")[0]: (planned, now) for what, planned, now in found(sqlite_engine)}
    assert said["time of registration"] == ("before any label", "32 labels were in")
    assert said["raters of an item"] == ("3", "16 of 16 items have fewer")
    assert said["items with a label"] == ("40", "16")
    assert said["judge"] == ("tansy-9", "none")
    assert said["cut off"] == ("0.8", "0.667")
    assert said["margin"] == ("0.1", "0.05")
    assert "admissible set" in said
    assert [one.revision for one in registrations(sqlite_engine, "winter")] == [1, 2]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("primary_policy: {borderline: maybe}", "borderline"),
        ("cutoff: 0.7", "cutoff"),
        ("[", "cannot be read"),
        ("- a", "the document"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_by_its_field(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RegistrationRefused, match=says):
        read_plan(file)


def test_a_plan_says_what_it_changes_and_the_rest_is_what_the_audit_does(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("primary_policy: {borderline: fail}\nitems: 90\n", encoding="utf-8")
    plan = read_plan(file)
    assert (plan.primary_policy.borderline, plan.items, plan.cut_off) == ("fail", 90, 0.667)
