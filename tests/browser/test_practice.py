"""The practice round and the way to another device, in a real browser."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews.rubrics import load
from tests.browser.desks import plain_turns, set_desks
from tests.browser.hand import (
    come_in,
    save_button,
    sit_down,
    verdict,
    wait_for_desk,
    wait_for_draft,
    write,
)
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser


def kept(engine: Engine) -> int:
    """How much is stored of what anybody answered or began."""
    with reading(engine) as session:
        return sum(len(session.exec(select(table)).all()) for table in (t.Label, t.Draft, t.Exposure))


def answer(page: Page, word: str, *, after: float = 0) -> None:
    wait_for_desk(page)
    verdict(page, word).click()
    write(page, "because")
    page.wait_for_timeout(after)
    save_button(page).click()


def accessible(page: Page, *, heading: str, within: str = "main") -> list[str]:
    """What axe has to say of a page with this heading."""
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    found = Axe().run(page, context={"include": [[within]]}).response["violations"]
    return [f"{heading}: {one['id']}: {one['nodes'][0]['html'][:120]}" for one in found]


def test_exercises_are_answered_compared_and_forgotten(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(
        sqlite_engine, [plain_turns(1)], "kestrel", base_url=workbench.address, protocol_accepted=False
    )
    with writing(sqlite_engine) as session:
        session.exec(select(t.ReviewSet)).one().rubric = load("plain-verdict").model_dump(mode="json")
    workbench.start()
    page = device.new_page()
    come_in(page, desks["kestrel"].link)
    page.get_by_role("link", name="Practise first").click()
    answer(page, "Fail", after=1200)  # milliseconds; a draft would be kept by now
    expect(page.get_by_role("heading", name="A careful rater would say otherwise")).to_be_visible()
    expect(page.get_by_text("A careful rater: Pass. Both questions come before any advice")).to_be_visible()
    page.get_by_role("button", name="Try it again").click()
    wait_for_desk(page, 1)
    expect(page.locator("textarea").first).to_have_value("")
    answer(page, "Pass")
    expect(page.get_by_role("heading", name="As a careful rater would say")).to_be_visible()
    page.get_by_role("button", name="Next exercise").click()
    wait_for_desk(page, 2)
    answer(page, "Borderline")
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("heading", name="That was the practice")).to_be_visible()
    assert kept(sqlite_engine) == 0
    page.get_by_role("link", name="Rate", exact=True).click()
    expect(page.get_by_role("button", name="I have read this, begin")).to_be_visible()


def test_a_link_works_once_and_its_owner_makes_one_for_another_device(
    browser: Browser, device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(sqlite_engine, [plain_turns(1), plain_turns(2)], "kestrel", base_url=workbench.address)
    workbench.start()
    page, other = device.new_page(), browser.new_context(color_scheme="dark").new_page()
    page.goto(desks["kestrel"].link)
    found = accessible(page, heading="Welcome to ImpactBench")
    sit_down(page, desks["kestrel"].link)
    verdict(page, "Fail").click()
    write(page, "half a thought")
    wait_for_draft(page)
    other.goto(desks["kestrel"].link)
    found += accessible(other, heading="This link does not work")
    expect(other.get_by_text("It has been used already")).to_be_visible()
    page.get_by_role("link", name="Another device").click()
    page.get_by_role("button", name="Make a link for another device").click()
    link = page.get_by_test_id("stCode").inner_text().strip()
    sit_down(other, link)
    expect(verdict(other, "Fail")).to_have_attribute("aria-pressed", "true")
    expect(other.locator("textarea")).to_have_value("half a thought")
    page.reload()
    expect(page.get_by_text("You are signed in on 2 devices.")).to_be_visible()
    expect(page.get_by_text("This device: signed in")).to_have_count(1)
    expect(page.get_by_test_id("stCode")).to_have_count(0)
    found += accessible(page, heading="Another device", within="[data-testid=stMain]")
    page.get_by_role("button", name="Sign out").first.click()
    expect(page.get_by_text("That device is signed out.")).to_be_visible()
    other.reload()
    expect(other.get_by_text("Please open the personal link")).to_be_visible()
    found += accessible(other, heading="ImpactBench", within="[data-testid=stMain]")
    page.get_by_role("link", name="Sign out").click()
    found += accessible(page, heading="Sign out of this device?")
    assert found == []
    page.get_by_role("link", name="Stay signed in").click()
    wait_for_desk(page)
    page.get_by_role("link", name="Sign out").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("Please open the personal link")).to_be_visible()
    other.context.close()
