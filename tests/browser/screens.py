"""What every page owes to everybody: no violation of axe and nothing wider than the screen, dark and light, small and large."""

from collections.abc import Sequence
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.hand import wait_until_idle

Screen = tuple[Literal["dark", "light"], int]
PHONE: Screen = ("dark", 390)
DESKTOP: Screen = ("light", 1280)
SCREENS: list[Screen] = [PHONE, ("light", 390), DESKTOP, ("dark", 1280)]
STREAMLITS_OWN = {
    "[data-testid=stSidebar]",
    "[data-testid=stToolbar]",
    "[data-testid=stHeader]",
    "[data-testid=stDataFrame]",
    "[data-testid=stFileUploaderDropzone]",
}


def violations(page: Page) -> list[str]:
    """What axe says of a page that is whole: what still fades in has too little contrast."""
    wait_until_idle(page)
    return _violations(page, "[data-testid=stMain]", sorted(STREAMLITS_OWN))


def _violations(page: Page, inside: str, apart_from: Sequence[str]) -> list[str]:
    where = {"include": [[inside]], "exclude": [[selector] for selector in apart_from]}
    found = Axe().run(page, context=where)
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found.response["violations"]]


def show_on(page: Page, scheme: Literal["dark", "light"], width: int) -> None:
    """Another screen for the page that is open, as when a window is resized and the system goes dark."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", scheme)


def open_on_a_phone(page: Page, address: str) -> None:
    """Load a page anew, in the dark."""
    page.set_viewport_size({"width": PHONE[1], "height": 900})
    page.emulate_media(color_scheme=PHONE[0])
    page.goto(address)


def look_at(page: Page, address: str, heading: str) -> None:
    """Open a page on a dark phone, then widen and lighten it: both times it fits and is accessible."""
    open_on_a_phone(page, address)
    expect(page.get_by_role("heading", name=heading, exact=True).first).to_be_visible()
    for screen in (PHONE, DESKTOP):
        show_on(page, *screen)
        found = violations(page)
        assert found == [], (address, screen, found)
        assert page.get_by_test_id("stException").count() == 0, address
        assert page.get_by_text("Page not found").count() == 0, address
        too_wide = page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth")
        assert too_wide <= 0, (address, screen)


def look_at_public(page: Page, address: str, heading: str) -> None:
    """The same for a page of the public view, which is whole as soon as it is loaded."""
    for scheme, width in (PHONE, DESKTOP):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        if (scheme, width) == PHONE:
            page.goto(address)
        expect(page.get_by_role("heading", name=heading, exact=True).first).to_be_visible()
        found = _violations(page, "body", [])
        assert found == [], (address, scheme, width, found)
        too_wide = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert too_wide <= 0, (address, scheme, width)
