"""What a rubric asks, asked in the browser."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews.rubrics import load
from tests.browser.desks import plain_turns, set_desks
from tests.browser.hand import finish, save_button, sit_down, verdict, wait_for_desk
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser


def sit_down_under(rubric: str, device: BrowserContext, engine: Engine, workbench: Workbench) -> Page:
    turns = plain_turns(1)
    turns[1]["content"] = "**bold** and 😀 smile\n\n- one\n- ![x](http://beacon.invalid/x.png)"
    desks = set_desks(engine, [turns, plain_turns(2)], "kestrel", base_url=workbench.address)
    with writing(engine) as session:
        session.get_one(t.ReviewSet, 1).rubric = load(rubric).model_dump(mode="json")
    workbench.start()
    page = device.new_page()
    sit_down(page, desks["kestrel"].link)
    return page


def newest_label(engine: Engine) -> t.Label:
    with reading(engine) as session:
        return session.exec(select(t.Label).order_by(t.Label.id.desc())).first()  # type: ignore[return-value,union-attr]


def test_which_verdicts_could_be_defended_and_which_if_one_had_to_choose(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    page = sit_down_under("response-set", device, sqlite_engine, workbench)
    page.keyboard.press("2")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Say which you would choose if you had to.")).to_be_visible()
    page.get_by_role("group", name="If you had to choose").get_by_role("button", name="Fail").click()
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    label = newest_label(sqlite_engine)
    assert (label.verdict, label.response_set, label.forced_choice) == (
        "borderline",
        ["pass", "fail"],
        "fail",
    )
    expect(verdict(page, "Both")).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_role("group", name="If you had to choose")).to_be_hidden()


def test_words_are_marked_in_code_points_and_survive_a_reload(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    page = sit_down_under("plain-verdict", device, sqlite_engine, workbench)
    page.evaluate(
        """() => {
            const text = document.querySelectorAll('.ib-text')[1].firstChild;
            const range = document.createRange();
            const start = text.data.indexOf('smile');
            range.setStart(text, start);
            range.setEnd(text, start + 5);
            document.getSelection().addRange(range);
        }"""
    )
    page.keyboard.press("h")
    expect(page.locator("mark")).to_have_text("smile")
    expect(page.locator(".ib-state")).to_have_text(re.compile("draft kept"))
    page.reload()
    expect(page.locator("mark")).to_have_text("smile")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    with reading(sqlite_engine) as session:
        (kept,) = session.exec(select(t.Response).where(t.Response.question == "passages")).all()
    assert kept.value == [{"message": 1, "start": 15, "end": 20, "quote": "smile"}]


def test_formatting_can_be_shown_without_loading_anything(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    page = sit_down_under("plain-verdict", device, sqlite_engine, workbench)
    strange: list[str] = []
    page.on("request", lambda request: strange.append(request.url) if "beacon" in request.url else None)
    page.keyboard.press("1")
    page.get_by_role("button", name="Show with formatting").click()
    expect(page.locator(".ib-formatted strong")).to_have_text("bold")
    expect(page.locator(".ib-formatted li").first).to_have_text("one")
    assert page.locator(".ib-formatted img, .ib-formatted a").count() == 0
    expect(verdict(page, "Pass")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Show exactly as written").click()
    expect(page.locator(".ib-text").nth(1)).to_contain_text("**bold**")
    assert strange == []


def test_the_whole_external_review_can_be_answered(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    page = sit_down_under("external-review", device, sqlite_engine, workbench)
    for number in (1, 2):
        wait_for_desk(page, number)
        verdict(page, "Pass").click()
        page.keyboard.press("Control+Enter")
        expect(page.locator(".ib-said")).to_contain_text("Please answer: Does this scenario")
        page.get_by_role("group", name="Does this scenario").get_by_role(
            "button", name="no", exact=True
        ).click()
        page.get_by_label("How could it test it better?").fill("more pressure")
        page.get_by_role("group", name="Could this conversation").get_by_role("button", name="yes").click()
        save_button(page).click()
    expect(page.get_by_role("heading", name="A few questions about what you rated")).to_be_visible()
    page.get_by_role("radiogroup", name="How well does").get_by_text("4", exact=True).click()
    for question in ("Should it be named", "Are the examples"):
        page.get_by_role("radiogroup", name=question).get_by_text("no", exact=True).click()
    page.get_by_label("What would be better examples?").wait_for()
    page.get_by_role("button", name="Save and go on").click()
    finish(page)
    with reading(sqlite_engine) as session:
        answers = {
            (one.subject.split("/")[0], one.question): one.value
            for one in session.exec(select(t.Response)).all()
        }
    assert answers["scenario", "tests_better"] == "more pressure"
    assert answers["metric", "relevance"] == 4
    assert answers["set", "recognised_model"] == "no"


def test_a_check_of_the_verdict_shows_it_and_asks_for_none(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    page = sit_down_under("judgment-check", device, sqlite_engine, workbench)
    expect(page.get_by_text("The automatic verdict")).to_be_visible()
    assert page.get_by_role("group", name="Your verdict").count() == 0
    page.get_by_role("group", name="Do you agree").get_by_role("button", name="agree", exact=True).click()
    page.get_by_role("group", name="How well does the justification").get_by_role("button", name="3").click()
    save_button(page).click()
    wait_for_desk(page, 2)
    assert newest_label(sqlite_engine).status == "answered"
