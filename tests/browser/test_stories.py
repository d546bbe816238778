"""What raters of other tools lost, doubled, saw or could not type: each story on one running workbench, on SQLite and
on PostgreSQL, every rater with a story of their own.
"""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import connect, reading
from reviews.design.progress import count_slots
from reviews.rating import worklist
from tests.browser.desks import VERDICT_TEXT, Desk, labels_by_conversation, plain_turns, set_desks
from tests.browser.hand import (
    current,
    save_button,
    sit_down,
    verdict,
    wait_for_desk,
    wait_for_draft,
    wait_until_idle,
    write,
)
from tests.browser.rater_client import RaterClient, sign_in
from tests.browser.serving import Workbench
from tests.conftest import KINDS
from tests.databases import PostgresServer

pytestmark = pytest.mark.browser
SQLITE = pytest.mark.parametrize("hall", ["sqlite"], indirect=True)
"""For what happens in the browser alone."""
RATERS = ("auk", "bittern", "coot", "dunlin", "egret", "finch", "grebe", "heron", "ibis", "jay")
OPINION = "THE-OPINION-OF-ANOTHER-RATER"


@dataclass(frozen=True)
class Hall:
    """A running workbench in which everybody rates the same five conversations."""

    bench: Workbench
    engine: Engine
    desks: dict[str, Desk]

    def said(self, rater: str) -> dict[int, list[tuple[int, str, str]]]:
        return labels_by_conversation(self.engine, rater)


@pytest.fixture(scope="module", params=KINDS)
def hall(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hall")
    with ExitStack() as stack:
        if request.param == "sqlite":
            template: Path = request.getfixturevalue("sqlite_template")
            url = f"sqlite:///{shutil.copy(template, folder / 'impactbench.db')}"
        else:
            server: PostgresServer = request.getfixturevalue("postgres")
            url = stack.enter_context(server.database(template="migrated"))
        engine, bench = connect(url), Workbench(url, folder)
        conversations = [plain_turns(number) for number in range(1, 6)]
        desks = set_desks(engine, conversations, *RATERS, base_url=bench.address)
        stack.callback(engine.dispose)
        stack.callback(bench.kill)
        bench.start()
        yield Hall(bench, engine, desks)


def rate(page: Page, number: int, key: str) -> None:
    wait_for_desk(page, number)
    page.keyboard.press(key)
    page.keyboard.press("Control+Enter")


def heard_by(page: Page) -> list[bytes]:
    """Everything that a page receives over its socket or as an answer."""
    heard: list[bytes] = []
    page.on(
        "websocket",
        lambda socket: socket.on(
            "framereceived", lambda frame: heard.append(frame if isinstance(frame, bytes) else frame.encode())
        ),
    )
    page.on("response", lambda answer: heard.append(answer.body() if answer.url.endswith("/desk") else b""))
    return heard


def test_a_restart_in_a_long_thought_brings_back_the_words_and_the_half_made_choice(
    hall: Hall, device: BrowserContext
) -> None:
    page = device.new_page()
    sit_down(page, hall.desks["auk"].link)
    verdict(page, "Borderline").click()
    write(page, "a long thought " * 100)
    wait_for_draft(page)
    hall.bench.restart()
    page.reload()
    wait_for_desk(page, 1)
    expect(verdict(page, "Borderline")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("textarea").first).to_have_value("a long thought " * 100)
    save_button(page).click()
    wait_for_desk(page, 2)
    assert hall.said("auk") == {1: [(1, "borderline", "a long thought " * 100)]}


def test_of_two_tabs_the_older_is_told_and_both_answers_stay_in_the_history(
    hall: Hall, device: BrowserContext
) -> None:
    older, newer = device.new_page(), device.new_page()
    sit_down(older, hall.desks["bittern"].link)
    sit_down(newer, hall.desks["bittern"].link)
    rate(newer, 1, "1")
    wait_for_desk(newer, 2)
    older.bring_to_front()
    older.keyboard.press("3")
    older.keyboard.press("Control+Enter")
    expect(older.get_by_role("heading", name="You have answered this conversation twice")).to_be_visible()
    assert hall.said("bittern") == {1: [(1, "pass", "")]}
    older.get_by_role("button", name="Use the one sent just now").click()
    wait_for_desk(older)
    assert hall.said("bittern") == {1: [(1, "pass", ""), (2, "fail", "")]}


def test_back_twice_opens_the_earlier_answer_as_an_edit(hall: Hall, device: BrowserContext) -> None:
    page = device.new_page()
    sit_down(page, hall.desks["coot"].link)
    for number in (1, 2, 3):
        rate(page, number, "1")
    wait_for_desk(page, 4)
    for number in (3, 2):
        page.get_by_role("button", name="Back").click()
        wait_for_desk(page, number)
    expect(verdict(page, "Pass")).to_have_attribute("aria-pressed", "true")
    verdict(page, "Fail").click()
    save_button(page).click()
    wait_for_desk(page, 4)
    page.go_back()
    wait_until_idle(page)
    page.go_forward()
    wait_for_desk(page)
    assert hall.said("coot") == {
        1: [(1, "pass", "")],
        2: [(1, "pass", ""), (2, "fail", "")],
        3: [(1, "pass", "")],
    }


def test_what_is_skipped_is_not_offered_again_and_counts_as_skipped(
    hall: Hall, device: BrowserContext
) -> None:
    page = device.new_page()
    sit_down(page, hall.desks["dunlin"].link)
    page.keyboard.press("0")
    page.get_by_label("It is too distressing for me to read").check()
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    seen = []
    for _ in range(3):
        wait_for_desk(page)
        number = current(page)
        seen.append(number)
        rate(page, number, "1")
        expect(page.locator(".ib-heading")).not_to_have_text(f"Conversation {number} of 5")
    page.reload()
    wait_for_desk(page)
    assert [*seen, current(page)] == [2, 3, 4, 5]
    counts = count_slots(frames.assignments(hall.engine, "winter", slots=True), frames.metrics(hall.engine))
    of_rater = counts.by_rater.set_index("rater").loc["dunlin"]
    assert of_rater[["done", "skipped", "cannot_judge", "waiting"]].tolist() == [3, 1, 0, 1]


def test_nothing_that_another_rater_said_is_sent_before_or_after_ones_own_answer(
    hall: Hall, browser: Browser, device: BrowserContext
) -> None:
    first, page = browser.new_context().new_page(), device.new_page()
    sit_down(first, hall.desks["egret"].link)
    verdict(first, "Fail").click()
    write(first, OPINION)
    save_button(first).click()
    wait_for_desk(first, 2)
    heard = heard_by(page)
    sit_down(page, hall.desks["finch"].link)
    rate(page, 1, "1")
    wait_for_desk(page, 2)
    page.get_by_role("link", name="My answers").click()
    expect(page.get_by_text("You have answered 1 of 5")).to_be_visible()
    everything = b"\n".join(heard)
    assert b"conversation 1, turn 1" in everything
    assert [word for word in (OPINION, "egret", VERDICT_TEXT) if word.encode() in everything] == []
    first.context.close()


def run(work: Coroutine[None, None, Any]) -> Any:
    """What comes of a coroutine, on a thread of its own: the browser has a loop running on this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def test_two_raters_who_load_at_once_twenty_times_never_get_each_others_item(hall: Hall) -> None:
    with reading(hall.engine) as session:
        ids = {one.pseudonym: one.id or 0 for one in session.exec(select(t.Rater)).all()}
    pair = {name: sign_in(hall.desks[name].link) for name in ("grebe", "heron")}
    own = {name: worklist.codes(hall.engine, ids[name]) for name in pair}

    async def load(name: str) -> list[str]:
        codes = []
        for _ in range(20):
            client = RaterClient(hall.bench.address, pair[name])
            reply = await client.open()
            codes.append(str((reply.item or {}).get("code")))
            await client.close()
        return codes

    async def both() -> list[list[str]]:
        return await asyncio.gather(*(load(name) for name in pair))

    for name, codes in zip(pair, run(both()), strict=True):
        assert len(codes) == 20
        assert set(codes) <= set(own[name])


def press(page: Page, **event: Any) -> None:
    """A key as a keyboard of another layout, or a way of writing, sends it."""
    page.evaluate(
        "(event) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, cancelable: true, ...event}))",
        event,
    )


@SQLITE
def test_keys_work_on_the_numpad_and_on_azerty_and_not_while_composing(
    hall: Hall, device: BrowserContext
) -> None:
    page = device.new_page()
    sit_down(page, hall.desks["ibis"].link)
    pressed: Callable[[str], Any] = lambda word: expect(verdict(page, word))  # noqa: E731
    press(page, key="1", code="Numpad1")
    pressed("Pass").to_have_attribute("aria-pressed", "true")
    press(page, key="é", code="Digit2")
    pressed("Borderline").to_have_attribute("aria-pressed", "true")
    press(page, key='"', code="Digit3")
    pressed("Fail").to_have_attribute("aria-pressed", "true")
    press(page, key="1", code="Digit1", isComposing=True)
    pressed("Fail").to_have_attribute("aria-pressed", "true")
    page.locator("textarea").first.focus()
    press(page, key="Process", code="Digit1", isComposing=True)
    press(page, key="Enter", code="Enter", ctrlKey=True, isComposing=True)
    page.keyboard.insert_text("判断する 1 2")
    pressed("Fail").to_have_attribute("aria-pressed", "true")
    assert current(page) == 1
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    assert hall.said("ibis") == {1: [(1, "fail", "判断する 1 2")]}


@SQLITE
def test_on_a_phone_the_first_tap_after_typing_saves_the_words(hall: Hall, browser: Browser) -> None:
    phone = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = phone.new_page()
    sit_down(page, hall.desks["jay"].link)
    page.locator(".ib-end").scroll_into_view_if_needed()
    verdict(page, "Pass").tap()
    field = page.locator("textarea").first
    field.tap()
    page.keyboard.type("typed with the thumbs")
    save_button(page).tap()
    wait_for_desk(page, 2)
    assert hall.said("jay") == {1: [(1, "pass", "typed with the thumbs")]}
    phone.close()
