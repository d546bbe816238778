from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Engine
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.domain import LabelVerdict, Panel, Role
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.design.adaptive import draft_adaptive
from reviews.design.extension import save_extension
from reviews.design.release import draft_releases, save_release
from reviews.design.review_sets import draft_review_set, save
from reviews.design.shortages import find_shortages
from tests.reviews.invented_study import add_study, answer
from tests.reviews.test_extension import MIXED, SIX, open_set


def page() -> None:
    from app.views.progress import progress

    progress()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine) -> Callable[..., AppTest]:
    """Run the page for somebody of a role."""

    def run(role: Role = Role.METHODOLOGIST) -> AppTest:
        monkeypatch.setattr(workspace, "person", lambda: t.Rater(id=1, pseudonym="Max", role=role))
        monkeypatch.setattr(workspace, "engine", lambda: sqlite_engine)
        return AppTest.from_function(page, default_timeout=20).run()

    return run


def test_an_empty_study_says_what_to_do_first(shown: Callable[..., AppTest], sqlite_engine: Engine) -> None:
    assert "impactbench import run" in shown().code[0].value
    add_study(sqlite_engine)
    assert "impactbench review open winter" in shown().text[0].value


def test_the_page_counts_from_labels_and_offers_reminders(
    shown: Callable[..., AppTest], sqlite_engine: Engine
) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine, raters=MIXED)
    frame = frames.assignments(sqlite_engine, "winter")
    for assignment in frame.loc[frame["rater"] == "Ada", "assignment_id"][:5]:
        answer(sqlite_engine, assignment)
    run = shown()
    assert not run.exception
    assert run.markdown[0].value == "**27 answers of 32 are still to come; no item is short of raters.**"
    by_rater = run.dataframe[0].value.set_index("Rater")
    assert by_rater.loc["Ada", ["Asked", "Done", "Waiting"]].tolist() == [8, 5, 3]
    assert by_rater.loc["Di", "Last seen (UTC)"] == "never"
    assert [header.value for header in run.header] == [
        "By rater",
        "What is short",
        "By panel",
        "By metric",
        "By stratum",
        "Reminders",
    ]
    assert "You have answered 5 of 8 conversations; 3 are left, about 12 minutes." in run.code[0].value


def test_a_panel_that_is_gone_is_short_and_says_who_could_fill_it(
    shown: Callable[..., AppTest], sqlite_engine: Engine
) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine, raters=MIXED)
    with writing(sqlite_engine) as session:
        cy = session.exec(select(t.Rater).where(t.Rater.pseudonym == "Cy")).one()
        cy.active = False
    short = find_shortages(sqlite_engine, "winter", frames.assignments(sqlite_engine, "winter", slots=True))
    assert len(short) == 8
    assert {(one.panel, one.free) for one in short} == {(Panel.EXTERNAL, ("Di",))}
    run = shown()
    assert "8 items are short of raters" in run.markdown[0].value
    assert run.dataframe[1].value["Lacks"].unique().tolist() == ["an external rater"]
    assert run.dataframe[1].value["Who could"].unique().tolist() == ["Di"]


def test_what_was_given_up_and_came_all_the_same_is_shown(
    shown: Callable[..., AppTest], sqlite_engine: Engine
) -> None:
    add_study(sqlite_engine)
    open_set(sqlite_engine, raters=SIX[:4])
    with writing(sqlite_engine) as session:
        for rater in session.exec(select(t.Rater).where(t.Rater.pseudonym != "Ada")).all():
            own = session.exec(select(t.Assignment).where(t.Assignment.rater_id == rater.id)).first()
            assert own is not None
            later = t.now() + timedelta(days=20)
            session.add(t.Exposure(rater_id=rater.id or 0, assignment_id=own.id or 0, shown_at=later))
    (draft,) = draft_releases(
        sqlite_engine, "winter", older_than=timedelta(days=14), now=t.now() + timedelta(days=20)
    )
    assert save_release(sqlite_engine, draft) == 8
    answer(sqlite_engine, int(draft.abandoned["assignment_id"].iloc[0]))
    run = shown()
    by_rater = run.dataframe[0].value.set_index("Rater")
    assert by_rater.loc["Ada", ["Asked", "Done", "Waiting", "Given up"]].tolist() == [1, 1, 0, 7]
    assert "Surplus labels" in [header.value for header in run.header]
    assert run.dataframe[-1].value["Rater"].tolist() == ["Ada"]


def test_answers_given_twice_and_extra_raters_have_their_figures(
    shown: Callable[..., AppTest], sqlite_engine: Engine
) -> None:
    add_study(sqlite_engine)
    save(
        sqlite_engine,
        draft_review_set(
            sqlite_engine, "winter", slug="first", overlap=2, seed=7, raters=SIX[:4], repeats=0.25
        ),
    )
    for row in frames.assignments(sqlite_engine, "winter").to_dict("records"):
        said = (row["conversation_id"] + (row["rater"] == "Ada")) % 2
        answer(sqlite_engine, row["assignment_id"], LabelVerdict.PASS if said else LabelVerdict.FAIL)
    save_extension(sqlite_engine, draft_adaptive(sqlite_engine, "winter", "first", to=3, raters=SIX))
    for row in frames.assignments(sqlite_engine, "winter").to_dict("records"):
        if row["status"] == "not_yet_rated":
            answer(sqlite_engine, row["assignment_id"], LabelVerdict.FAIL)
    run = shown()
    assert not run.exception
    headers = [header.value for header in run.header]
    assert headers[-2:] == ["The same conversation twice", "Agreement with the extra raters"]
    twice = next(text.value for text in run.text if text.value.startswith("Of "))
    assert "judged twice by the same rater, unmarked, 100%" in twice
    weighted = next(text.value for text in run.text if text.value.startswith("With "))
    assert "ordinal α is" in weighted
    assert run.dataframe[-1].value["Rater"].tolist() == ["All raters", "Ada", "Bo", "Cy", "Di"]


def test_the_page_is_not_for_experts(shown: Callable[..., AppTest]) -> None:
    run = shown(Role.EXPERT)
    assert "not for your role" in run.error[0].value
    assert len(run.title) == 0
