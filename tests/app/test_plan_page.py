import shlex
from collections.abc import Callable

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.domain import Panel, Role
from impactbench.store.tables import Rater
from tests.app.command import Command
from tests.reviews.invented_study import add_raters, add_study


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
    assert "review open STUDY --overlap 3 --seed 0 --items 408" in shown.code[0].value
    assert "96 hours of experts' time in all." in [caption.value for caption in shown.caption]
    results = shown.dataframe[0].value["Result"].tolist()
    assert any(result.startswith("accuracy of the judge ±0.0") for result in results)


def test_the_assignment_is_shown_as_the_command_below_it_makes_it(
    looking: Callable[[Role], None],
    sqlite_engine: Engine,
    sqlite_url: str,
    impactbench: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    add_study(sqlite_engine)
    add_raters(sqlite_engine, "Ada B", panel=Panel.EXTERNAL)
    looking(Role.METHODOLOGIST)
    shown = AppTest.from_function(page, default_timeout=20).run()
    shown.number_input[0].set_value(4)
    shown.selectbox[0].select("winter").run()
    next(one for one in shown.button if one.label == "Show who would rate what").click().run()
    assert not shown.exception
    said = [text.value for text in shown.text]
    assert (
        "Review set overlap-3-seed-0 of winter: 16 of 16 conversations, 3 raters each, 52 assignments"
        in said[0]
    )
    assert said[1] == "16 items have 3 raters each."
    assert "6 of 6 pairs meet; all raters are connected." in said[2]
    assert said[3].startswith("Hidden repeats 1 a rater, 4 answers in all")
    raters, matrix, strata = (table.value for table in shown.dataframe[2:])
    assert raters["Rater"].tolist()[0] == "Ada B"
    assert raters["Items"].sum() == strata["Items"].sum() * 3 == 48
    assert matrix.loc["1 Ada B", "1"] == raters["Items"][0]
    by_command = impactbench(*shlex.split(shown.code[0].value)[1:], "--dry-run", "--json").json
    assert by_command["plan_hash"][:16] in shown.caption[-1].value
    shown.number_input[3].set_value(2).run()
    assert "The plan was changed since: show it again." in [text.value for text in shown.text]
    assert len(shown.dataframe) == 2


def test_an_assignment_that_cannot_be_is_refused_in_a_sentence(
    looking: Callable[[Role], None], sqlite_engine: Engine
) -> None:
    add_study(sqlite_engine)
    looking(Role.MAINTAINER)
    shown = AppTest.from_function(page, default_timeout=20).run()
    shown.number_input[3].set_value(1)
    shown.selectbox[0].select("winter").run()
    next(one for one in shown.button if one.label == "Show who would rate what").click().run()
    assert not shown.exception
    assert shown.text[0].value.startswith(
        "This cannot be opened: overlap 1 cannot give every item an internal"
    )


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
