"""The forms of a maintainer: decide, revise and adopt, as the page sends them."""

from collections.abc import Callable

import pytest
import streamlit as st
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.domain import LabelVerdict, Role
from impactbench.store import tables as t
from reviews.contested import change_log, dispositions
from reviews.contested.revisions import draft_second_review
from reviews.design.review_sets import save
from tests.app.command import Command
from tests.reviews.invented_study import answer
from tests.reviews.test_contested_loop import Loop, judge_again, loop_of
from tests.reviews.test_extension import MIXED


def page() -> None:
    from app.views.maintainer import contested_metrics

    contested_metrics()


@pytest.fixture
def loop(sqlite_engine: Engine) -> Loop:
    return loop_of(sqlite_engine)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, loop: Loop) -> Callable[..., AppTest]:
    """The page with a metric version opened, for somebody of a role."""

    def run(version: int, role: Role = Role.MAINTAINER) -> AppTest:
        st.cache_resource.clear()
        monkeypatch.setattr(
            workspace, "person", lambda: t.Rater(id=loop.maintainer, pseudonym="Max", role=role)
        )
        monkeypatch.setattr(workspace, "engine", lambda: loop.engine)
        opened = AppTest.from_function(page, default_timeout=60)
        opened.query_params["metric"] = str(version)
        return opened.run()

    return run


def press(opened: AppTest, name: str) -> AppTest:
    (button,) = [one for one in opened.button if one.label == name]
    return button.click().run()


def texts(opened: AppTest) -> list[str]:
    return [one.value for one in opened.text]


def decided(loop: Loop) -> list[tuple[str, str, list[str]]]:
    rows = dispositions.dispositions(loop.engine, "winter")
    return list(zip(rows["decision"].map(str), rows["because"], rows["dissent"].map(list), strict=True))


def test_a_decision_needs_a_reason_and_keeps_dissent(shown: Callable[..., AppTest], loop: Loop) -> None:
    opened = shown(loop.old)
    assert not opened.exception
    opened.selectbox(key=f"kind-{loop.old}-0").set_value("keep").run()
    refused = press(opened, "Save the decision")
    assert "Not saved: say why." in texts(refused)
    assert decided(loop) == []
    refused.text_area(key=f"because-{loop.old}-0").set_value("Both readings are wanted.")
    refused.text_area(key=f"dissent-{loop.old}-0").set_value("I would split it.\n")
    saved = press(refused, "Save the decision")
    assert not saved.exception
    assert decided(loop) == [("keep", "Both readings are wanted.", ["I would split it."])]
    assert "Dissent: I would split it." in texts(saved)
    published = press(saved, "Publish in the change log")
    assert "Published." in texts(published)
    assert [one.decision for one in change_log.change_log(loop.engine, "winter")] == ["keep"]


def test_a_revision_is_written_followed_and_adopted(shown: Callable[..., AppTest], loop: Loop) -> None:
    opened = shown(loop.old)
    opened.text_area(key=f"definition-{loop.old}-0").set_value("Something is done, in so many words.")
    opened.text_area(key=f"because-{loop.old}-0").set_value("Two readings.")
    revised = press(opened, "Save the decision")
    assert not revised.exception
    assert "**Waiting for the judge: 8 conversations; to be put before experts again: 8 items.**" in [
        one.value for one in revised.markdown
    ]
    new = int(dispositions.dispositions(loop.engine, "winter")["becomes"].iloc[0][0])
    judge_again(loop, new)
    save(
        loop.engine,
        draft_second_review(loop.engine, "winter", old=loop.old, new=new, overlap=2, seed=1, raters=MIXED),
    )
    for assignment in loop.waiting(new)["assignment_id"]:
        answer(loop.engine, assignment, LabelVerdict.PASS)
    followed = shown(new)
    assert any(
        one.value.startswith("**Before and after, on 8 items rated under both:") for one in followed.markdown
    )
    followed.text_area(key=f"adopt-because-{loop.old}-{new}-1").set_value("It works.")
    adopted = press(followed, "Adopt the new version")
    assert not adopted.exception
    assert [kind for kind, _, _ in decided(loop)] == ["revise", "adopt"]
    stored = dispositions.dispositions(loop.engine, "winter")
    assert stored["evidence"].iloc[1] == stored["evidence"].iloc[0], (
        "where the old version stood, not the new one"
    )


def test_a_methodologist_reads_and_does_not_decide(shown: Callable[..., AppTest], loop: Loop) -> None:
    opened = shown(loop.old, role=Role.METHODOLOGIST)
    assert not opened.exception
    assert [one.label for one in opened.button if one.label == "Save the decision"] == []


def test_the_commands_register_a_plan_ask_again_and_print_the_change_log(
    impactbench: Command, sqlite_url: str, monkeypatch: pytest.MonkeyPatch, loop: Loop
) -> None:
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    assert impactbench("review", "register", "winter").code == 2
    late = impactbench("review", "register", "winter", "--yes", "--json").json
    assert (late["revision"], late["labels_then"], late["newly"]) == (1, 32, True)
    assert late["deviations"]
    assert not impactbench("review", "register", "winter", "--yes", "--json").json["newly"]

    new = loop.revise()
    named = [part for name in ("Ada", "Bo", "Cy", "Di") for part in ("--rater", name)]
    ask = ("review", "again", "winter", "--from", loop.old, "--to", new, "--overlap", 2, *named)
    assert impactbench(*ask).code == 2
    assert loop.waiting(new).empty
    assert impactbench(*ask, "--yes", "--json").json["state"] == "opened"
    assert len(loop.waiting(new)) == 16
    assert impactbench(*ask, "--yes", "--json").json["state"] == "already_open"

    kept = int(dispositions.dispositions(loop.engine, "winter")["disposition_id"].iloc[0])
    change_log.publish(loop.engine, "winter", kept, published_by=loop.maintainer)
    printed = impactbench("review", "changes", "winter")
    assert printed.code == 0
    assert "Something is[- done.-]{+ done, in so many words.+}" in printed.out
