"""Arrival tells each rater what is asked of them, and nothing that is not."""

import pytest
from sqlalchemy import Engine
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.rubrics import load
from tests.browser.desks import plain_turns, set_desks

VERDICT, QUESTIONS = "whether the chatbot did well in one respect", "to answer a few questions about each"
MIDDLE, DEFENSIBLE = "**Borderline** is for that", "which verdicts a competent colleague could defend"
ANCHOR, FORBIDDEN = (
    "an automatic verdict, make up your own mind first",
    ("model", "the judge", "kappa", "polarity"),
)


def page() -> None:
    from app.views.welcome import welcome

    welcome(1, "kestrel", 2)


@pytest.mark.parametrize(
    ("rubric", "told", "minutes"),
    [
        ("plain-verdict", {VERDICT, MIDDLE}, 8),
        ("response-set", {VERDICT, DEFENSIBLE}, 8),
        ("judgment-check", {QUESTIONS, ANCHOR}, 8),
        ("realism", {QUESTIONS}, 6),
    ],
)
def test_the_protocol_is_of_what_is_asked(
    monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine, rubric: str, told: set[str], minutes: int
) -> None:
    set_desks(sqlite_engine, [plain_turns(1), plain_turns(2)], "kestrel", base_url="http://here")
    with writing(sqlite_engine) as session:
        session.exec(select(t.ReviewSet)).one().rubric = load(rubric).model_dump(mode="json")
    monkeypatch.setattr(workspace, "engine", lambda: sqlite_engine)
    run = AppTest.from_function(page, default_timeout=20).run()
    assert not run.exception
    text = " ".join(one.value for one in [*run.markdown, *run.text])
    assert {words for words in (VERDICT, QUESTIONS, MIDDLE, DEFENSIBLE, ANCHOR) if words in text} == told
    assert f"about **{minutes} minutes**" in text
    assert [word for word in FORBIDDEN if word in text] == []
