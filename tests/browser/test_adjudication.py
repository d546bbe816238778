"""Settling items in a real browser: once, in place, and without a word of raters, model or judge."""

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import LabelVerdict
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
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
from tests.browser.screens import violations
from tests.browser.serving import Workbench
from tests.browser.test_blindness import Ear

pytestmark = pytest.mark.browser
RATERS = ("another-rater-wren", "another-rater-heron")
HOSTILE = "<img src=x onerror=alert(1)> **bold** [link](http://example.org)"


def divide(engine: Engine) -> None:
    """One rater passes everything and the other fails it, each with a reason."""
    with writing(engine) as session:
        for assignment in session.exec(select(t.Assignment).order_by(t.Assignment.id)).all():  # type: ignore[arg-type]
            passes = assignment.rater_id % 2 == 0
            session.add(
                t.Label(
                    assignment_id=assignment.id,
                    revision=1,
                    operation=f"{assignment.id}",
                    status="submitted",
                    verdict=LabelVerdict.PASS if passes else LabelVerdict.FAIL,
                    rationale=f"reason {'for' if passes else 'against'} {assignment.position} {HOSTILE}",
                )
            )


def decisions(engine: Engine) -> list[tuple[int, int, str, str]]:
    with reading(engine) as session:
        rows = session.exec(select(t.Adjudication).order_by(t.Adjudication.id)).all()  # type: ignore[arg-type]
    return [(row.conversation_id, row.revision, row.verdict, row.because) for row in rows]


def settle(page: Page, verdict: str, because: str) -> None:
    page.get_by_text(verdict, exact=True).and_(page.locator("[role=radiogroup] *")).first.click()
    page.get_by_label("Because").fill(because)


def test_an_item_is_settled_once_in_place_and_without_a_name(
    device: BrowserContext, sqlite_engine: Engine, workbench: Workbench
) -> None:
    named = plain_turns(2)
    named[1] = {"role": "assistant", "content": f"As {MODEL}, made by {MAKER}, I say: {HOSTILE}"}
    desks = set_desks(
        sqlite_engine, [named, plain_turns(2), plain_turns(3)], *RATERS, base_url=workbench.address
    )
    divide(sqlite_engine)
    workbench.start()
    page = device.new_page()
    page.goto(desks["maintainer"].link)
    expect(page.get_by_role("link", name="Adjudication")).to_be_visible()

    fresh = device.new_page()
    ear = Ear(fresh)
    fresh.goto(f"{workbench.address}/adjudicate")
    expect(fresh.get_by_text("3 items wait to be settled (3 ties); 0 are settled.")).to_be_visible()
    expect(fresh.get_by_text("Item 1 of 3")).to_be_visible()
    assert fresh.locator("img[src=x]").count() == 0
    assert violations(fresh) == []

    fresh.get_by_role("button", name="Save and next").click()
    expect(fresh.get_by_text("Not saved: choose a verdict, and say why")).to_be_visible()
    expect(fresh.get_by_text("Item 1 of 3")).to_be_visible()

    settle(fresh, "✕ Fail", "it never asks")
    fresh.get_by_role("button", name="Save and next").dblclick()
    expect(fresh.get_by_text("2 items wait to be settled (2 ties); 1 are settled.")).to_be_visible()
    expect(fresh.get_by_text("Item 2 of 3")).to_be_visible()
    ((settled, revision, verdict, because),) = decisions(sqlite_engine)
    assert (revision, verdict, because) == (1, "fail", "it never asks")

    fresh.get_by_role("button", name="Next", exact=True).click()
    expect(fresh.get_by_text("Item 3 of 3")).to_be_visible()
    fresh.reload()
    expect(fresh.get_by_text("Item 3 of 3")).to_be_visible()

    fresh.get_by_role("button", name="Previous", exact=True).click()
    expect(fresh.get_by_text("Item 2 of 3")).to_be_visible()
    fresh.get_by_role("button", name="Previous", exact=True).click()
    expect(fresh.get_by_text("Item 1 of 3")).to_be_visible()
    expect(fresh.get_by_label("Because")).to_have_count(1)
    expect(fresh.get_by_label("Because")).to_have_value("it never asks")
    fresh.get_by_label("Because").fill("on second thoughts")
    fresh.get_by_role("button", name="Save the change").focus()
    fresh.keyboard.press("Enter")
    expect(fresh.get_by_text("Saved at")).to_be_visible()
    assert decisions(sqlite_engine) == [
        (settled, 1, "fail", "it never asks"),
        (settled, 2, "fail", "on second thoughts"),
    ]

    assert ear.find("reason for"), "the ear must hear what the page shows"
    assert ear.find("[name hidden]")
    for secret in (MODEL, FAMILY, MAKER, JUDGE, JUDGE_FAMILY, VERDICT_TEXT, *RATERS, "polarity"):
        assert not ear.find(secret), f"the server sent {secret!r} to whoever adjudicates"
    assert not any(b"external" in one for one in ear.heard), "the server sent the panel of an expert"
