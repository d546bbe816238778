"""What a rater's hands and eyes do."""

import re
from itertools import count

from playwright.sync_api import Locator, Page, expect

_CALLS = count()
_IDLE = """(call) => {
    const app = document.querySelector('[data-testid=stApp]');
    const endless = (one) => one.effect?.getComputedTiming().endTime === Infinity;
    const idle =
        app?.getAttribute('data-test-script-state') === 'notRunning' &&
        app.getAttribute('data-test-connection-state') === 'CONNECTED' &&
        document.querySelector('[data-stale=true], [data-testid=stSkeleton]') === null &&
        document.getAnimations().every((one) => one.playState !== 'running' || endless(one));
    const before = window.idleSince?.call === call ? window.idleSince.times : 0;
    window.idleSince = {call, times: idle ? before + 1 : 0};
    return window.idleSince.times >= 3;
}"""


def wait_until_idle(page: Page) -> None:
    """Until the page is whole: its script has ended, nothing is about to be replaced, and nothing fades or moves."""
    page.wait_for_function(_IDLE, arg=next(_CALLS), polling=50, timeout=60_000)


def sit_down(page: Page, link: str) -> None:
    """Open the personal link and wait for the desk."""
    come_in(page, link)
    wait_for_desk(page)


def come_in(page: Page, link: str) -> None:
    """Open a personal link and use it, unless this device is signed in with it already."""
    page.goto(link)
    start = page.get_by_role("button", name="Start on this device")
    if start.is_visible():
        start.click()


def wait_for_desk(page: Page, number: int | None = None) -> None:
    shown = str(number) if number else "[0-9]+"
    expect(page.locator(".ib-heading")).to_have_text(re.compile(f"Conversation {shown} of [0-9]+"))
    expect(page.locator(".ib-save:visible, .ib-bar:visible").first).to_be_visible()


def current(page: Page) -> int:
    found = re.search(r"Conversation (\d+) of", page.locator(".ib-heading").inner_text())
    if not found:
        raise AssertionError("no conversation is shown")
    return int(found.group(1))


def save_button(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile("Save and next|Save the change"))


def verdict(page: Page, word: str) -> Locator:
    return page.get_by_role("group", name="Your verdict").get_by_role("button", name=word)


def write(page: Page, text: str) -> None:
    page.get_by_label(re.compile("^Why\\?")).fill(text)


def wait_for_draft(page: Page) -> None:
    expect(page.locator(".ib-state")).to_have_text(re.compile("draft kept"))


def finish(page: Page) -> None:
    """Answer the closing questions, and be thanked."""
    expect(page.get_by_role("heading", name="Before you go")).to_be_visible()
    page.get_by_text("no", exact=True).click()
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", name="Thank you: all done")).to_be_visible()
