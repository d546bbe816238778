"""The maintainers' page of people, run without a browser."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from app import workspace
from impactbench.domain import Panel, Role
from impactbench.settings import Settings
from impactbench.store import tables as t
from impactbench.store.engine import reading
from reviews.members.devices import devices_of
from reviews.members.invitations import make_token, open_link
from reviews.members.people import list_people
from tests.browser.desks import plain_turns, set_desks

SCRIPT = "from app.views.people import people; people()"


def raters(engine: Engine) -> dict[str, t.Rater]:
    with reading(engine) as session:
        return {one.pseudonym: one for one in session.exec(select(t.Rater)).all()}


@pytest.fixture
def page(sqlite_engine: Engine, sqlite_url: str, tmp_path: Path) -> Iterator[AppTest]:
    """The page as a maintainer sees it."""
    set_desks(sqlite_engine, [plain_turns(1)], "kestrel", base_url="http://here")
    workspace.use(Settings(database_url=sqlite_url, state_dir=tmp_path, base_url="http://here"))
    test = AppTest.from_string(SCRIPT, default_timeout=30)
    test.session_state["impactbench-looking"] = raters(sqlite_engine)["maintainer"]
    yield test.run()
    workspace.engine().dispose()


def button(page: AppTest, label: str) -> None:
    next(one for one in page.button if one.label == label).click().run()
    assert not page.exception


def test_everybody_is_listed_and_counted(page: AppTest) -> None:
    assert page.markdown[0].value == "**3 people in, 0 left.**"
    assert page.dataframe[0].value["Name"].tolist() == ["kestrel", "maintainer", "methodologist"]


def test_somebody_is_invited_and_the_link_is_shown_once(page: AppTest, sqlite_engine: Engine) -> None:
    page.text_input(key="invite-name").input("wren")
    page.selectbox(key="invite-panel").select(Panel.EXTERNAL)
    page.text_input(key="invite-languages").input("en, de")
    button(page, "Invite")
    assert page.code[0].value.startswith("http://here/enter/")
    added = raters(sqlite_engine)["wren"]
    assert (added.role, added.panel, added.languages) == (Role.EXPERT, Panel.EXTERNAL, ["en", "de"])
    page.run()
    assert not page.code


def test_a_mistake_is_one_sentence_and_changes_nothing(page: AppTest, sqlite_engine: Engine) -> None:
    page.text_input(key="invite-name").input("wren")
    page.selectbox(key="invite-role").select(Role.MAINTAINER)
    page.selectbox(key="invite-panel").select(Panel.EXTERNAL)
    button(page, "Invite")
    assert page.text[0].value.startswith("Nothing was changed: a maintainer rates nothing")
    assert "wren" not in raters(sqlite_engine)
    page.selectbox[2].select("kestrel").run()
    page.selectbox(key="role-kestrel").select(Role.METHODOLOGIST)
    button(page, "Change the role")
    assert "'kestrel' has 1 assignments in reviews that are still open" in page.text[0].value


def test_a_link_is_revoked_and_a_person_let_go(page: AppTest, sqlite_engine: Engine) -> None:
    page.selectbox[2].select("kestrel").run()
    assert open_link(sqlite_engine, make_token(sqlite_engine, "kestrel"), now=datetime.now(UTC)) is not None
    page.run()
    (device,) = devices_of(sqlite_engine, "kestrel")
    button(page, "Sign out")
    assert page.text[0].value == f"kestrel is signed out on device {device.number}."
    make_token(sqlite_engine, "kestrel")
    button(page, "Sign out everywhere")
    assert page.text[0].value == "kestrel is signed out everywhere, and the link no longer works."
    assert (
        page.markdown[0].value
        == "**3 people in, 0 left. 1 without a way in: make a link for those who are to rate.**"
    )
    leaving = next(one for one in page.button if one.label == "Deactivate")
    assert leaving.disabled
    page.checkbox(key="sure-kestrel").check().run()
    button(page, "Deactivate")
    assert page.text[0].value == "kestrel has left and is called former-rater-1 now."
    assert [one.name for one in list_people(sqlite_engine) if one.door == "left"] == ["former-rater-1"]


def test_what_an_expert_knows_and_must_not_rate_is_changed(page: AppTest, sqlite_engine: Engine) -> None:
    def write(title: str, text: str) -> None:
        next(one for one in page.text_input if one.label == f"{title} from now on").input(text)

    page.selectbox[2].select("kestrel").run()
    write("Expertise", "sleep, mental health")
    button(page, "Put this on record")
    assert page.text[0].value.startswith("Nothing was changed: 'mental health' is no slug")
    write("Expertise", "sleep")
    write("Languages they read", "de, en")
    write("Must not rate", "Acme")
    button(page, "Put this on record")
    kestrel = raters(sqlite_engine)["kestrel"]
    assert (kestrel.expertise, kestrel.languages, kestrel.conflicts) == ("sleep", ["de", "en"], ["Acme"])
    assert page.text[0].value.startswith(
        "What is on record of kestrel is what you wrote.\nNothing here is called sleep, Acme so far"
    )
    write("Must not rate", "")
    button(page, "Put this on record")
    assert raters(sqlite_engine)["kestrel"].conflicts == []


def test_nobody_shuts_themselves_out(page: AppTest) -> None:
    page.selectbox[2].select("maintainer").run()
    assert "Deactivate" not in [one.label for one in page.button]


def test_it_is_for_maintainers_alone(page: AppTest, sqlite_engine: Engine) -> None:
    for looking in ("kestrel", "methodologist"):
        page.session_state["impactbench-looking"] = raters(sqlite_engine)[looking]
        page.run()
        assert [one.value for one in page.error] == [
            "This page is not for your role. If that is a mistake, ask whoever invited you."
        ]
        assert not page.title
        assert not page.button
