"""How long the public pages take in a browser: from the click on a link until the content is there and a control answers.

Timed is in the browser, from the start of the navigation. A page is *there* when its table, label or text has a size and
the server has nothing more to send; it is *interactive* when, besides, a control reacts to a click (a list opens, a field
takes the focus) or, where it has links alone, at once. Each page is visited by a browser that has never seen it, all its caches empty (a first visit), and then again by the
same (a repeat). The very first of all visitors after a start of the server is a row of its own.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from urllib.parse import urlencode

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.serving import QUIET, chromium

WITHIN = 1.0
"""Seconds until a page must be interactive."""
_PATIENCE = 30_000
_AFTER_START = 0.7
"""Seconds that Chromium needs for itself when it starts."""
_TABLE = ".ib-table tbody tr"
_PICTURE = ".ib-picture"
_CHOICE = '[data-testid="stMain"] [data-testid="stSelectbox"] input'
_SEARCH = '[data-testid="stMain"] [data-testid="stTextInput"] input'
_TEXT = '[data-testid="stMain"] [data-testid="stMarkdown"]'
_OPENS = '[role="listbox"]'
_WATCH = """
(() => {
  const has = (css) => [...document.querySelectorAll(css)].some((one) => one.getBoundingClientRect().height > 0);
  const settled = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    return app !== null && app.dataset.testScriptState === "notRunning" && WANTED.every(has)
      && document.querySelector('[data-stale="true"]') === null;
  };
  const look = () => settled() ? setTimeout(() => { window.ibThere = performance.now(); }, 0) : requestAnimationFrame(look);
  look();
})();
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A page in a state that an address can name."""

    name: str
    path: str
    query: dict[str, str]
    there: tuple[str, ...]
    control: str = ""
    """What is clicked; empty where a page has links alone."""
    reacts: str = ""
    """What a click makes appear; the control has the focus where it is empty."""

    def address(self, base: str, study: str) -> str:
        return f"{base}/{self.path}?{urlencode({'study': study, **self.query})}"


def places(*, model: str, metric: str, conversation: str | None) -> Sequence[Place]:
    """Every public page, those with several views in each."""

    def explore(view: str, *there: str, **query: str) -> Place:
        name = " ".join([f"explore: {view}", *query.values()])
        return Place(name, "explore", {"view": view, **query}, (*there, _PICTURE), _CHOICE, _OPENS)

    found = [
        Place("front", "about", {}, (_TABLE,)),
        Place("label", "label", {"model": model}, (".ib-label .ib-row",), _CHOICE, _OPENS),
        explore("models", _TABLE),
        explore("models", _TABLE, weights="benchmark"),
        explore("models", _TABLE, weights="own"),
        explore("both", _TABLE),
        explore("areas", _TABLE),
        explore("ages"),
        Place("metrics", "metrics", {}, (_TABLE,), _SEARCH),
        Place("metric", "metrics", {"metric": metric}, (_TABLE,)),
        Place("statistics", "statistics", {}, (_TABLE,)),
        Place("over time", "over-time", {"metric": metric}, (_TABLE, _PICTURE), _CHOICE, _OPENS),
        Place("case studies", "cases", {}, (_TABLE if conversation is not None else _TEXT,)),
    ]
    if conversation is not None:
        query = {"metric": metric, "conversation": conversation}
        found.append(Place("conversation", "metrics", query, (".ib-said",), _CHOICE, _OPENS))
    return found


@dataclass(frozen=True, slots=True)
class Visit:
    """Seconds from the start of the navigation."""

    there: float
    interactive: float


def visit(context: BrowserContext, place: Place, address: str) -> Visit:
    page = context.new_page()
    try:
        page.add_init_script(_WATCH.replace("WANTED", json.dumps(place.there)))
        page.goto(address, wait_until="commit")
        page.wait_for_function("window.ibThere !== undefined", timeout=_PATIENCE)
        reacted = None
        if place.control:
            control = page.locator(place.control).first
            control.click()
            if place.reacts:
                page.locator(place.reacts).first.wait_for()
            else:
                control.evaluate("(one) => document.activeElement === one || Promise.reject('no focus')")
            reacted = page.evaluate("performance.now()") / 1000
        there = page.evaluate("window.ibThere") / 1000
    finally:
        page.close()
    return Visit(there, reacted or there)


@contextmanager
def new_visitor(browser: Browser) -> Iterator[BrowserContext]:
    """Somebody who has never seen a page."""
    found = browser.new_context(viewport={"width": 1280, "height": 900})
    yield found
    found.close()


def measure(address: str, study: str, seen: Sequence[Place], *, times: int) -> bool:
    """Print a row a page; whether every page was interactive in time, whoever visits it."""
    met = True
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(QUIET))
        time.sleep(_AFTER_START)
        with new_visitor(browser) as context:
            first = visit(context, seen[0], seen[0].address(address, study))
        print(f"{'':32}{'first visit':>20}{'repeat':>20}")
        print(f"{'page':32}" + f"{'there':>8}{'interactive':>12}" * 2)
        _row(f"after a start: {seen[0].name}", [first])
        for place in seen:
            visits: tuple[list[Visit], list[Visit]] = ([], [])
            for _ in range(times):
                with new_visitor(browser) as context:
                    for several in visits:
                        several.append(visit(context, place, place.address(address, study)))
            met &= _row(place.name, [_middle(several) for several in visits])
        browser.close()
    return met


def _middle(several: Sequence[Visit]) -> Visit:
    return Visit(median(one.there for one in several), median(one.interactive for one in several))


def _row(name: str, visits: Sequence[Visit]) -> bool:
    cells = "".join(f"{one.there:8.2f}{one.interactive:12.2f}" for one in visits)
    met = all(one.interactive <= WITHIN for one in visits)
    print(f"{name:32}{cells}{'' if met else '   late'}", flush=True)
    return met
