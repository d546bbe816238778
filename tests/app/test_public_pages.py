"""The public pages: released studies for everybody, never a rater or a hidden conversation, doubt beside every number."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from app.components.evidence_marks import EvidenceMark
from app.components.nutrition_label import LabelRow, LabelText, as_fragment, as_page
from app.label_picture import as_svg
from impactbench.domain import Role
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.locking import lock_set, mark_reported
from reviews.public.releasing import release_study, withdraw_study
from tests.reviews.invented_study import add_judge, add_study, place_metrics
from tests.reviews.test_extension import answer_all, open_set
from validation.results import Estimate

RATERS = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")
VIEWS = ("models", "both", "areas", "ages", "corrected")
Show = Callable[..., AppTest]


def page() -> None:
    import streamlit as st

    from app.views.public import explore, label, metrics

    {"label": label.label, "explore": explore.explore, "metrics": metrics.metrics}[st.session_state["page"]]()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine) -> Show:
    """Runs a page for somebody of a role; nobody who has signed in where there is none."""
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    place_metrics(sqlite_engine)
    monkeypatch.setattr(workspace, "engine", lambda: sqlite_engine)

    def run(which: str, role: Role | None = None, **query: str) -> AppTest:
        looking = t.Rater(id=1, pseudonym="Max", role=role) if role else None
        monkeypatch.setattr(workspace, "person", lambda: looking)
        test = AppTest.from_function(page, default_timeout=30)
        test.session_state["page"] = which
        for name, value in query.items():
            test.query_params[name] = value
        return test.run()

    return run


def sent(test: AppTest) -> str:
    """Everything that the page sends."""
    assert not test.exception
    return repr(
        [element.proto for element in test.main.children.values() if hasattr(element, "proto")]
    ) + " ".join(
        str(element.proto)
        for kind in ("html", "text", "markdown", "selectbox", "caption")
        for element in test.get(kind)
    )


def test_a_visitor_sees_a_study_from_its_release_to_its_withdrawal(
    shown: Show, sqlite_engine: Engine
) -> None:
    for which in ("label", "explore", "metrics"):
        closed = shown(which)
        assert [one.value for one in closed.markdown] == [
            "No results have been released yet. Please come back later."
        ]
        assert "kindness" not in sent(closed)
    release_study(sqlite_engine, "winter", transcripts=False)
    assert "tansy-2" in sent(shown("label"))
    withdraw_study(sqlite_engine, "winter")
    assert "tansy-2" not in sent(shown("label", study="winter"))


def test_members_see_what_is_not_released_marked_so_and_raters_see_nothing(shown: Show) -> None:
    for role in (Role.METHODOLOGIST, Role.MAINTAINER):
        assert shown("label", role).warning[0].value.startswith("Not released.")
    for which in ("label", "explore", "metrics"):
        refused = shown(which, Role.EXPERT)
        assert refused.error[0].value.startswith("This page is not for your role.")
        assert not refused.get("html")


def test_no_page_names_a_rater_or_shows_a_conversation_that_is_not_public(
    shown: Show, sqlite_engine: Engine
) -> None:
    open_set(sqlite_engine)
    answer_all(sqlite_engine)
    lock_set(sqlite_engine, "winter", "first")
    mark_reported(sqlite_engine, "winter")
    release_study(sqlite_engine, "winter", transcripts=False)
    pages = [shown("label"), shown("metrics"), shown("metrics", metric="kindness__m01", conversation="1")]
    pages += [shown("explore", view=view, kind="negative") for view in VIEWS]
    said = " ".join(map(sent, pages))
    assert not [name for name in RATERS if f" {name} " in said or f">{name}<" in said or f'"{name}"' in said]
    assert "6 experts" in said
    assert "hello" not in said
    assert "The conversations of this study are not public." in said


def test_a_conversation_is_read_with_the_verdict_and_its_words_stay_words(
    shown: Show, sqlite_engine: Engine
) -> None:
    with writing(sqlite_engine) as session:
        first = session.get_one(t.Conversation, 1)
        first.turns = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "<b>![x](http://y/z)</b>"},
        ]
    release_study(sqlite_engine, "winter", transcripts=True)
    found = sent(shown("metrics", metric="kindness__m01", conversation="1"))
    assert "&lt;b&gt;![x](http://y/z)&lt;/b&gt;" in found
    assert "The automatic judge:" in found


def test_addresses_that_say_nonsense_lead_to_a_page(shown: Show, sqlite_engine: Engine) -> None:
    release_study(sqlite_engine, "winter", transcripts=True)
    nonsense: dict[str, Any] = {
        "study": "'--",
        "view": "x",
        "area": "<b>",
        "w-psychological": "nan",
        "page": "99",
    }
    for which in ("label", "explore", "metrics"):
        assert not shown(which, **nonsense).exception
    assert "no metric of that name" in shown("metrics", metric="../x").error[0].value
    assert not shown("explore", weights="own", **{"w-psychological": "1e9"}).exception


def row(drawn: str, heading: str = "On law") -> LabelRow:
    rate = Estimate(value=0.5, low=0.45, high=0.54, n=90, n_clusters=15)
    mark = EvidenceMark(shape="○", word="a word", sentence="a sentence", drawn=drawn)
    return LabelRow(
        heading=heading, both=rate, teen=rate, adult=Estimate(value=0.4, n=3), evidence=mark, behaviours=()
    )


def label(*rows: LabelRow) -> LabelText:
    return LabelText(
        model="m", maker="<i>", opening=["An answer."], promoted=rows, avoided=(), small_print=["Small."]
    )


def test_a_line_is_coloured_only_if_it_is_known_and_says_its_state_in_words() -> None:
    for drawn in ("unchecked", "contested"):
        html = as_fragment(label(row(drawn))).split("How to read the bars")[0]
        assert f"ib-{drawn}" in html
        assert "ib-checked" not in html
        assert "a word" in html
    assert "50% (45 to 54)" in html
    assert "about 40% (range unknown)" in html
    assert "Nothing of this kind was tested." in html


def test_a_label_by_itself_loads_nothing_and_escapes_everything() -> None:
    page = as_page(label(row("checked", heading="<script>alert(1)</script>")))
    assert "<script" not in page
    assert "&lt;i&gt;" in page
    assert "http" not in page
    svg = as_svg(label(row("checked"))).decode()
    assert svg.startswith("<svg")
    assert "50% (45 to 54)" in svg
