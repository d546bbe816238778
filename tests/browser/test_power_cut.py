"""Killing the server at any moment loses no label that it acknowledged."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect
from sqlalchemy import Engine

from tests.browser.cuts import rate_through_cuts
from tests.browser.desks import labels_by_conversation, plain_turns, set_desks
from tests.browser.hand import finish, sit_down
from tests.browser.serving import Workbench

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ITEMS = 10
EVERY = 4


def test_ten_power_cuts_at_random_moments_lose_double_and_alter_nothing(
    engine: Engine, database_url: str, tmp_path: Path
) -> None:
    bench, names = Workbench(database_url, tmp_path), ("kestrel", "wren")
    desks = set_desks(engine, [plain_turns(n) for n in range(1, 121)], *names, base_url=bench.address)
    bench.start()
    try:
        with ThreadPoolExecutor(1) as thread:  # a browser in this process has a loop running on this one
            seen = thread.submit(
                rate_through_cuts,
                bench,
                engine,
                {name: desks[name] for name in names},
                cuts=10,
                longest_wait=0.2,
                seed=1,
            ).result()
    finally:
        bench.kill()
    assert seen.cuts == 10
    assert (seen.lost, seen.doubled, seen.altered) == (0, 0, 0)
    assert 0 < seen.acknowledged <= seen.stored


def test_the_page_in_the_browser_brings_every_answer_over_a_power_cut(
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
        expect(page.locator(".ib-heading")).to_have_text(f"Conversation {number} of {ITEMS}")
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
