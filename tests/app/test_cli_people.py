"""`impactbench people`: who may sign in, how, and as what."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import Role
from impactbench.store.engine import reading
from impactbench.store.tables import Rater
from reviews.members import people
from reviews.members.devices import devices_of
from reviews.members.invitations import open_link, rater_of_token
from tests.app.command import Command

IDENTITY = "https://login.example.org#a1b2"


@pytest.fixture
def ada(impactbench: Command, sqlite_engine: Engine, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The token of Ada, who was added just now; the command line's database."""
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("IMPACTBENCH_BASE_URL", "https://review.example")
    said = impactbench("people", "add", "Ada", "--panel", "external")
    assert said.code == 0
    return said.out.strip().removeprefix("https://review.example/enter/")


def works(engine: Engine, token: str) -> bool:
    return rater_of_token(engine, token, now=datetime.now(UTC)) is not None


def test_a_link_is_revoked(impactbench: Command, sqlite_engine: Engine, ada: str) -> None:
    assert works(sqlite_engine, ada)
    assert "The link of Ada no longer works" in impactbench("people", "revoke", "Ada").err
    assert not works(sqlite_engine, ada)
    assert "nothing has changed" in impactbench("people", "revoke", "Ada").err


def test_devices_are_listed_and_ended_by_number(
    impactbench: Command, sqlite_engine: Engine, ada: str
) -> None:
    assert "is signed in nowhere" in impactbench("people", "devices", "Ada").err
    assert open_link(sqlite_engine, ada, now=datetime.now(UTC)) is not None
    assert not works(sqlite_engine, ada)
    assert "signed in" in impactbench("people", "list").out
    (device,) = devices_of(sqlite_engine, "Ada")
    assert f"{device.until:%Y-%m-%d}" in impactbench("people", "devices", "Ada").out
    assert impactbench("people", "revoke", "Ada", "--device", str(device.number)).code == 0
    assert devices_of(sqlite_engine, "Ada") == []
    assert "on no device" in impactbench("people", "revoke", "Ada", "--device", str(device.number)).err
    new = impactbench("people", "invite", "Ada").out.strip().rpartition("/")[2]
    assert works(sqlite_engine, new)
    assert "nobody called 'Zoe'" in impactbench("people", "invite", "Zoe").err


def test_what_an_expert_knows_and_must_not_rate_is_put_on_record(
    impactbench: Command, sqlite_engine: Engine, ada: str
) -> None:
    asked = ["--panel", "external", "--expertise", "sleep", "--expertise", "grief", "--language", "de"]
    assert impactbench("people", "add", "Bo", *asked, "--conflict", "Acme").code == 0
    assert (
        impactbench("people", "add", "Bo", "--panel", "external", "--conflict", "humanebench/m01").code == 0
    )
    with reading(sqlite_engine) as session:
        bo = session.exec(select(Rater).where(Rater.pseudonym == "Bo")).one()
    assert (bo.expertise, bo.languages, bo.conflicts) == ("sleep grief", ["de"], ["humanebench/m01"])
    refused = impactbench("people", "add", "Mo", "--role", "maintainer", "--language", "de")
    assert (refused.code, "those of an expert" in refused.err) == (1, True)


def test_what_is_on_record_of_an_expert_is_shown_and_replaced(
    impactbench: Command, sqlite_engine: Engine, ada: str
) -> None:
    asked = ["--expertise", "sleep", "--conflict", "Acme", "--conflict", "kindness/m01"]
    assert (
        "is called sleep, Acme, kindness/m01 so far" in impactbench("people", "describe", "Ada", *asked).err
    )
    said = impactbench("people", "describe", "Ada", "--language", "de", "--clear", "expertise")
    assert [word in said.out for word in ("sleep", "Acme, kindness/m01", "de")] == [False, True, True]
    with reading(sqlite_engine) as session:
        person = session.exec(select(Rater).where(Rater.pseudonym == "Ada")).one()
    assert (person.expertise, person.languages) == ("", ["de"])
    both = impactbench("people", "describe", "Ada", "--conflict", "Acme", "--clear", "conflicts")
    assert (both.code, "cleared and given at once" in both.err) == (1, True)
    impactbench("people", "add", "Mo", "--role", "maintainer")
    assert "rates nothing" in impactbench("people", "describe", "Mo").err
    assert "nobody called 'Zoe'" in impactbench("people", "describe", "Zoe").err


def test_the_list_shows_everybody_and_no_secret(
    impactbench: Command, sqlite_engine: Engine, ada: str
) -> None:
    impactbench("people", "add", "[bold]Mo[/bold]", "--role", "maintainer")
    impactbench("people", "revoke", "[bold]Mo[/bold]")
    said = impactbench("people", "list").out
    assert "Ada" in said
    assert "personal link" in said
    assert "[bold]Mo[/bold]" in said
    assert "no way in" in said
    assert ada not in said


def test_somebody_leaves(impactbench: Command, sqlite_engine: Engine, ada: str) -> None:
    said = impactbench("people", "deactivate", "Ada")
    assert said.out.strip() == "former-rater-1"
    assert not works(sqlite_engine, ada)
    again = impactbench("people", "deactivate", "Ada")
    assert (again.code, "nobody called 'Ada'" in again.err) == (1, True)


def test_a_role_is_changed(impactbench: Command, sqlite_engine: Engine, ada: str) -> None:
    assert impactbench("people", "role", "Ada", "methodologist").code == 0
    assert people.list_people(sqlite_engine)[0].role is Role.METHODOLOGIST
    assert impactbench("people", "role", "Ada", "expert", "--panel", "internal").code == 0
    refused = impactbench("people", "role", "Ada", "maintainer", "--panel", "internal")
    assert "rates nothing and so is in no panel" in refused.err


def test_an_identity_is_linked_or_claimed_with_a_code(
    impactbench: Command, sqlite_engine: Engine, ada: str
) -> None:
    assert impactbench("people", "link", "Ada", "--identity", IDENTITY).code == 0
    found = people.person_of_identity(sqlite_engine, IDENTITY)
    assert found is not None
    assert found.pseudonym == "Ada"
    assert "is no identity" in impactbench("people", "link", "Ada", "--identity", "ada").err
    code = impactbench("people", "code", "Ada").out.strip()
    assert not works(sqlite_engine, ada)
    assert people.claim_identity(sqlite_engine, code, "https://other.example#x") is not None
    assert people.claim_identity(sqlite_engine, code, "https://third.example#x") is None
