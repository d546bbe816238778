"""Every page of the demo, as people see it: readable, reachable by keyboard, usable on a phone, without a violation of axe."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.hand import save_button, verdict, wait_for_desk
from tests.browser.screens import SCREENS, look_at, show_on, violations
from tests.browser.serving import Workbench, run_command

pytestmark = pytest.mark.browser

AUDIT = [
    ("study", "Study"),
    ("coverage", "Coverage"),
    ("agreement", "Agreement among experts"),
    ("judge", "Judge and experts"),
    ("contested", "Contested metrics"),
    ("report", "Report"),
    ("forensics", "Check published figures"),
]
MADE_WHEN_ASKED = "report"
"""The page without a table until its button is pressed."""
IN_DEPTH = [
    ("raters", "Raters"),
    ("missing", "What is missing"),
    ("retest", "Judge against itself"),
    ("own-family", "Own family"),
    ("ages", "Teens and adults"),
    ("corrected", "Corrected rates"),
    ("judges", "Indeterminacy and judges"),
    ("changes", "Change log"),
    ("registered", "Registered plan"),
]
UPKEEP = [
    ("plan", "Plan a study"),
    ("progress", "Progress"),
    ("adjudicate", "Adjudication"),
    ("names", "Names in conversations"),
    ("exposures", "Who was sent what"),
    ("suite", "Suite"),
    ("submissions", "Submissions"),
    ("runs", "Runs"),
    ("people", "People"),
]


class Demo:
    """The demo study, served, with a link for each role."""

    def __init__(self, bench: Workbench, links: dict[str, str]) -> None:
        self.bench = bench
        self.links = links


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("demo")
    database = folder / "demo.db"
    said = run_command(["demo", "--no-serve", "--database", str(database)], folder)
    bench = Workbench(f"sqlite:///{database}", folder)
    tokens = dict(re.findall(r"^(\w+) +\S+/enter/(\S+)$", said, re.MULTILINE))
    bench.start()
    yield Demo(bench, {role: f"{bench.address}/enter/{token}" for role, token in tokens.items()})
    bench.kill()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 900}, color_scheme="dark")
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()


def enter_desk(page: Page, link: str) -> None:
    """Through the welcome, if it has not been read yet, to the desk."""
    page.goto(link)
    begin = page.get_by_role("button", name="I have read this, begin")
    expect(begin.or_(page.locator(".ib-heading"))).to_be_visible()
    if begin.is_visible():
        assert violations(page) == []
        page.get_by_role("textbox").fill("demo-expert")
        page.get_by_role("textbox").press("Tab")
        begin.click()
    wait_for_desk(page)


def test_the_desk_is_accessible_and_fits_every_screen(phone: Page, demo: Demo) -> None:
    enter_desk(phone, demo.links["expert"])
    drawer = phone.get_by_role("button", name="Your answer")
    expect(drawer).to_have_attribute("aria-expanded", "false")
    expect(drawer).to_be_in_viewport()
    assert violations(phone) == []
    phone.locator(".ib-end").scroll_into_view_if_needed()
    expect(save_button(phone)).to_be_visible()
    drawer.press("Enter")
    expect(save_button(phone)).to_be_hidden()
    phone.locator("#turn-1").scroll_into_view_if_needed()
    phone.locator(".ib-end").scroll_into_view_if_needed()
    expect(drawer).to_have_attribute("aria-expanded", "false")
    drawer.click()
    phone.locator("summary").first.click()
    phone.keyboard.press("0")
    for screen in SCREENS:
        show_on(phone, *screen)
        assert violations(phone) == [], screen
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert phone.evaluate(overflow) <= 0, screen
        assert phone.locator(".ib-columns").evaluate("(box) => box.scrollWidth - box.clientWidth") <= 1, (
            screen
        )


def test_the_audit_pages_are_accessible_and_fit_the_screen(phone: Page, demo: Demo) -> None:
    phone.goto(demo.links["maintainer"])
    for path, heading in AUDIT:
        look_at(phone, f"{demo.bench.address}/{path}", heading)
        if path != MADE_WHEN_ASKED:
            expect(phone.get_by_test_id("stDataFrame").first).to_be_visible()


@pytest.mark.parametrize("pages", [IN_DEPTH, UPKEEP], ids=["in depth", "of design and upkeep"])
def test_the_other_pages_are_accessible_and_fit_the_screen(
    phone: Page, demo: Demo, pages: list[tuple[str, str]]
) -> None:
    phone.goto(demo.links["maintainer"])
    for path, heading in pages:
        look_at(phone, f"{demo.bench.address}/{path}", heading)


def test_the_methodologist_reads_agreement_and_judge_with_intervals(browser: Browser, demo: Demo) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(demo.links["methodologist"])
    expect(page.get_by_role("heading", name="Study", exact=True)).to_be_visible()
    expect(page.get_by_text("Everything in this study is simulated.")).to_be_visible()
    page.get_by_role("link", name="Agreement").click()
    sentence = r"Over 72 items with two ratings or more, experts agreed on \d+% \[\d+, \d+\] of pairs; ordinal α is 0\.\d\d \["
    expect(page.get_by_text(re.compile(sentence))).to_be_visible()
    expect(page.get_by_role("img", name="Krippendorff’s α, ordinal: 10 estimates")).to_be_visible()
    page.get_by_role("link", name="Judge and experts").click()
    expect(
        page.get_by_text(re.compile(r"On 72 items the judge agrees with the experts on \d+% \["))
    ).to_be_visible()
    page.get_by_role("link", name="Contested metrics").click()
    expect(page.get_by_text("Of 6 metrics 1 is contested")).to_be_visible()
    context.close()


def test_what_a_newcomer_rates_reaches_the_methodologist(browser: Browser, demo: Demo) -> None:
    expert = browser.new_context().new_page()
    enter_desk(expert, demo.links["expert"])
    verdict(expert, "Pass").click()
    save_button(expert).click()
    expect(expert.locator(".ib-done")).to_have_text("1 done")
    methodologist = browser.new_context().new_page()
    methodologist.goto(demo.links["methodologist"])
    expect(methodologist.get_by_text("Experts still have 11 answers to give.")).to_be_visible()
    expert.context.close()
    methodologist.context.close()


def test_the_keyboard_alone_reaches_everything_on_the_desk(browser: Browser, demo: Demo) -> None:
    context = browser.new_context()
    page = context.new_page()
    enter_desk(page, demo.links["expert"])
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.textContent.slice(0, 24) + document.activeElement.tagName")
        )
    for wanted in ("Pass", "Borderline", "Fail", "I can’t judge this", "Save and next", "Full definition"):
        assert any(wanted in one for one in reached), wanted
    assert any(one.endswith("TEXTAREA") for one in reached)
    context.close()
