"""The public pages: released studies for everybody, never a rater or a hidden conversation, doubt beside every number."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from app import workspace
from app.components.nutrition_label import LabelRow, LabelText, as_fragment, as_page
from app.label_picture import as_svg
from app.public_charts import Dot, dots
from impactbench.domain import Role
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews.locking import lock_set, mark_reported
from reviews.public.evidence_marks import EvidenceMark
from reviews.public.releasing import release_study, withdraw_study
from tests.reviews.invented_study import add_judge, add_raters, add_study, place_metrics
from tests.reviews.test_extension import answer_all, open_set
from validation.results import Estimate

RATERS = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")
PAGES = ("label", "explore", "metrics", "statistics", "over-time", "cases")
VIEWS = ("models", "both", "areas", "ages", "corrected")
Show = Callable[..., AppTest]


def page() -> None:
    import streamlit as st

    from app.views.public import cases, explore, label, metrics, over_time, statistics

    {
        "label": label.label,
        "explore": explore.explore,
        "metrics": metrics.metrics,
        "statistics": statistics.statistics,
        "over-time": over_time.over_time_page,
        "cases": cases.case_studies,
    }[st.session_state["page"]]()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine) -> Show:
    """Runs a page for somebody of a role; nobody who has signed in where there is none."""
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    place_metrics(sqlite_engine)
    monkeypatch.setattr(workspace, "engine", lambda: sqlite_engine)

    def run(which: str, role: Role | None = None, **query: str) -> AppTest:
        looking = t.Rater(id=maintainer_id(sqlite_engine), pseudonym="Max", role=role) if role else None
        monkeypatch.setattr(workspace, "person", lambda: looking)
        test = AppTest.from_function(page, default_timeout=30)
        test.session_state["page"] = which
        for name, value in query.items():
            test.query_params[name] = value
        return test.run()

    return run


def maintainer_id(engine: Engine) -> int:
    """Somebody who is stored, where there is anybody."""
    with reading(engine) as session:
        found = session.exec(select(t.Rater.id).where(t.Rater.role == Role.MAINTAINER)).first()
    return found or 1


def sent(test: AppTest) -> str:
    """Everything that the page sends."""
    assert not test.exception
    return repr(
        [element.proto for element in test.main.children.values() if hasattr(element, "proto")]
    ) + " ".join(
        str(element.proto)
        for kind in ("html", "text", "markdown", "selectbox", "caption", "error", "button", "text_area")
        for element in test.get(kind)
    )


def test_a_visitor_sees_a_study_from_its_release_to_its_withdrawal(
    shown: Show, sqlite_engine: Engine
) -> None:
    for which in PAGES:
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
    for which in PAGES:
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
    pages += [shown("statistics"), shown("over-time", metric="kindness__m01"), shown("cases")]
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


def test_experts_are_counted_on_a_conversation_once_their_results_are_reported(
    shown: Show, sqlite_engine: Engine
) -> None:
    release_study(sqlite_engine, "winter", transcripts=True)
    at_once = {"metric": "kindness__m01", "conversation": "1"}
    assert "Experts: none has read this conversation." in sent(shown("metrics", **at_once))
    open_set(sqlite_engine)
    answer_all(sqlite_engine)
    hidden = sent(shown("metrics", **at_once))
    assert "hello" not in hidden
    assert "read it" not in hidden
    lock_set(sqlite_engine, "winter", "first")
    mark_reported(sqlite_engine, "winter")
    assert "2 experts read it: 2 ✓ passed." in sent(shown("metrics", **at_once))


def test_a_maintainer_marks_a_case_on_the_page_and_everybody_reads_it_without_their_name(
    shown: Show, sqlite_engine: Engine
) -> None:
    add_raters(sqlite_engine, "Maude", role=Role.MAINTAINER)
    release_study(sqlite_engine, "winter", transcripts=True)
    at_once = {"metric": "kindness__m01", "conversation": "1"}
    for role in (None, Role.METHODOLOGIST):
        assert not [one for one in shown("metrics", role, **at_once).button if one.label == "Save the mark"]
    form = shown("metrics", Role.MAINTAINER, **at_once)
    next(one for one in form.selectbox if one.label == "The behaviour first appears in").set_value(1)
    form.text_area[0].set_value("Notice <b>this</b>")
    form.run()
    next(one for one in form.button if one.label == "Save the mark").click()
    assert not form.run().exception
    everybody = sent(shown("cases")) + sent(shown("metrics", **at_once))
    assert "Notice &lt;b&gt;this&lt;/b&gt;" in everybody
    assert "▲ the behaviour first appears here" in everybody
    assert "Maude" not in everybody
    release_study(sqlite_engine, "winter", transcripts=False)
    private = shown("cases")
    assert "Notice" not in sent(private)
    assert "The conversations of this study are not public" in sent(private)


def test_models_are_called_by_their_names_and_kept_in_addresses_by_their_slugs(
    shown: Show, sqlite_engine: Engine
) -> None:
    with writing(sqlite_engine) as session:
        run = session.exec(select(t.Run).where(t.Run.slug == "run-tansy-2")).one()
        run.manifest = {"model": "tansy-2", "model_name": "Tansy Two"}
    release_study(sqlite_engine, "winter", transcripts=True)
    for which in ("label", "explore", "statistics"):
        assert "Tansy Two" in sent(shown(which, kind="positive"))
    assert "model=tansy-2" in sent(shown("metrics", metric="kindness__m01"))


def test_addresses_that_say_nonsense_lead_to_a_page(shown: Show, sqlite_engine: Engine) -> None:
    release_study(sqlite_engine, "winter", transcripts=True)
    nonsense: dict[str, Any] = {
        "study": "'--",
        "view": "x",
        "area": "<b>",
        "w-psychological": "nan",
        "page": "99",
    }
    for which in PAGES:
        assert not shown(which, **nonsense).exception
    assert not shown("over-time", metric="../x", model="<i>").exception
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
    assert dots([Dot(row="a", promoted=True, rate=row("checked").both, checked=True)], title="b").to_dict()
    svg = as_svg(label(row("checked"))).decode()
    assert svg.startswith("<svg")
    assert "50% (45 to 54)" in svg
