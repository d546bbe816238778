"""The page of the suite, run without a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.settings import Settings
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.suite.validity import QUESTIONS
from tests.suggestions import add_people

SCRIPT = "from app.views.suite import suite; suite()"


@pytest.fixture
def people(sqlite_engine: Engine, sqlite_url: str, tmp_path: Path) -> Iterator[dict[str, t.Rater]]:
    workspace.use(Settings(database_url=sqlite_url, state_dir=tmp_path))
    yield add_people(sqlite_engine)
    workspace.engine().dispose()


def look(person: t.Rater) -> AppTest:
    test = AppTest.from_string(SCRIPT, default_timeout=60)
    test.session_state["impactbench-looking"] = person
    test.run()
    assert not test.exception
    return test


def test_the_suite_is_counted_and_brought_into_the_database(
    people: dict[str, t.Rater], sqlite_engine: Engine
) -> None:
    page = look(people["keeper"])
    assert "56 metrics in 14 benchmarks cover 14 of 14 subareas" in page.markdown[0].value
    assert "28 wanted, 28 not wanted" in page.markdown[0].value
    page.button[0].click().run()
    assert not page.exception
    assert "56 metrics added; nothing was overwritten." in [one.value for one in page.text]
    assert len(frames.metrics(sqlite_engine)) == 56
    assert not page.button


def test_a_benchmark_is_linked_and_answers_the_eight_questions(people: dict[str, t.Rater]) -> None:
    test = AppTest.from_string(SCRIPT, default_timeout=60)
    test.session_state["impactbench-looking"] = people["reader"]
    test.query_params["benchmark"] = "human-ties"
    test.run()
    assert test.selectbox[0].value == "human-ties"
    labels = [one.label for one in test.expander]
    assert [label for label in labels if label in QUESTIONS.values()] == list(QUESTIONS.values())
    assert not test.button


def test_it_is_not_for_experts(people: dict[str, t.Rater]) -> None:
    assert look(people["inner"]).error
