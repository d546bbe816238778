"""How long the public pages take in a browser: from the start of the navigation until the content is there and works.

A page is *there* when all of it has arrived and its table, label or text has a size; it is *interactive* when, besides, its
script has run and a control takes a click, or, where it has links alone, at once. *Chosen* is how long another choice takes,
from the change until the page shows it. Each page is visited by a browser that has never seen it, all its caches empty (a
first visit), and then again by the same (a repeat). The first of all visitors after a start of the server has a row of
its own.
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
_AFTER_START = 0.7
"""Seconds that Chromium needs for itself when it starts."""
_TABLE = ".ib-table tbody tr"
_PICTURE = ".ib-picture"
_TEXT = "main p"
_CONTROL = ".ib-choices :is(select, input[type=radio] + span, input[type=search])"
_WATCH = """
(() => {
  const has = (css) => [...document.querySelectorAll(css)].some((one) => one.getBoundingClientRect().height > 0);
  const settled = () => document.readyState !== "loading" && WANTED.every(has);
  const until = (holds) => new Promise((resolve) => {
    const look = () => holds() ? setTimeout(() => resolve(performance.now()), 0) : requestAnimationFrame(look);
    look();
  });
  window.ibThere = until(settled);
  window.ibWorks = until(() => settled() && document.documentElement.classList.contains("ib-scripted"));
})();
"""
_CHOOSE = """
async () => {
  const main = document.querySelector("main"), start = performance.now();
  const other = [...document.querySelectorAll(".ib-choices > :not(details) :is(option, input[type=radio])")].find((one) => one.value
    && !(one.selected || one.checked) && !one.closest('[name="study"]'));
  if (!other) return null;
  const field = other.closest("select") ?? other;
  if (other.matches("option")) field.value = other.value; else other.checked = true;
  field.dispatchEvent(new Event("change", { bubbles: true }));
  while (document.querySelector("main") === main) await new Promise(requestAnimationFrame);
  document.querySelector("main").getBoundingClientRect();
  return performance.now() - start;
}
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A page in a state that an address can name."""

    name: str
    path: str
    query: dict[str, str]
    there: tuple[str, ...]
    chooses: bool = False
    """Whether it has choices; else it has links alone."""

    def address(self, base: str, study: str) -> str:
        return f"{base}/{self.path}?{urlencode({'study': study, **self.query})}"


def places(*, model: str, metric: str, conversation: str | None) -> Sequence[Place]:
    """Every public page, those with several views in each."""

    def explore(view: str, *there: str, **query: str) -> Place:
        name = " ".join([f"explore: {view}", *query.values()])
        return Place(name, "explore", {"view": view, **query}, (*there, _PICTURE), chooses=True)

    found = [
        Place("front", "about", {}, (".ib-ways li",)),
        Place("label", "label", {"model": model}, (".ib-label .ib-row",), chooses=True),
        explore("models", _TABLE),
        explore("models", _TABLE, weights="benchmark"),
        explore("models", _TABLE, weights="own"),
        explore("both", _TABLE),
        explore("areas", _TABLE),
        explore("ages"),
        Place("metrics", "metrics", {}, (_TABLE,), chooses=True),
        Place("metric", "metrics", {"metric": metric}, (_TABLE,)),
        Place("statistics", "statistics", {}, (_TABLE,)),
        Place("over time", "over-time", {"metric": metric}, (_TABLE, _PICTURE), chooses=True),
        Place("case studies", "cases", {}, (_TABLE if conversation is not None else _TEXT,)),
    ]
    if conversation is not None:
        query = {"metric": metric, "conversation": conversation}
        found.append(Place("conversation", "metrics", query, (".ib-said",), chooses=True))
    return found


@dataclass(frozen=True, slots=True)
class Visit:
    """Seconds from the start of the navigation, and of another choice."""

    there: float
    interactive: float
    chosen: float | None


def visit(context: BrowserContext, place: Place, address: str) -> Visit:
    page = context.new_page()
    try:
        page.add_init_script(_WATCH.replace("WANTED", json.dumps(place.there)))
        page.goto(address, wait_until="commit")
        there = page.evaluate("window.ibThere") / 1000
        page.evaluate("window.ibWorks")
        if not place.chooses:
            return Visit(there, there, None)
        page.locator(_CONTROL).first.click()
        interactive = page.evaluate("performance.now()") / 1000
        page.wait_for_load_state()
        chosen = page.evaluate(_CHOOSE)
    finally:
        page.close()
    return Visit(there, interactive, None if chosen is None else chosen / 1000)


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
        print(f"{'':32}{'first visit':>28}{'repeat':>28}")
        print(f"{'page':32}" + f"{'there':>8}{'interactive':>12}{'chosen':>8}" * 2)
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
    chosen = [one.chosen for one in several if one.chosen is not None]
    return Visit(
        median(one.there for one in several),
        median(one.interactive for one in several),
        median(chosen) if chosen else None,
    )


def _row(name: str, visits: Sequence[Visit]) -> bool:
    cells = "".join(f"{one.there:8.2f}{one.interactive:12.2f}{_seconds(one.chosen)}" for one in visits)
    met = all(max(one.interactive, one.chosen or 0) <= WITHIN for one in visits)
    print(f"{name:32}{cells}{'' if met else '   late'}", flush=True)
    return met


def _seconds(one: float | None) -> str:
    return f"{'–' if one is None else format(one, '.2f'):>8}"
