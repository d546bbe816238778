"""Who a cookie stands for, and what a refusal leaves in the log."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.sign_in import COOKIE, person_behind, routes
from impactbench.settings import Settings
from reviews.members import people
from reviews.members.devices import devices_of, end_device
from reviews.members.invitations import make_token
from tests.reviews.invented_study import add_raters


@pytest.fixture(autouse=True)
def logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log as a server has it: the linter of imports, run in another test, silences every logger that there is."""
    monkeypatch.setattr(logging.getLogger("impactbench.sign_in"), "disabled", False)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path, base_url="http://testserver")


@pytest.fixture
def visitor(sqlite_engine: Engine, settings: Settings) -> Iterator[TestClient]:
    """A browser that follows no redirect."""
    add_raters(sqlite_engine, "Ada", "Bo")
    with TestClient(Starlette(routes=routes(sqlite_engine, settings)), follow_redirects=False) as client:
        yield client


def whose(client: TestClient, engine: Engine, settings: Settings) -> str | None:
    person = person_behind(client.cookies.get(COOKIE), engine, settings)
    return person.pseudonym if person else None


def test_a_link_signs_in_once_and_leaving_signs_out(
    visitor: TestClient, sqlite_engine: Engine, settings: Settings
) -> None:
    link = f"/enter/{make_token(sqlite_engine, 'Ada')}"
    for _ in range(2):
        shown = visitor.get(link)
        assert (shown.status_code, shown.cookies.get(COOKIE)) == (200, None)
        assert "<bdi>Ada</bdi>" in shown.text
        assert "Start on this device" in shown.text
    answer = visitor.post(link)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert answer.headers["cache-control"] == "no-store"
    assert {"httponly", "samesite=lax"} <= {
        part.strip().lower() for part in answer.headers["set-cookie"].split(";")
    }
    assert whose(visitor, sqlite_engine, settings) == "Ada"
    assert visitor.get(link).headers["location"] == "/"
    cookie = visitor.cookies[COOKIE]
    stranger = TestClient(visitor.app, follow_redirects=False)
    for ask in (stranger.get, stranger.post):
        refused = ask(link)
        assert (refused.status_code, refused.cookies.get(COOKIE)) == (404, None)
        assert "It has been used already" in refused.text
    assert "Sign out of this device?" in visitor.get("/leave").text
    assert whose(visitor, sqlite_engine, settings) == "Ada"
    assert visitor.post("/leave").headers["location"] == "/"
    assert whose(visitor, sqlite_engine, settings) is None
    assert person_behind(cookie, sqlite_engine, settings) is None


def test_the_cookie_is_secure_where_the_address_is(sqlite_engine: Engine, tmp_path: Path) -> None:
    add_raters(sqlite_engine, "Ada")
    settings = Settings(state_dir=tmp_path, base_url="https://review.example")
    client = TestClient(Starlette(routes=routes(sqlite_engine, settings)), follow_redirects=False)
    cookie = client.post(f"/enter/{make_token(sqlite_engine, 'Ada')}").headers["set-cookie"]
    assert "; secure" in cookie.lower()


def _end_newest(engine: Engine, name: str) -> None:
    end_device(engine, name, devices_of(engine, name)[0].number)


def test_a_cookie_dies_with_its_device(
    visitor: TestClient, sqlite_engine: Engine, settings: Settings
) -> None:
    for end in (people.revoke, _end_newest, people.deactivate):
        visitor.post(f"/enter/{make_token(sqlite_engine, 'Ada')}")
        assert whose(visitor, sqlite_engine, settings) == "Ada"
        end(sqlite_engine, "Ada")
        assert whose(visitor, sqlite_engine, settings) is None


def test_signing_in_as_another_replaces_the_first(
    visitor: TestClient, sqlite_engine: Engine, settings: Settings
) -> None:
    for name in ("Ada", "Bo"):
        visitor.post(f"/enter/{make_token(sqlite_engine, name)}")
        assert whose(visitor, sqlite_engine, settings) == name
    assert visitor.get("/enter/nonsense").status_code == 404
    assert whose(visitor, sqlite_engine, settings) == "Bo"
    assert [len(devices_of(sqlite_engine, name)) for name in ("Ada", "Bo")] == [0, 1]


@pytest.mark.parametrize("token", ["nonsense-nonsense", "x" * 5_000])
def test_a_refused_link_is_one_line_in_the_log_without_the_secret(
    visitor: TestClient, caplog: pytest.LogCaptureFixture, token: str
) -> None:
    with caplog.at_level(logging.WARNING, "impactbench.sign_in"):
        assert visitor.get(f"/enter/{token}").status_code == 404
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("Refused a personal link: it is unknown, has run out or was revoked")
    assert token not in line
    assert "\n" not in line


def test_a_demonstrations_link_opens_at_once_and_again(
    visitor: TestClient, sqlite_engine: Engine, settings: Settings
) -> None:
    link = f"/enter/{make_token(sqlite_engine, 'Ada', reusable=True)}"
    for client in (visitor, TestClient(visitor.app, follow_redirects=False)):
        assert client.get(link).status_code == 303
        assert whose(client, sqlite_engine, settings) == "Ada"


def test_the_name_of_a_rater_is_shown_as_it_is_written(visitor: TestClient, sqlite_engine: Engine) -> None:
    add_raters(sqlite_engine, "<img src=x>")
    link = f"/enter/{make_token(sqlite_engine, '<img src=x>')}"
    assert "&lt;img src=x&gt;" in visitor.get(link).text


def test_a_member_who_leaves_is_signed_out_of_the_organisations_session_too(visitor: TestClient) -> None:
    visitor.cookies.set("_streamlit_user", "whatever")
    assert visitor.get("/leave").headers["location"] == "/auth/logout"


def test_an_old_or_foreign_cookie_is_nobodys(
    sqlite_engine: Engine, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add_raters(sqlite_engine, "Ada")
    elsewhere = Settings(state_dir=tmp_path / "elsewhere", cookie_secret="another")
    client = TestClient(Starlette(routes=routes(sqlite_engine, elsewhere)), follow_redirects=False)
    client.post(f"/enter/{make_token(sqlite_engine, 'Ada')}")
    assert whose(client, sqlite_engine, elsewhere) == "Ada"
    assert whose(client, sqlite_engine, settings) is None
    assert "Refused a sign-in cookie: not signed here" in caplog.text
