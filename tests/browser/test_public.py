"""The public pages in a real browser, for somebody who has not signed in."""

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import Role
from impactbench.store import tables as t
from impactbench.store.engine import reading
from reviews.public.cases import mark_case
from reviews.public.releasing import release_study
from tests.browser.screens import look_at
from tests.browser.serving import Workbench
from tests.reviews.invented_study import add_judge, add_raters, add_study, place_metrics

pytestmark = pytest.mark.browser

PLACES = {
    "": "ImpactBench",
    "label?study=winter&model=tansy-2": "Nutrition label",
    "explore?study=winter": "Explore",
    "explore?study=winter&view=areas&weights=own": "Explore",
    "metrics?study=winter": "Metrics",
    "metrics?study=winter&metric=kindness__m01&conversation=1": "Metric",
    "statistics?study=winter": "Statistics",
    "over-time?study=winter&metric=kindness__m01": "Over time",
    "cases?study=winter": "Case studies",
}


def mark(engine: Engine) -> None:
    """The first conversation becomes a case."""
    add_raters(engine, "Maude", role=Role.MAINTAINER)
    with reading(engine) as session:
        first = session.exec(select(t.Judgment).where(t.Judgment.conversation_id == 1)).one()
        maude = session.exec(select(t.Rater.id).where(t.Rater.pseudonym == "Maude")).one() or 0
    place = {"conversation_id": 1, "metric_version_id": first.metric_version_id}
    mark_case(engine, "winter", **place, marked_by=maude, first_turn=1, note="Look.")


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
    mark(sqlite_engine)
    context = browser.new_context()
    page = context.new_page()
    for place, heading in PLACES.items():
        look_at(page, f"{workbench.address}/{place}", heading)
        expect(page.locator(".ib-label, .ib-table").first).to_be_visible()
        expect(page.get_by_text("Page not found")).to_have_count(0)
        if "conversation=" in place:
            expect(page.get_by_text("hello", exact=True)).to_be_visible()
    page.goto(f"{workbench.address}/label?study=winter")
    expect(page.locator(".ib-label")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="As a picture (SVG)").click()
    assert saved.value.path().read_bytes().startswith(b"<svg")
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name="Take it with you")).to_be_hidden()
    expect(page.get_by_text("Not checked by experts yet").first).to_be_visible()
    named = page.request.get(f"{workbench.address}/label").headers["link"].split(">")[0].removeprefix("<")
    asked_for = page.evaluate(
        "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname)"
    )
    assert "/_stcore/health" in asked_for
    assert "/label/_stcore/health" not in asked_for
    script = page.request.get(workbench.address + named)
    assert (script.status, script.headers["x-content-type-options"]) == (200, "nosniff")
    assert "javascript" in script.headers["content-type"]
    assert "immutable" in script.headers["cache-control"]
    assert page.request.get(f"{workbench.address}/static/js/..%2f..%2findex.html").status in (400, 404)
    context.close()
