"""The public pages in a real browser, for somebody who has not signed in."""

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import Engine

from reviews.public.releasing import release_study
from tests.browser.serving import Workbench
from tests.browser.test_pages import violations
from tests.reviews.invented_study import add_judge, add_study, place_metrics

pytestmark = pytest.mark.browser

PLACES = {
    "": "ImpactBench",
    "label?study=winter&model=tansy-2": "Nutrition label",
    "explore?study=winter": "Explore",
    "explore?study=winter&view=areas&weights=own": "Explore",
    "metrics?study=winter": "Metrics",
    "metrics?study=winter&metric=kindness__m01&conversation=1": "Metric",
}


def test_a_visitor_reads_what_is_released_on_every_screen_and_on_paper(
    browser: Browser, sqlite_engine: Engine, workbench: Workbench
) -> None:
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    place_metrics(sqlite_engine)
    workbench.start()
    page = browser.new_page()
    page.goto(workbench.address)
    expect(page.get_by_text("Please open the personal link")).to_be_visible()
    expect(page.get_by_text("Nutrition label")).to_have_count(0)
    page.close()
    release_study(sqlite_engine, "winter", transcripts=True)
    for scheme, width in (("light", 1280), ("dark", 390)):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        for place, heading in PLACES.items():
            page.goto(f"{workbench.address}/{place}")
            expect(page.get_by_role("heading", name=heading, exact=True).first).to_be_visible()
            expect(page.locator(".ib-label, .ib-table").first).to_be_visible()
            expect(page.get_by_text("Page not found")).to_have_count(0)
            assert page.get_by_test_id("stException").count() == 0, place
            assert violations(page) == [], place
            main = page.get_by_test_id("stMain")
            assert main.evaluate("(box) => box.scrollWidth - box.clientWidth") <= 0, place
        expect(page.get_by_text("hello", exact=True)).to_be_visible()
        page.goto(f"{workbench.address}/label?study=winter")
        expect(page.locator(".ib-label")).to_be_visible()
        with page.expect_download() as saved:
            page.get_by_role("button", name="As a picture (SVG)").click()
        assert saved.value.path().read_bytes().startswith(b"<svg")
        page.emulate_media(media="print")
        expect(page.get_by_role("heading", name="Take it with you")).to_be_hidden()
        expect(page.get_by_text("Not checked by experts yet").first).to_be_visible()
        context.close()
