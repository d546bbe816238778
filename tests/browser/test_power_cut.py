"""Killing the server at any moment loses no label that it acknowledged."""

import threading

import pytest
from playwright.sync_api import BrowserContext, expect
from sqlalchemy import Engine

from tests.browser.desks import labels_by_conversation, plain_turns, set_desks
from tests.browser.hand import finish, sit_down
from tests.browser.serving import Workbench

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ITEMS = 26
EVERY = 6


def test_power_cuts_while_rating_lose_and_double_nothing(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(
        sqlite_engine, [plain_turns(n) for n in range(1, ITEMS + 1)], "kestrel", base_url=workbench.address
    )
    workbench.start()
    page = device.new_page()
    sit_down(page, desks["kestrel"].link)
    acknowledged: set[int] = set()
    for number in range(1, ITEMS + 1):
        expect(page.locator(".ib-heading")).to_have_text(f"Conversation {number} of {ITEMS}", timeout=40_000)
        if number > 1:
            acknowledged.add(number - 1)
        page.keyboard.press("1" if number % 2 else "3")
        cut = None
        if number % EVERY == 0:
            cut = threading.Timer(0.02 * (number // EVERY), workbench.kill)
            cut.start()
        page.keyboard.press("Control+Enter")
        if cut:
            cut.join()
            stored = set(labels_by_conversation(sqlite_engine, "kestrel"))
            assert acknowledged <= stored
            workbench.start()
    finish(page)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {
        n: [(1, "pass" if n % 2 else "fail", "")] for n in range(1, ITEMS + 1)
    }
