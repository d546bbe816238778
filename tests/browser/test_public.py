"""The public pages in a real browser, for somebody who has not signed in."""

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import Role
from impactbench.store import tables as t
from impactbench.store.engine import reading
from reviews.members.invitations import invite
from reviews.public.cases import mark_case
from reviews.public.releasing import release_study
from tests.browser.hand import come_in
from tests.browser.screens import look_at, look_at_public
from tests.browser.serving import Workbench
from tests.reviews.invented_study import add_judge, add_raters, add_study, place_metrics

pytestmark = pytest.mark.browser

PLACES = {
    "": "ImpactBench",
    "label?study=winter&model=tansy-2": "Nutrition label",
    "explore?study=winter": "Explore",
    "explore?study=winter&view=areas&weights=own": "Explore",
    "metrics?study=winter": "Metrics",
    "metrics?study=winter&metric=kindness__m01&conversation=1": "m01",
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
        look_at_public(page, f"{workbench.address}/{place}", heading)
        expect(page.locator(".ib-label, .ib-table, .ib-ways").first).to_be_visible()
        if "conversation=" in place:
            expect(page.get_by_text("hello", exact=True)).to_be_visible()
    page.goto(f"{workbench.address}/label?study=winter")
    with page.expect_download() as saved:
        page.get_by_role("link", name="As a picture (SVG)").click()
    assert saved.value.path().read_bytes().startswith(b"<svg")
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name="Take it with you")).to_be_hidden()
    expect(page.get_by_role("navigation")).to_be_hidden()
    expect(page.locator(".ib-choices")).to_be_hidden()
    heading, rate = (page.locator(f".ib-row {part}").first.bounding_box() for part in ("h4", ".ib-rate"))
    assert heading is not None
    assert rate is not None
    assert heading["x"] < rate["x"]
    expect(page.get_by_text("Not checked by experts yet").first).to_be_visible()
    context.close()


def test_a_choice_is_followed_at_once_from_the_keyboard_and_taken_back_and_works_without_scripts(
    browser: Browser, sqlite_engine: Engine, workbench: Workbench
) -> None:
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    place_metrics(sqlite_engine)
    release_study(sqlite_engine, "winter", transcripts=True)
    workbench.start()
    with browser.new_context() as context:
        page = context.new_page()
        complaints: list[str] = []
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(f"{workbench.address}/explore?study=winter")
        expect(page.get_by_role("button", name="Show")).to_be_hidden()
        page.get_by_role("radio", name="Models in order").focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text("show helpful behaviour more often than")).to_be_visible()
        expect(page.get_by_role("radio", name="Helpful and harmful")).to_be_focused()
        assert page.url == f"{workbench.address}/explore?study=winter&view=both"
        page.get_by_role("link", name="Picture with tools").click()
        expect(page.locator("[data-picture] svg.marks")).to_be_visible(timeout=60_000)
        page.get_by_text("Teens and adults", exact=True).click()
        expect(page.locator("[data-picture] svg.marks")).to_be_visible()
        assert "tools=on" in page.url
        page.go_back()
        expect(page.get_by_role("radio", name="Helpful and harmful")).to_be_checked()
        page.goto(f"{workbench.address}/metrics?study=winter")
        page.get_by_label("Search").press_sequentially("no such thing")
        expect(page.get_by_text("No behaviour fits.")).to_be_visible()
        expect(page.get_by_label("Search")).to_be_focused()
        expect(page.get_by_label("Search")).to_have_value("no such thing")
        assert complaints == []
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{workbench.address}/explore?study=winter")
        page.get_by_text("Helpful and harmful", exact=True).click()
        page.get_by_role("button", name="Show").click()
        expect(page.get_by_text("show helpful behaviour more often than")).to_be_visible()


def test_a_way_in_stands_on_every_public_page_and_landing_pages_open_at_their_own_address(
    browser: Browser, sqlite_engine: Engine, workbench: Workbench
) -> None:
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    release_study(sqlite_engine, "winter", transcripts=True)
    add_raters(sqlite_engine, "Maude", role=Role.MAINTAINER)
    workbench.start()
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{workbench.address}/label")
        page.get_by_role("link", name="Sign in").click()
        expect(page.get_by_text("Please open the personal link")).to_be_visible()
        expect(page.get_by_text("Page not found")).to_have_count(0)
        asked_for = page.evaluate(
            "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname)"
        )
        assert "/_stcore/health" in asked_for
        assert "/sign-in/_stcore/health" not in asked_for
        come_in(page, invite(sqlite_engine, "Maude", base_url=workbench.address))
        expect(page.get_by_role("heading", name="Contested metrics")).to_be_visible()
        look_at(page, f"{workbench.address}/contested?study=winter", "Contested metrics")
        page.get_by_role("link", name="What the public sees").click()
        expect(page.get_by_text("Maude")).to_be_visible()
        page.get_by_role("link", name="Workbench").click()
        expect(page.get_by_role("heading", name="Contested metrics")).to_be_visible()
        script = page.request.get(f"{workbench.address}/contested").text()
        named = "/static/js/" + script.split("static/js/")[1].split('"')[0]
        found = page.request.get(workbench.address + named)
        assert (found.status, found.headers["x-content-type-options"]) == (200, "nosniff")
        assert "javascript" in found.headers["content-type"]
        assert "immutable" in found.headers["cache-control"]
        outside = page.request.get(f"{workbench.address}/static/js/..%2f..%2findex.html")
        assert outside.status in (400, 404)
