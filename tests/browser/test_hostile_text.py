"""Text from models and raters is data: shown as it is, loading nothing, running nothing."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import Engine

from impactbench.store import tables as t
from impactbench.store.engine import writing
from tests.browser.desks import plain_turns, set_desks
from tests.browser.hand import finish, save_button, sit_down, verdict, wait_for_desk, wait_until_idle, write
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser

BEACON = "https://beacon.invalid/pixel.png"
HOSTILE = [
    f"![a beacon]({BEACON}) and <img src='{BEACON}'>",
    "<script>window.struck = true</script><b>bold?</b></script><!--",
    "it costs $5 and $a$ more, :red[really] :smile:",
    "# head\n\n- one\n- two\n\n> quoted",
    f"see [this link]({BEACON}) or {BEACON} or mail@example.invalid",
    "שלום, מה שלומך? ABC\nمرحبا يا Tom",
    "```python\nprint('unclosed fence')\n  <thinking>secret</thinking>",
    "left\u202eright-to-left override",
]


def watch(page: Page, own: str) -> list[str]:
    """Every request of a page to another address than the workbench's."""
    strange: list[str] = []
    page.on(
        "request",
        lambda request: (
            None
            if own in request.url or request.url.startswith(("data:", "blob:"))
            else strange.append(request.url)
        ),
    )
    return strange


def hostile_conversation() -> list[dict[str, str]]:
    return [{"role": role, "content": text} for text in HOSTILE for role in ("user", "assistant")]


def test_a_hostile_transcript_is_shown_verbatim_and_loads_nothing(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(sqlite_engine, [hostile_conversation()], "kestrel", base_url=workbench.address)
    workbench.start()
    page = device.new_page()
    strange = watch(page, f"localhost:{workbench.port}")
    sit_down(page, desks["kestrel"].link)
    shown = page.locator(".ib-text").all_text_contents()
    assert shown == [text.replace("\u202e", "U+202E") for text in HOSTILE for _ in range(2)]
    assert page.locator(".ib-text").locator("img, script, a, b, h1, code, li").count() == 0
    assert all(box.get_attribute("dir") == "auto" for box in page.locator(".ib-text").all())
    assert page.evaluate("getComputedStyle(document.querySelector('.ib-text')).whiteSpace") == "pre-wrap"
    assert page.evaluate("window.struck") is None
    wait_until_idle(page)
    assert strange == []


def test_hostile_names_reasons_and_definitions_do_no_harm_on_any_page(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(
        sqlite_engine, [plain_turns(n) for n in (1, 2)], "kestrel", "owl", base_url=workbench.address
    )
    poison = f"<img src='{BEACON}'> ![x]({BEACON}) $a$ :red[x]"
    with writing(sqlite_engine) as session:
        session.get_one(t.Study, 1).title = poison
        session.get_one(t.Study, 1).notice = poison
        session.get_one(t.MetricVersion, 1).name = poison
        session.get_one(t.MetricVersion, 1).definition = poison
        session.get_one(t.Benchmark, 1).slug = poison
        session.get_one(t.Model, 2).slug = poison
        session.get_one(t.Rater, 2).pseudonym = poison
    workbench.start()
    for name in ("kestrel", "owl"):
        page = device.new_page()
        strange = watch(page, f"localhost:{workbench.port}")
        sit_down(page, desks[name].link)
        for number in (1, 2):
            wait_for_desk(page, number)
            verdict(page, "Pass" if name == "owl" else "Fail").click()
            write(page, poison)
            save_button(page).click()
        finish(page)
        page.get_by_role("link", name="My answers").click()
        expect(page.get_by_text("“" + poison + "”").first).to_be_visible()
        assert strange == []
        page.close()
    page = device.new_page()
    strange = watch(page, f"localhost:{workbench.port}")
    page.goto(desks["maintainer"].link)
    for path, heading in (
        ("study", "Study"),
        ("coverage", "Coverage"),
        ("agreement", "Agreement among experts"),
        ("judge", "Judge and experts"),
        ("contested", "Contested metrics"),
    ):
        page.goto(f"{workbench.address}/{path}")
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        wait_until_idle(page)
        assert page.locator("[data-testid=stMain] img").count() == 0, path
        assert page.locator("[data-testid=stException]").count() == 0, path
    assert strange == []


def test_the_policy_stops_a_beacon_even_if_one_got_into_the_page(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    desks = set_desks(sqlite_engine, [plain_turns(1)], "kestrel", base_url=workbench.address)
    workbench.start()
    page = device.new_page()
    sit_down(page, desks["kestrel"].link)
    reason = page.evaluate(
        """(address) => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation", (event) => resolve(event.violatedDirective));
            const image = new Image();
            image.onload = () => resolve("loaded");
            image.src = address;
            document.body.append(image);
        })""",
        BEACON,
    )
    assert reason == "img-src"
