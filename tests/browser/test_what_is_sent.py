"""Every page, for everybody, at every stage of a study: what the server sends is what the policy allows, and no more."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from impactbench.domain import LabelVerdict, Role
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk
from reviews.blindness.visibility import Seen, Stage, Viewer, may_see
from reviews.labels import Answer
from reviews.members.invitations import make_token
from reviews.rating import worklist
from tests.browser.desks import FAMILY, JUDGE, MAKER, MODEL, VERDICT_TEXT, plain_turns, set_desks
from tests.browser.rater_client import RaterClient, sign_in
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser

OPINION, OTHER = "THE-OPINION-OF-THE-OTHER", "another-rater-wren"
SECRETS = {
    Seen.RATIONALES: [OPINION],
    Seen.RATER_NAMES: [OTHER],
    Seen.VERDICT: [VERDICT_TEXT, JUDGE],
    Seen.MODEL_NAME: [MODEL, FAMILY, MAKER],
}
PEOPLE = {Role.EXPERT: "kestrel", Role.METHODOLOGIST: "methodologist", Role.MAINTAINER: "maintainer"}
PAGES = """
import streamlit as st
from app import navigation
from impactbench.domain import Role
from impactbench.store.tables import Rater

def paths(role):
    pages = navigation.pages_for(Rater(id=1, pseudonym="x", role=role))
    sections = pages.values() if isinstance(pages, dict) else [pages]
    return [page.url_path for section in sections for page in section]

st.session_state["paths"] = {str(role): paths(role) for role in Role}
"""


@pytest.fixture
def rated(sqlite_engine: Engine, workbench: Workbench) -> Workbench:
    """Another rater has said fail, with a reason, where the judge says what it says; kestrel has said pass."""
    named = plain_turns(2)
    named[1]["content"] = f"As {MODEL} by {MAKER} I would say so."
    set_desks(sqlite_engine, [plain_turns(1), named], "kestrel", OTHER, base_url=workbench.address)
    for name, verdict, why in ((OTHER, LabelVerdict.FAIL, OPINION), ("kestrel", LabelVerdict.PASS, "mine")):
        with reading(sqlite_engine) as session:
            rater = session.exec(select(t.Rater.id).where(t.Rater.pseudonym == name)).one() or 0
        for code in worklist.codes(sqlite_engine, rater)[: 2 if name == OTHER else 1]:
            desk.record_exposure(sqlite_engine, rater, code)
            desk.save(sqlite_engine, rater, code, Answer(verdict=verdict, rationale=why), base_revision=0)
    workbench.start()
    return workbench


def put_at(engine: Engine, stage: Stage) -> None:
    with writing(engine) as session:
        one = session.exec(select(t.ReviewSet)).one()
        one.locked_at = t.now() if stage >= Stage.LOCKED else None
        one.reported_at = t.now() if stage is Stage.REPORTED else None


async def received(address: str, cookie: str, paths: list[str]) -> dict[str, bytes]:
    """Path -> everything that the server sends to whoever opens it."""
    sent = {}
    for path in paths:
        client = RaterClient(address, cookie)
        sent[path] = bytes((await client.open(page=path)).raw)
        await client.close()
    return sent


def test_no_page_sends_what_its_reader_may_not_see_at_that_stage(
    rated: Workbench, sqlite_engine: Engine
) -> None:
    listing = AppTest.from_string(PAGES, default_timeout=120).run()
    assert not listing.exception
    paths: dict[str, list[str]] = listing.session_state["paths"]
    everywhere = sorted({path for own in paths.values() for path in own})
    cookies = {
        role: sign_in(f"{rated.address}/enter/{make_token(sqlite_engine, name)}")
        for role, name in PEOPLE.items()
    }
    leaked, seen = [], set()
    for stage in (Stage.COLLECTING, Stage.LOCKED, Stage.REPORTED):
        put_at(sqlite_engine, stage)
        visits: list[tuple[Role | None, str, list[str]]] = [
            (role, cookies[role], paths[role]) for role in Role
        ]
        if stage is Stage.LOCKED:  # readers may see what they could before; ties are settled now
            visits = [*visits[:1], (Role.MAINTAINER, cookies[Role.MAINTAINER], ["adjudicate"])]
        if stage is Stage.COLLECTING:
            visits += [(Role.EXPERT, cookies[Role.EXPERT], everywhere), (None, "", everywhere)]
        for role, cookie, opened in visits:
            with ThreadPoolExecutor(1) as thread:
                sent = thread.submit(asyncio.run, received(rated.address, cookie, opened)).result()
            for path, body in sent.items():
                viewer = Viewer.ADJUDICATOR if path == "adjudicate" and role else Viewer.of(role)
                for what, words in SECRETS.items():
                    found = [word for word in words if word.encode() in body]
                    if found:
                        seen.add((viewer, what))
                    if found and not may_see(viewer, what, stage):
                        leaked.append((str(viewer), stage.name, path, str(what), found))
    assert leaked == []
    assert {(Viewer.METHODOLOGIST, Seen.RATER_NAMES), (Viewer.ADJUDICATOR, Seen.RATIONALES)} <= seen
