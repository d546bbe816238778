"""Signing in through an organisation, and the maintainers' page of people, in a real browser."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import Engine

from impactbench.store.engine import connect
from reviews.members import people
from reviews.members.invitations import make_token
from tests.browser.desks import plain_turns, set_desks
from tests.browser.oidc_provider import Provider
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class House:
    """A workbench that trusts an organisation's provider; started as people start it, in the folder of its secrets."""

    bench: Workbench
    engine: Engine
    provider: Provider


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("accounts")
    url = f"sqlite:///{shutil.copy(sqlite_template, folder / 'impactbench.db')}"
    engine, provider = connect(url), Provider()
    bench = Workbench(url, folder, by_command=True)
    set_desks(engine, [plain_turns(1)], "kestrel", base_url=bench.address)
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "secrets.toml").write_text(provider.secrets_for(bench.address))
    bench.start()
    yield House(bench, engine, provider)
    bench.kill()
    provider.close()
    engine.dispose()


def sign_in(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Sign in").click()


def test_a_member_signs_in_as_the_identity_that_was_linked(house: House, device: BrowserContext) -> None:
    people.link_identity(house.engine, "maintainer", f"{house.provider.issuer}#m1")
    house.provider.subject, house.provider.groups = "m1", 200
    page = device.new_page()
    sign_in(page, house.bench.address)
    expect(page.get_by_text("Signed in as maintainer")).to_be_visible()
    cookies = device.cookies()
    kept = [cookie for cookie in cookies if cookie["name"].startswith("_streamlit_user")]
    assert sum(len(str(cookie["value"])) for cookie in kept) < 1_500
    assert len(kept) <= 2
    page.reload()
    expect(page.get_by_text("Signed in as maintainer")).to_be_visible()
    people.deactivate(house.engine, "maintainer")
    page.reload()
    expect(page.get_by_text("is not known here yet")).to_be_visible()
    expect(page.get_by_text("Contested metrics")).to_have_count(0)
    expect(page.get_by_text("Signed in as")).to_have_count(0)


def test_an_unknown_identity_sees_a_sentence_until_it_has_a_code(
    house: House, device: BrowserContext
) -> None:
    house.provider.subject = "somebody"
    page = device.new_page()
    sign_in(page, house.bench.address)
    expect(page.get_by_text("is not known here yet")).to_be_visible()
    assert people.person_of_identity(house.engine, f"{house.provider.issuer}#somebody") is None
    for path in ("study", "contested", "rate"):
        page.goto(f"{house.bench.address}/{path}")
        expect(page.get_by_text("is not known here yet")).to_be_visible()
    field = page.get_by_label("One-time code")
    field.fill("guessed")
    page.get_by_role("button", name="Use the code").click()
    expect(page.get_by_text("This code does not work")).to_be_visible()
    code = make_token(house.engine, "methodologist")
    field.fill(code)
    page.get_by_role("button", name="Use the code").click()
    expect(page.get_by_text("Signed in as methodologist")).to_be_visible()
    page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    page.goto(f"{house.bench.address}/enter/{code}")
    expect(page.get_by_role("heading", name="This link does not work")).to_be_visible()
    sign_in(page, house.bench.address)
    expect(page.get_by_text("Signed in as methodologist")).to_be_visible()
