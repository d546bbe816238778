"""Questions about a metric come with what they ask about."""

import pytest
from sqlalchemy import Engine
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.domain import LabelVerdict
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews import desk
from reviews.labels import Answer
from reviews.rating import worklist
from reviews.rubrics import load
from tests.browser.desks import plain_turns, set_desks


def page() -> None:
    from app import workspace
    from app.views.expert_questions import ask
    from reviews.rating import worklist

    asked, _ = worklist.what_follows(workspace.engine(), 1)
    if asked:
        ask(1, asked)


def test_the_examples_and_the_subareas_of_the_metric_are_there_to_be_judged(
    monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine
) -> None:
    set_desks(sqlite_engine, [plain_turns(1)], "kestrel", base_url="http://here")
    with writing(sqlite_engine) as session:
        session.exec(select(t.ReviewSet)).one().rubric = load("external-review").model_dump(mode="json")
        version = session.exec(select(t.MetricVersion)).one()
        version.examples_present, version.examples_absent = ["What matters to you?"], ["Take the first."]
        subarea = t.Subarea(slug="autonomy", domain="self", name="Autonomy")
        session.add(subarea)
        session.flush()
        session.add(t.Placement(metric_id=version.metric_id, subarea_id=subarea.id or 0))
    (code,) = worklist.codes(sqlite_engine, 1)
    responses = {"tests_the_metric": "yes", "realistic": "yes"}
    said = Answer(verdict=LabelVerdict.PASS, responses=responses)
    desk.save(sqlite_engine, 1, code, said, base_revision=0)
    monkeypatch.setattr(workspace, "engine", lambda: sqlite_engine)
    run = AppTest.from_function(page, default_timeout=20).run()
    assert not run.exception
    shown = [one.value for one in run.text]
    assert {"What matters to you?", "Take the first."} < set(shown)
    assert "It is meant to say something about: Autonomy." in shown
    assert "Questions with a star * need an answer." in [one.value for one in run.caption]
