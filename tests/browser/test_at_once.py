"""Things that happen at the same moment: a slow connection and a quick hand, two experts at one last slot, two ways of sending."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TypeVar

import pytest
from playwright.sync_api import BrowserContext, expect
from sqlalchemy import Engine, update
from sqlmodel import col, select

from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.design.release import SURPLUS, surplus_labels
from tests.browser.desks import labels_by_conversation, plain_turns, set_desks
from tests.browser.hand import current, finish, save_button, sit_down, verdict, wait_for_desk
from tests.browser.rater_client import RaterClient, Reply, sign_in
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser
Result = TypeVar("Result")

SLOWLY = """
const quickly = window.fetch;
window.fetch = async (...asked) => {
  const slow = String(asked[0]).endsWith("/desk");
  if (slow) await new Promise((go) => setTimeout(go, 300));
  const answer = await quickly(...asked);
  if (slow) await new Promise((go) => setTimeout(go, 300));
  return answer;
};
"""
WITHIN = 0.05
"""Seconds."""


def test_clicks_during_a_slow_save_store_each_answer_once_on_its_own_conversation(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(
        sqlite_engine, [plain_turns(n) for n in (1, 2, 3)], "kestrel", base_url=workbench.address
    )
    workbench.start()
    page = device.new_page()
    page.add_init_script(SLOWLY)
    sit_down(page, desks["kestrel"].link)
    verdict(page, "Pass").click()
    box = save_button(page).bounding_box()
    assert box is not None
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(*at)
    page.wait_for_timeout(250)
    page.keyboard.press("3")
    page.mouse.click(*at)
    page.wait_for_timeout(650)
    page.mouse.click(*at)
    wait_for_desk(page, 2)
    page.wait_for_timeout(500)
    assert current(page) == 2
    expect(verdict(page, "Fail")).to_have_attribute("aria-pressed", "false")
    verdict(page, "Borderline").click()
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+Enter")
    wait_for_desk(page, 3)
    verdict(page, "Fail").click()
    save_button(page).click()
    finish(page)
    assert labels_by_conversation(sqlite_engine, "kestrel") == {
        1: [(1, "pass", "")],
        2: [(1, "borderline", "")],
        3: [(1, "fail", "")],
    }


def test_two_experts_at_the_last_slot_within_fifty_milliseconds_both_keep_what_they_said(
    engine: Engine, database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Seats are frozen: nobody takes another's. One was given up and filled again; whoever left comes back all the same."""
    bench = Workbench(database_url, tmp_path_factory.mktemp("last-slot"))
    desks = set_desks(engine, [plain_turns(1), plain_turns(2)], "kestrel", "owl", base_url=bench.address)
    with writing(engine) as session:
        left = session.exec(
            select(t.Assignment)
            .join(t.Rater, col(t.Rater.id) == t.Assignment.rater_id)
            .where(t.Rater.pseudonym == "kestrel", t.Assignment.position == 2)
        ).one()
        session.execute(
            update(t.Assignment).where(col(t.Assignment.id) == left.id).values(released_at=datetime.now(UTC))
        )
        code = left.code
    bench.start()

    async def sit() -> list[Reply]:
        one, other = (RaterClient(bench.address, sign_in(desks[name].link)) for name in ("kestrel", "owl"))
        mine, theirs = await asyncio.gather(one.open(), other.open())
        assert mine.item is not None
        assert theirs.item is not None
        assert (mine.item["total"], theirs.item["total"]) == (1, 2)
        first = await other.tell("save", answered(theirs.item["code"], "pass"))
        assert first.item is not None
        opened = await asyncio.gather(one.tell("go", {"code": code}), later(other.tell("go", first.item)))
        saved = await asyncio.gather(
            one.tell("save", answered(code, "fail")),
            later(other.tell("save", answered(first.item["code"], "pass"))),
        )
        await one.close()
        await other.close()
        return [*opened, *saved]

    try:
        opened = alone(sit())[:2]
        assert [reply.item["code"] == code for reply in opened if reply.item] == [True, False]
        assert labels_by_conversation(engine, "kestrel") == {2: [(1, "fail", "")]}
        assert labels_by_conversation(engine, "owl") == {1: [(1, "pass", "")], 2: [(1, "pass", "")]}
        surplus = surplus_labels(frames.assignments(engine, "winter", slots=True))
        assert surplus[["rater", "because"]].to_numpy().tolist() == [["kestrel", SURPLUS]]
    finally:
        bench.kill()


async def later(work: Coroutine[None, None, Reply]) -> Reply:
    """The same, but half the time later."""
    await asyncio.sleep(WITHIN / 2)
    return await work


def alone(work: Coroutine[None, None, Result]) -> Result:
    """What comes of a coroutine, on a thread of its own: a browser in this process has a loop running on this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def answered(code: str, said: str, *, base_revision: int = 0) -> dict[str, object]:
    return {"code": code, "base_revision": base_revision, "answer": {"verdict": said}}


def test_the_same_answer_past_the_page_and_by_the_page_is_stored_once(
    sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(sqlite_engine, [plain_turns(n) for n in (1, 2)], "kestrel", base_url=workbench.address)
    workbench.start()

    async def sit() -> set[str]:
        cookie = sign_in(desks["kestrel"].link)
        page, past, resent = (RaterClient(workbench.address, cookie) for _ in range(3))
        first = (await page.open()).item
        assert first is not None
        answer = answered(first["code"], "pass")
        replies = await asyncio.gather(
            past.tell("save", answer), page.save(first, {"verdict": "pass"}), resent.tell("save", answer)
        )
        for client in (page, past, resent):
            await client.close()
        return {reply.item["position"] for reply in replies if reply.item}

    assert alone(sit()) == {2}
    assert labels_by_conversation(sqlite_engine, "kestrel") == {1: [(1, "pass", "")]}
