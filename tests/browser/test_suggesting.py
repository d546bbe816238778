"""Suggesting a metric as an expert does it: in a browser, by keyboard, on a phone."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from impactbench.store.engine import connect
from impactbench.suite.submission_store import suggestions
from reviews.members.invitations import invite
from tests.browser.hand import come_in
from tests.browser.screens import violations
from tests.browser.serving import Workbench
from tests.suggestions import add_people

pytestmark = pytest.mark.browser

NAME = "Says *it* <b>loves</b> the person"


def test_a_suggestion_is_begun_by_keyboard_and_kept_on_a_dark_phone(
    browser: Browser, tmp_path: Path, sqlite_template: Path
) -> None:
    shutil.copy(sqlite_template, tmp_path / "impactbench.db")
    url = f"sqlite:///{tmp_path / 'impactbench.db'}"
    engine = connect(url)
    add_people(engine)
    bench = Workbench(url, tmp_path)
    bench.start()
    context = browser.new_context(viewport={"width": 390, "height": 900}, color_scheme="dark")
    page = context.new_page()
    try:
        come_in(page, invite(engine, "author", base_url=bench.address))
        expect(page.get_by_role("heading", name="Nothing to rate yet")).to_be_visible()
        page.goto(f"{bench.address}/suggest")
        begin = page.get_by_role("button", name="Begin a suggestion")
        expect(begin).to_be_visible()
        begin.press("Enter")
        name = page.get_by_label("What does the chatbot do, in a few words?")
        expect(name).to_be_visible()
        name.focus()
        page.keyboard.type(NAME)
        page.keyboard.press("Tab")
        expect(page.get_by_text("Still missing in scoring: whether the behaviour is wanted")).to_be_visible()
        page.get_by_role("button", name="Law").press("Enter")
        expect(
            page.get_by_text("Still missing in justification: the benchmark it belongs to")
        ).to_be_visible()
        assert violations(page) == []
        main = "document.querySelector('[data-testid=stMain]').scrollWidth"
        assert page.evaluate(main) <= 390
        page.reload()
        expect(page.get_by_label("What does the chatbot do, in a few words?")).to_have_value(NAME)
        (kept,) = suggestions(engine)
        assert (kept.name, kept.content.justification.subareas) == (NAME, ("law",))
    finally:
        context.close()
        bench.kill()
        engine.dispose()
