"""Rating in a real browser: nothing is lost, doubled, or stored on the wrong conversation."""

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.store.engine import reading
from impactbench.store.tables import Label
from tests.browser.desks import labels_by_conversation, plain_turns, set_desks
from tests.browser.hand import (
    current,
    finish,
    save_button,
    sit_down,
    verdict,
    wait_for_desk,
    wait_for_draft,
    wait_until_idle,
    write,
)
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser


@pytest.fixture
def six_waiting(sqlite_engine: Engine, workbench: Workbench) -> dict[str, str]:
    desks = set_desks(
        sqlite_engine, [plain_turns(n) for n in range(1, 7)], "kestrel", "owl", base_url=workbench.address
    )
    workbench.start()
    return {name: desk.link for name, desk in desks.items()}


def test_two_raters_on_two_devices_with_the_keyboard_only(
    browser: Browser, six_waiting: dict[str, str], sqlite_engine: Engine
) -> None:
    pages = {}
    for name in ("kestrel", "owl"):
        page = browser.new_context().new_page()
        sit_down(page, six_waiting[name])
        pages[name] = page
    for number in range(1, 7):
        for name, key in (("kestrel", "1"), ("owl", "3")):
            page = pages[name]
            wait_for_desk(page, number)
            page.keyboard.press(key)
            page.keyboard.press("Control+Enter")
    for page in pages.values():
        finish(page)
        page.context.close()
    assert labels_by_conversation(sqlite_engine, "kestrel") == {n: [(1, "pass", "")] for n in range(1, 7)}
    assert labels_by_conversation(sqlite_engine, "owl") == {n: [(1, "fail", "")] for n in range(1, 7)}


def test_a_reload_and_a_restart_come_back_to_the_same_conversation_and_draft(
    device: BrowserContext, six_waiting: dict[str, str], workbench: Workbench, sqlite_engine: Engine
) -> None:
    page = device.new_page()
    sit_down(page, six_waiting["kestrel"])
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    page.keyboard.press("2")
    write(page, "a long thought " * 20)
    page.get_by_role("button", name="Take a break").press("Enter")
    expect(page.get_by_text("Everything is kept, last at")).to_be_visible()
    expect(page.get_by_text("5 of 6 conversations are left.")).to_be_visible()
    expect(page.locator(".ib-turns")).to_be_hidden()
    expect(page.get_by_role("button", name="Go on")).to_be_focused()
    page.keyboard.press("3")
    page.keyboard.press("Escape")
    expect(page.locator(".ib-turns")).to_be_visible()
    wait_for_draft(page)
    page.reload()
    wait_for_desk(page, 2)
    expect(verdict(page, "Borderline")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("textarea")).to_have_value("a long thought " * 20)
    workbench.restart()
    page.reload()
    wait_for_desk(page, 2)
    expect(page.locator("textarea")).to_have_value("a long thought " * 20)
    save_button(page).click()
    wait_for_desk(page, 3)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {
        1: [(1, "pass", "")],
        2: [(1, "borderline", "a long thought " * 20)],
    }


def test_a_break_outlasts_a_reload_and_its_time_is_not_counted(
    device: BrowserContext, six_waiting: dict[str, str], sqlite_engine: Engine
) -> None:
    page = device.new_page()
    page.clock.install()
    sit_down(page, six_waiting["kestrel"])
    page.clock.run_for(20_000)
    page.get_by_role("button", name="Take a break").click()
    page.reload()
    expect(page.get_by_role("heading", name="You are on a break")).to_be_visible()
    expect(page.locator(".ib-turns")).to_be_hidden()
    expect(page.get_by_role("button", name="Go on")).to_be_focused()
    for _ in range(6):
        page.keyboard.press("3")
        page.clock.run_for(50_000)
    page.keyboard.press("Enter")
    expect(page.locator(".ib-turns")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    with reading(sqlite_engine) as session:
        counted = session.exec(select(Label.active_seconds)).one()
    assert 20 <= counted < 300
    page.reload()
    wait_for_desk(page, 2)
    expect(page.locator(".ib-rest")).to_have_count(0)


def test_an_answer_sent_while_the_server_is_down_arrives_when_it_is_back(
    device: BrowserContext, six_waiting: dict[str, str], workbench: Workbench, sqlite_engine: Engine
) -> None:
    page = device.new_page()
    sit_down(page, six_waiting["kestrel"])
    page.keyboard.press("3")
    write(page, "said into the void")
    workbench.kill()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".ib-state")).to_have_text(re.compile("Saving|Not saved yet"))
    workbench.start()
    expect(page.locator(".ib-heading")).to_have_text("Conversation 2 of 6")
    assert labels_by_conversation(sqlite_engine, "kestrel") == {1: [(1, "fail", "said into the void")]}


def test_a_second_click_on_save_stores_nothing_more(
    device: BrowserContext, six_waiting: dict[str, str], sqlite_engine: Engine
) -> None:
    page = device.new_page()
    sit_down(page, six_waiting["kestrel"])
    for number, delay in enumerate((0, 250, 900), start=1):
        wait_for_desk(page, number)
        verdict(page, "Pass").click()
        box = save_button(page).bounding_box()
        assert box is not None
        at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.click(*at)
        page.wait_for_timeout(delay)
        page.mouse.click(*at)
        wait_for_desk(page, number + 1)
        page.wait_for_timeout(500)
        assert current(page) == number + 1
        expect(verdict(page, "Pass")).to_have_attribute("aria-pressed", "false")
        done = {n: [(1, "pass", "")] for n in range(1, number + 1)}
        assert labels_by_conversation(sqlite_engine, "kestrel") == done


@pytest.mark.parametrize("at_once", [True, False], ids=["saving at once", "only choosing"])
def test_of_two_tabs_the_older_is_told_and_nothing_is_overwritten(
    device: BrowserContext, six_waiting: dict[str, str], sqlite_engine: Engine, at_once: bool
) -> None:
    older, newer = device.new_page(), device.new_page()
    sit_down(older, six_waiting["kestrel"])
    sit_down(newer, six_waiting["kestrel"])
    verdict(newer, "Pass").click()
    save_button(newer).click()
    wait_for_desk(newer, 2)
    older.bring_to_front()
    older.keyboard.press("3")
    if at_once:
        older.keyboard.press("Control+Enter")
    expect(older.get_by_role("heading", name="You have answered this conversation twice")).to_be_visible()
    expect(older.get_by_text("Saved already: ✓ Pass")).to_be_visible()
    expect(older.get_by_text("Sent just now: ✕ Fail")).to_be_visible()
    assert labels_by_conversation(sqlite_engine, "kestrel") == {1: [(1, "pass", "")]}
    older.get_by_role("button", name="Use the one sent just now").click()
    wait_for_desk(older)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {1: [(1, "pass", ""), (2, "fail", "")]}


def test_an_earlier_answer_can_be_changed_and_stays_on_record(
    device: BrowserContext, six_waiting: dict[str, str], sqlite_engine: Engine
) -> None:
    page = device.new_page()
    sit_down(page, six_waiting["kestrel"])
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    page.get_by_role("link", name="My answers").click()
    page.get_by_role("button", name="Open").click()
    wait_for_desk(page, 1)
    expect(verdict(page, "Pass")).to_have_attribute("aria-pressed", "true")
    verdict(page, "Fail").click()
    page.get_by_label("Why do you change your answer?").fill("I had overlooked turn 3")
    save_button(page).click()
    wait_for_desk(page, 2)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {1: [(1, "pass", ""), (2, "fail", "")]}
    page.get_by_role("link", name="My answers").click()
    expect(page.get_by_text("before that: ✓ Pass")).to_be_visible()


def test_cannot_judge_is_a_reason_and_never_a_verdict(
    device: BrowserContext, six_waiting: dict[str, str], sqlite_engine: Engine
) -> None:
    page = device.new_page()
    sit_down(page, six_waiting["kestrel"])
    page.keyboard.press("0")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Choose a reason first.")).to_be_visible()
    page.get_by_label("It is outside my field").check()
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {1: [(1, "outside_my_field", "")]}


def test_keys_are_quiet_while_typing_and_marks_are_kept(
    device: BrowserContext, six_waiting: dict[str, str], sqlite_engine: Engine
) -> None:
    page = device.new_page()
    sit_down(page, six_waiting["kestrel"])
    verdict(page, "Borderline").click()
    page.get_by_role("button", name="Turn 3 decided").click()
    page.get_by_label("Why? (turn 3 marked)").press_sequentially("1 cr 3 m")
    expect(verdict(page, "Borderline")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {1: [(1, "borderline", "1 cr 3 m")]}


def test_quick_changes_of_mind_store_the_last(
    device: BrowserContext, six_waiting: dict[str, str], sqlite_engine: Engine
) -> None:
    page = device.new_page()
    sit_down(page, six_waiting["kestrel"])
    for word in ("Pass", "Borderline", "Fail"):
        verdict(page, word).click()
        page.wait_for_timeout(150)
    save_button(page).click()
    wait_for_desk(page, 2)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {1: [(1, "fail", "")]}


def test_the_next_conversation_opens_at_its_first_turn(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    long = [{"role": turn["role"], "content": turn["content"] + " word" * 600} for turn in plain_turns(1, 6)]
    desks = set_desks(sqlite_engine, [long, long], "kestrel", base_url=workbench.address)
    workbench.start()
    page = device.new_page()
    sit_down(page, desks["kestrel"].link)
    page.locator("#turn-6").scroll_into_view_if_needed()
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") < 50
    expect(page.locator("#turn-1")).to_be_in_viewport()


def test_the_back_button_of_the_browser_is_harmless(
    device: BrowserContext, six_waiting: dict[str, str], sqlite_engine: Engine
) -> None:
    page = device.new_page()
    sit_down(page, six_waiting["kestrel"])
    for number in (1, 2, 3):
        wait_for_desk(page, number)
        page.keyboard.press("1")
        page.keyboard.press("Control+Enter")
    wait_for_desk(page, 4)
    page.go_back()
    wait_until_idle(page)
    page.go_forward()
    wait_until_idle(page)
    wait_for_desk(page)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {n: [(1, "pass", "")] for n in (1, 2, 3)}
