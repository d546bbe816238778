"""Signing in through an organisation, and the maintainers' page of people, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import Engine

from reviews.members import people
from reviews.members.invitations import make_token
from tests.browser.desks import Desk, plain_turns, set_desks
from tests.browser.oidc_provider import Provider
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.close()


@pytest.fixture
def desks(sqlite_engine: Engine, workbench: Workbench, provider: Provider, tmp_path: Path) -> dict[str, Desk]:
    """A workbench that trusts the provider, and its people."""
    made = set_desks(sqlite_engine, [plain_turns(1)], "kestrel", base_url=workbench.address)
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text(provider.secrets_for(workbench.address))
    workbench.start()
    return made


def sign_in(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Sign in").click()


def test_a_member_signs_in_as_the_identity_that_was_linked(
    device: BrowserContext,
    sqlite_engine: Engine,
    workbench: Workbench,
    provider: Provider,
    desks: dict[str, Desk],
) -> None:
    people.link_identity(sqlite_engine, "maintainer", f"{provider.issuer}#m1")
    provider.subject, provider.groups = "m1", 200
    page = device.new_page()
    sign_in(page, workbench.address)
    expect(page.get_by_text("Signed in as maintainer")).to_be_visible()
    cookies = device.cookies()
    kept = [cookie for cookie in cookies if cookie["name"].startswith("_streamlit_user")]
    assert sum(len(str(cookie["value"])) for cookie in kept) < 1_500
    assert len(kept) <= 2
    page.reload()
    expect(page.get_by_text("Signed in as maintainer")).to_be_visible()
    people.deactivate(sqlite_engine, "maintainer")
    page.reload()
    expect(page.get_by_text("is not known here yet")).to_be_visible()
    expect(page.get_by_text("Contested metrics")).to_have_count(0)
    expect(page.get_by_text("Signed in as")).to_have_count(0)


def test_an_unknown_identity_sees_a_sentence_until_it_has_a_code(
    device: BrowserContext,
    sqlite_engine: Engine,
    workbench: Workbench,
    provider: Provider,
    desks: dict[str, Desk],
) -> None:
    provider.subject = "somebody"
    page = device.new_page()
    sign_in(page, workbench.address)
    expect(page.get_by_text("is not known here yet")).to_be_visible()
    assert people.person_of_identity(sqlite_engine, f"{provider.issuer}#somebody") is None
    for path in ("study", "contested", "rate"):
        page.goto(f"{workbench.address}/{path}")
        expect(page.get_by_text("is not known here yet")).to_be_visible()
    field = page.get_by_label("One-time code")
    field.fill("guessed")
    page.get_by_role("button", name="Use the code").click()
    expect(page.get_by_text("This code does not work")).to_be_visible()
    code = make_token(sqlite_engine, "methodologist")
    field.fill(code)
    page.get_by_role("button", name="Use the code").click()
    expect(page.get_by_text("Signed in as methodologist")).to_be_visible()
    page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    page.goto(f"{workbench.address}/enter/{code}")
    expect(page.get_by_role("heading", name="This link does not work")).to_be_visible()
    sign_in(page, workbench.address)
    expect(page.get_by_text("Signed in as methodologist")).to_be_visible()
