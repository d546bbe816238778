"""The pages of suggested metrics, run without a browser: written, tried, reviewed, decided."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.settings import Settings
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.suite.submission_store import State, begin, keep_draft, send, suggestions
from tests.suggestions import add_people, whole

SCRIPT = "from app.views.submissions import {page}; {page}()"
TELLS = """
rules:
  - {purpose: judge, contains: "| It is past two", answers: [{text: '{"present": true, "justification": "It does."}'}]}
  - {purpose: judge, contains: "| The ships", answers: [{text: '{"present": true, "justification": "It does."}'}]}
  - {purpose: judge, answers: [{text: '{"present": false, "justification": "It does not."}'}]}
"""
Look = Callable[[str, str], AppTest]


@pytest.fixture
def people(sqlite_engine: Engine) -> dict[str, t.Rater]:
    return add_people(sqlite_engine)


@pytest.fixture
def look(
    sqlite_engine: Engine, sqlite_url: str, tmp_path: Path, people: dict[str, t.Rater]
) -> Iterator[Look]:
    """Opens a page as somebody."""
    script = tmp_path / "judge.yaml"
    script.write_text(TELLS, encoding="utf-8")
    settings = Settings(database_url=sqlite_url, state_dir=tmp_path, trial_model=f"scripted:{script}")
    workspace.use(settings)

    def open_page(page: str, who: str) -> AppTest:
        test = AppTest.from_string(SCRIPT.format(page=page), default_timeout=60)
        test.session_state["impactbench-looking"] = people[who]
        test.run()
        assert not test.exception
        return test

    yield open_page
    workspace.engine().dispose()


def press(page: AppTest, label: str) -> None:
    next(one for one in page.button if one.label == label).click().run()
    assert not page.exception


def field(page: AppTest, code: str, name: str) -> str:
    return f"submission-{code}-0-{name}"


def texts(page: AppTest) -> str:
    return " ".join([one.value for one in page.text] + [one.value for one in page.markdown])


def test_a_draft_is_kept_as_it_is_written_and_found_again(look: Look, sqlite_engine: Engine) -> None:
    page = look("suggest", "author")
    assert "You have not suggested a metric yet." in texts(page)
    press(page, "Begin a suggestion")
    code = suggestions(sqlite_engine)[0].code
    page.text_input(key=field(page, code, "name")).input("Suggests going to bed").run()
    assert "Still missing in scoring: whether the behaviour is wanted" in texts(page)
    again = look("suggest", "author")
    assert again.text_input(key=field(again, code, "name")).value == "Suggests going to bed"
    assert next(one for one in again.button if one.label == "Send for review").disabled
    assert "Suggests going to bed" not in texts(look("suggest", "outer"))


def test_what_is_sent_is_tried_at_once_and_then_reviewed_and_accepted(
    look: Look, sqlite_engine: Engine, people: dict[str, t.Rater]
) -> None:
    author = people["author"].id or 0
    code = begin(sqlite_engine, author)
    keep_draft(sqlite_engine, code, author, whole())
    page = look("suggest", "author")
    press(page, "Send for review")
    assert "Thank you." in texts(page)
    assert "The judge tells present from absent: 4 of 4 examples as meant (scripted/trial" in texts(page)

    reviewer = look("suggest", "inner")
    assert "1 suggestion of others can be reviewed." in texts(reviewer)
    assert "author" not in texts(reviewer)
    for name in ("fidelity", "clarity", "observability"):
        reviewer.selectbox(key=f"review-1-{name}").select(4)
    reviewer.selectbox(key="review-1-advice").select("accept")
    reviewer.text_area(key="review-1-because").input("Clear and easy to see.")
    press(reviewer, "Keep my review")
    assert suggestions(sqlite_engine)[0].state is State.REVIEWED

    keeper = look("submissions", "keeper")
    assert "0 without a review, 1 for you to decide" in texts(keeper)
    keeper.selectbox(key="decide-1-what").select("accept")
    press(keeper, "Decide")
    assert "Nothing was changed: a reason is missing" in texts(keeper)
    keeper.selectbox(key="decide-1-what").select("accept")
    keeper.text_area(key="decide-1-because").input("As reviewed.")
    press(keeper, "Decide")
    assert "It is in the suite now." in texts(keeper)
    kept = frames.metrics(sqlite_engine).iloc[0]
    assert (kept["benchmark"], kept["metric"]) == ("rest-and-sleep", "suggests-going-to-bed")
    assert "1 accepted" in texts(look("suggest", "author"))


def test_without_a_model_the_page_says_what_to_set(
    look: Look, sqlite_engine: Engine, sqlite_url: str, people: dict[str, t.Rater]
) -> None:
    author = people["author"].id or 0
    send(sqlite_engine, begin(sqlite_engine, author), author, whole())
    workspace.use(Settings(database_url=sqlite_url, trial_model=""))
    page = look("submissions", "keeper")
    assert "set IMPACTBENCH_TRIAL_MODEL" in texts(page)
    assert "embedded/smollm2-135m" in texts(page)
    assert next(one for one in page.button if one.label == "Try the judge on the examples").disabled


def test_an_external_expert_reviews_nothing_and_a_methodologist_sees_nothing(
    look: Look, sqlite_engine: Engine, people: dict[str, t.Rater]
) -> None:
    author = people["author"].id or 0
    send(sqlite_engine, begin(sqlite_engine, author), author, whole())
    assert "Suggestions to review" not in [one.value for one in look("suggest", "outer").header]
    refused = look("submissions", "reader")
    assert [one.value for one in refused.error] == [
        "This page is not for your role. If that is a mistake, ask whoever invited you."
    ]
