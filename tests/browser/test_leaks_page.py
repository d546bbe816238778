"""The maintainers' pages of names in conversations and of what was sent, in a real browser."""

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from sqlalchemy import Engine

from tests.browser.desks import MODEL, plain_turns, set_desks
from tests.browser.hand import come_in, sit_down
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser


def test_what_a_maintainer_decides_is_what_raters_read_and_stays_on_record(
    browser: Browser, device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    turns = plain_turns(1)
    turns[1]["content"] = f"I am {MODEL}. <b>My developers</b> like it."
    desks = set_desks(sqlite_engine, [turns], "kestrel", base_url=workbench.address)
    workbench.start()
    page, rater = device.new_page(), browser.new_context().new_page()
    come_in(page, desks["maintainer"].link)
    page.goto(f"{workbench.address}/names")
    expect(page.get_by_text("1 place waits for your decision; of 2 found, 1 are hidden now.")).to_be_visible()
    expect(page.get_by_text("<b>⟦My developers⟧</b> like it.")).to_be_visible()
    sit_down(rater, desks["kestrel"].link)
    expect(rater.get_by_text("I am [name hidden]. <b>My developers</b> like it.")).to_be_visible()
    page.get_by_role("button", name="Hide", exact=True).click()
    expect(page.get_by_text("All is decided: of 2 places 2 are hidden.")).to_be_visible()
    rater.reload()
    expect(rater.get_by_text("I am [name hidden]. <b>[name hidden]</b> like it.")).to_be_visible()
    page.get_by_role("button", name="Show").nth(-1).click()
    page.get_by_role("radio", name="Shown").or_(page.get_by_role("button", name="Shown")).first.click()
    expect(page.get_by_text("Shown by maintainer")).to_be_visible()
    expect(page.get_by_text("Hidden by maintainer")).to_be_visible()
    page.goto(f"{workbench.address}/exposures")
    expect(page.get_by_role("heading", name="Who was sent what")).to_be_visible()
    expect(page.get_by_text("to 1 rater, on ")).to_be_visible()
    rater.context.close()
