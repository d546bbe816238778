"""The published site in a real browser: without a violation of axe, on a phone and in the dark, sorted by keyboard."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
from sqlalchemy import Engine

from app.public.site.writing import publish_site
from reviews.public.releasing import release_study
from tests.browser.screens import DESKTOP, PHONE
from tests.reviews.invented_study import add_judge, add_study, place_metrics

pytestmark = pytest.mark.browser


def test_every_kind_of_page_can_be_read_by_everybody(
    browser: Browser, sqlite_engine: Engine, tmp_path: Path
) -> None:
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    place_metrics(sqlite_engine)
    release_study(sqlite_engine, "winter", transcripts=True)
    publish_site(sqlite_engine, tmp_path / "site")
    site = tmp_path / "site" / "winter"
    kinds = [
        tmp_path / "site" / "index.html",
        *(site / f"{name}.html" for name in ("explore", "metrics", "statistics", "cases", "change-log")),
        *(sorted((site / folder).iterdir())[0] for folder in ("label", "metric", "scenario")),
    ]
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    for path in kinds:
        page.goto(path.as_uri())
        for scheme, width in (PHONE, DESKTOP):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, f"{path.name}, {scheme}: {found.generate_report()}"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path.name
    assert {url.partition(":")[0] for url in asked} == {"file"}

    page.goto((site / "explore/view-both.html").as_uri())
    heading = page.get_by_role("button", name="Helpful shown")
    heading.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("columnheader", name="Helpful shown")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("link", name="Models in order").click()
    expect(page.get_by_text("Harmful avoided", exact=True)).to_be_visible()
    page.get_by_role("link", name="Metrics", exact=True).click()
    page.get_by_role("link", name="m01", exact=True).click()
    page.get_by_role("link", name="tansy-2", exact=True).last.click()
    expect(page.locator("[id^=conversation-]:target")).to_be_visible()
    page.close()
