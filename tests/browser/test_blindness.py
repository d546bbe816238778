"""What the server sends to a rater, over a whole session, holds nothing that must stay hidden."""

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, WebSocket, expect
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.store import tables as t
from impactbench.store.engine import reading
from tests.browser.desks import (
    FAMILY,
    JUDGE,
    JUDGE_FAMILY,
    MAKER,
    MODEL,
    VERDICT_TEXT,
    plain_turns,
    set_desks,
)
from tests.browser.hand import (
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
OPINION = "THE-OPINION-OF-THE-OTHER-RATER"


class Ear:
    """Everything that a page receives."""

    def __init__(self, page: Page) -> None:
        self.heard: list[bytes] = []
        page.on("websocket", self._listen)
        page.on("response", self._keep)

    def _listen(self, socket: WebSocket) -> None:
        socket.on(
            "framereceived",
            lambda frame: self.heard.append(frame if isinstance(frame, bytes) else frame.encode()),
        )

    def _keep(self, response: Response) -> None:
        self.heard.append(repr(response.headers).encode())
        if "text" in response.headers.get("content-type", "") or "json" in response.headers.get(
            "content-type", ""
        ):
            self.heard.append(response.body() if response.ok else b"")

    def find(self, word: str) -> bool:
        everything = b"\n".join(self.heard)
        return re.search(re.escape(word.encode()), everything, re.IGNORECASE) is not None


def test_a_whole_session_holds_no_model_judge_or_other_raters_opinion(
    browser: Browser, sqlite_engine: Engine, workbench: Workbench
) -> None:
    named = plain_turns(2)
    named[3]["content"] = f"As {MODEL}, made by {MAKER}, I would say: it depends. {FAMILY.title()} models do."
    desks = set_desks(
        sqlite_engine,
        [plain_turns(1), named, plain_turns(3)],
        "kestrel",
        "another-rater-wren",
        base_url=workbench.address,
    )
    workbench.start()
    first = browser.new_context().new_page()
    sit_down(first, desks["another-rater-wren"].link)
    for number in (1, 2, 3):
        wait_for_desk(first, number)
        verdict(first, "Fail").click()
        write(first, OPINION)
        save_button(first).click()
    finish(first)

    page = browser.new_context().new_page()
    ear = Ear(page)
    sit_down(page, desks["kestrel"].link)
    for number in (1, 2, 3):
        wait_for_desk(page, number)
        if number == 2:
            expect(page.get_by_text("[name hidden]").first).to_be_visible()
        page.locator("summary").first.click()
        verdict(page, "Pass").click()
        write(page, f"mine {number}")
        wait_for_draft(page)
        save_button(page).click()
    finish(page)
    page.get_by_role("link", name="My answers").click()
    page.get_by_role("button", name="Open conversation 2").or_(
        page.get_by_role("button", name="Open")
    ).first.click()
    wait_for_desk(page)
    page.reload()
    wait_for_desk(page)

    assert ear.find("conversation 1, turn 1"), "the ear must hear what the page shows"
    for secret in (
        MODEL,
        FAMILY,
        MAKER,
        JUDGE,
        JUDGE_FAMILY,
        VERDICT_TEXT,
        OPINION,
        "another-rater-wren",
        "polarity",
    ):
        assert not ear.find(secret), f"the server sent {secret!r} to a rater"
    first.context.close()
    page.context.close()


def test_every_item_that_is_shown_is_put_on_record(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(sqlite_engine, [plain_turns(1), plain_turns(2)], "kestrel", base_url=workbench.address)
    workbench.start()
    page = device.new_page()
    sit_down(page, desks["kestrel"].link)
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 2)
    with reading(sqlite_engine) as session:
        shown = session.exec(select(t.Exposure.assignment_id)).all()
    assert sorted(shown) == [1, 2]


def test_a_rater_gets_no_page_of_the_audit(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(sqlite_engine, [plain_turns(1)], "kestrel", base_url=workbench.address)
    workbench.start()
    page = device.new_page()
    sit_down(page, desks["kestrel"].link)
    ear = Ear(page)
    for path in ("study", "coverage", "agreement", "judge", "contested"):
        page.goto(f"{workbench.address}/{path}")
        wait_until_idle(page)
        assert not ear.find(JUDGE), path
        assert not ear.find(MODEL), path
    assert ear.find("Signed in as kestrel"), "the ear must hear what the page shows"


def test_without_a_link_nobody_sees_anything(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(sqlite_engine, [plain_turns(1)], "kestrel", base_url=workbench.address)
    workbench.start()
    page = device.new_page()
    ear = Ear(page)
    page.goto(workbench.address)
    expect(page.get_by_text("Please open the personal link")).to_be_visible()
    device.add_cookies(
        [{"name": "impactbench_person", "value": "forged.forged.forged", "url": workbench.address}]
    )
    page.reload()
    expect(page.get_by_text("Please open the personal link")).to_be_visible()
    refused = page.goto(desks["kestrel"].link + "x")
    assert refused is not None
    assert refused.status == 404
    expect(page.get_by_role("heading", name="This link does not work")).to_be_visible()
    assert not ear.find("conversation 1")


def test_the_cookie_is_hidden_from_scripts(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(sqlite_engine, [plain_turns(1)], "kestrel", base_url=workbench.address)
    workbench.start()
    page = device.new_page()
    sit_down(page, desks["kestrel"].link)
    (cookie,) = [one for one in device.cookies() if one["name"] == "impactbench_person"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    assert desks["kestrel"].link.rsplit("/", 1)[1] not in cookie["value"]
