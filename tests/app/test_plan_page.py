from collections.abc import Callable

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.domain import Role
from impactbench.store.tables import Rater


def page() -> None:
    from app.views.plan import plan

    plan()


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine) -> Callable[[Role], None]:
    """Make somebody of a role look at the pages that a test runs."""

    def look(role: Role) -> None:
        monkeypatch.setattr(workspace, "person", lambda: Rater(id=1, pseudonym="Max", role=role))
        monkeypatch.setattr(workspace, "engine", lambda: sqlite_engine)

    return look


def test_the_outlook_follows_the_inputs(looking: Callable[[Role], None]) -> None:
    looking(Role.METHODOLOGIST)
    shown = AppTest.from_function(page, default_timeout=20).run()
    assert not shown.exception
    assert shown.title[0].value == "Plan a study"
    first = shown.markdown[0].value
    assert first.startswith("**12 raters with 4 hours each can rate 204 items 3 times over")
    shown.number_input[0].set_value(24).run()
    assert "24 raters with 4 hours each can rate 408 items" in shown.markdown[0].value
    assert "--items 408 --overlap 3" in shown.code[0].value
    assert "96 hours of experts' time in all." in [caption.value for caption in shown.caption]
    results = shown.dataframe[0].value["Result"].tolist()
    assert any(result.startswith("accuracy of the judge ±0.0") for result in results)


def test_what_cannot_be_planned_is_said_in_place_of_the_results(looking: Callable[[Role], None]) -> None:
    looking(Role.MAINTAINER)
    shown = AppTest.from_function(page, default_timeout=20).run()
    shown.number_input[0].set_value(2).run()
    assert not shown.exception
    assert shown.text[0].value.startswith("This cannot be planned: overlap 3 needs 3 raters and there are 2")
    assert len(shown.dataframe) == 0


def test_a_plan_without_a_question_asks_for_one(looking: Callable[[Role], None]) -> None:
    looking(Role.METHODOLOGIST)
    shown = AppTest.from_function(page, default_timeout=20).run()
    for question in shown.checkbox:
        question.uncheck()
    shown.run()
    assert shown.text[0].value == "Choose at least one question on the left."


def test_the_page_is_not_for_experts(looking: Callable[[Role], None]) -> None:
    looking(Role.EXPERT)
    shown = AppTest.from_function(page, default_timeout=20).run()
    assert "not for your role" in shown.error[0].value
    assert len(shown.title) == 0
