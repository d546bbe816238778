"""The page of runs, run without a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.llm import FailureKind
from impactbench.settings import Settings
from impactbench.store import tables as t
from tests.impactbench.runs.invented_run import failing, metric, plan, play, suite
from tests.suggestions import add_people

SCRIPT = "from app.views.runs import runs; runs()"


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


def test_without_a_run_it_says_what_to_do_first(people: dict[str, t.Rater]) -> None:
    assert "impactbench run start FILE" in look(people["keeper"]).text[0].value


def test_it_says_what_is_left_failed_and_spent(people: dict[str, t.Rater], sqlite_engine: Engine) -> None:
    play(sqlite_engine, plan())
    again = suite(metric("asks", clause="Two instances are needed."), metric("presses"))
    play(sqlite_engine, plan(again), failing(FailureKind.SERVER, purpose="judge"), of=again)
    page = look(people["keeper"])
    assert "1 run is stopped with something left, 4 units failed" in page.markdown[0].value
    assert "4 judgments are left; 4 units failed and are due again" in page.text[0].value
    tables = [frame.value for frame in page.dataframe]
    assert list(tables[1]["Kind"]) == ["server"] * 4
    assert list(tables[-1]["What"]) == ["interpretive clause", "first"]


def test_it_is_for_maintainers(people: dict[str, t.Rater]) -> None:
    assert look(people["reader"]).error
