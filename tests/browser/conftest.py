"""A real browser on a real workbench."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.serving import QUIET, Workbench, chromium

expect.set_options(timeout=45_000)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        message = "there is no Chromium, so the tests in a browser are left out"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def device(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile of its own: another person, or another device of the same one."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    yield context
    context.close()


other_device = device


@pytest.fixture
def workbench(sqlite_url: str, tmp_path: Path) -> Iterator[Workbench]:
    """The workbench on a fresh database, started by the test when its study is in place."""
    bench = Workbench(sqlite_url, tmp_path)
    yield bench
    bench.kill()
