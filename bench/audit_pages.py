"""How long the audit's own pages take for a large study: the real workbench, asked as a browser asks it.

`python -m bench.audit` runs this after the functions. Every page is opened cold, in a server that was just started and has
shown one other page, so that what it imports is there and nothing of the study is (its own reading ahead has only begun);
then warm, by somebody who opens it anew; and the first one once more after one label was changed. The clock runs from the
first byte sent until the page is complete. Where Chromium is found some are opened in a browser, from the click on the page's
link until its end stands on the screen.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright
from sqlalchemy import Engine

from bench.desk import Measured
from reviews.members.invitations import invite
from tests.browser.rater_client import COOKIE, RaterClient, sign_in
from tests.browser.serving import QUIET, chromium

PAGES = (
    "agreement",
    "study",
    "coverage",
    "raters",
    "missing",
    "contested",
    "judge",
    "retest",
    "own-family",
    "ages",
    "corrected",
    "judges",
    "progress",
)
"""By address; after the first one a label is changed."""
IN_BROWSER = ("agreement", "judge", "contested", "coverage")
NO_TARGET = ("progress",)
"""Pages about collecting, which are no audit."""
ENDS = {
    "agreement": "Items on which experts differ, the most divided first",
    "judge": "Items on which the judge differs from every expert",
    "contested": "Decisions",
    "coverage": "Coverage",
    "forensics": "Check published figures",
}
"""Address -> the last heading of the page."""
LINKS = {
    "agreement": "Agreement",
    "judge": "Judge and experts",
    "contested": "Contested metrics",
    "coverage": "Coverage",
    "forensics": "Published figures",
}
"""Address -> what the sidebar calls it."""
COLD, WARM = 5.0, 0.5
"""Seconds by the clock that a page of the audit may take."""
WARM_OPENINGS = 5
"""In a browser, which takes twice as long for one as for another; their median is shown."""


@dataclass(frozen=True, slots=True)
class Opened:
    """One opening of a page."""

    page: str
    how: str
    seconds: float
    processor: float
    """The server's own."""
    received: int


def open_pages(engine: Engine, url: str, folder: Path, change_one_label: Callable[[], None]) -> list[Opened]:
    """Open every page cold and warm, and the first after one label; `maintainer` must be a person of the database."""
    bench, found = Measured(url, folder), []
    try:
        for page in PAGES:
            bench.restart()
            cookie = sign_in(invite(engine, "maintainer", base_url=bench.address))
            asyncio.run(_open(bench, cookie, "forensics"))
            found += [_timed(bench, cookie, page, how) for how in ("cold", "warm")]
            if page == PAGES[0]:
                change_one_label()
                found.append(_timed(bench, cookie, page, "one label later"))
        if chromium() is not None:
            for page in IN_BROWSER:
                bench.restart()
                cookie = sign_in(invite(engine, "maintainer", base_url=bench.address))
                found += _in_browser(bench, cookie, page)
    finally:
        bench.kill()
    return found


def _timed(bench: Measured, cookie: str, page: str, how: str) -> Opened:
    before = bench.cpu_seconds()
    seconds, received = asyncio.run(_open(bench, cookie, page))
    return Opened(page, how, seconds, bench.cpu_seconds() - before, received)


async def _open(bench: Measured, cookie: str, page: str) -> tuple[float, int]:
    client = RaterClient(bench.address, cookie)
    try:
        reply = await client.open(page=page)
    finally:
        await client.close()
    return reply.seconds, reply.received


def _in_browser(bench: Measured, cookie: str, page: str) -> list[Opened]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(QUIET))
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_cookies([{"name": COOKIE, "value": cookie.partition("=")[2], "url": bench.address}])
        tab = context.new_page()
        tab.goto(f"{bench.address}/forensics")
        _settled(tab)
        cold, *warm = [_one_way_and_back(bench, tab, page) for _ in range(1 + WARM_OPENINGS)]
        browser.close()
    seconds, processor = (median(several) for several in zip(*warm, strict=True))
    return [
        Opened(page, "cold, in a browser", *cold, 0),
        Opened(page, "warm, in a browser", seconds, processor, 0),
    ]


def _one_way_and_back(bench: Measured, tab: Page, page: str) -> tuple[float, float]:
    """Seconds by the clock, and of the server's processor, to open a page from another one."""
    before = bench.cpu_seconds()
    seconds = _followed(tab, page)
    processor = bench.cpu_seconds() - before
    _followed(tab, "forensics")
    tab.wait_for_timeout(300)
    return seconds, processor


_FOLLOW = """
async ([link, ends]) => {
  const clicked = [...document.querySelectorAll("[data-testid=stSidebarNavLink]")].find((one) => one.textContent.includes(link));
  const start = performance.now();
  clicked.click();
  const there = () => [...document.querySelectorAll("[data-testid=stMain] :is(h1, h2)")].some((one) =>
    one.innerText.trim() === ends && one.getBoundingClientRect().height > 0 && one.closest("[data-stale=true]") === null);
  const settled = () => document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning";
  while (!there() || !settled()) await new Promise(requestAnimationFrame);
  return (performance.now() - start) / 1000;
}
"""


def _followed(tab: Page, page: str) -> float:
    """Seconds from the click on a page's link in the sidebar until its last heading stands there and no more is sent."""
    tab.set_default_timeout(180_000)
    return float(tab.evaluate(_FOLLOW, [LINKS[page], ENDS[page]]))


def _settled(tab: Page) -> None:
    tab.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=180_000)


def wanted(one: Opened) -> float | None:
    """Seconds by the clock that an opening may take; None where nothing is wanted."""
    if one.page in NO_TARGET:
        return None
    return {"cold": COLD, "warm": WARM}.get(one.how.partition(",")[0])


def met(found: list[Opened]) -> bool:
    return all(one.seconds < limit for one in found if (limit := wanted(one)) is not None)


def shown(found: list[Opened]) -> str:
    """The table of what was opened."""
    lines = [f"{'the real pages':<42} {'clock':>8} {'processor':>10} {'sent':>9}   wanted"]
    for one in found:
        limit = wanted(one)
        within = "" if limit is None else f"< {limit:g} s: {'met' if one.seconds < limit else 'NOT met'}"
        sent = f"{one.received / 1e6:6.2f} MB" if one.received else ""
        lines.append(
            f"{one.page + ', ' + one.how:<42} {one.seconds:6.2f} s {one.processor:8.2f} s {sent:>9}   {within}"
        )
    return "\n".join(lines)
