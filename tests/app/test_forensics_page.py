"""The page that checks published figures: immediate, sendable as a link, and sober about what cannot be."""

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.domain import Role
from impactbench.store.tables import Rater


def page() -> None:
    from app.views.forensics import forensics

    forensics()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine) -> AppTest:
    monkeypatch.setattr(workspace, "person", lambda: Rater(id=1, pseudonym="Max", role=Role.METHODOLOGIST))
    monkeypatch.setattr(workspace, "engine", lambda: sqlite_engine)
    return AppTest.from_function(page, default_timeout=60)


def test_a_link_shows_what_published_figures_leave_open(shown: AppTest) -> None:
    shown.query_params["n"], shown.query_params["kappa"] = "162", "0.667"
    shown.run()
    assert not shown.exception
    assert shown.markdown[1].value.startswith("**108 different results of 162 items print like this")
    assert "sensitivity anywhere between 67% and 100%" in shown.markdown[1].value
    shown.number_input[0].set_value(40).run()
    assert shown.query_params["n"] == "40"
    assert "No result of 40 items rounds to" in shown.markdown[1].value


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        ("table", "**On 36 items they agree on 83% [68, 92], and κ is 0.67"),
        (
            "retest",
            "**With three yes-or-no runs, 82.5% alike and 88.3% of pairs alike are one and the same figure",
        ),
        ("design", "**1 way to spread 171 ratings over 36 items"),
    ],
)
def test_every_question_has_its_answer_in_the_first_sentence(
    shown: AppTest, view: str, sentence: str
) -> None:
    shown.query_params["view"] = view
    shown.run()
    assert not shown.exception
    assert shown.markdown[1].value.startswith(sentence)


def test_nonsense_in_the_address_gives_way(shown: AppTest) -> None:
    shown.query_params["n"], shown.query_params["agreement"], shown.query_params["view"] = (
        "nan",
        "x",
        "nothing",
    )
    shown.run()
    assert not shown.exception
    assert shown.markdown[1].value.startswith("**13 different results of 36 items")
