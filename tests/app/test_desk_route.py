"""The short way of the desk: what it does, and what it refuses without anything being changed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlmodel import func, select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app import desk_route
from app.sign_in import COOKIE, _signer
from impactbench.domain import AssignmentReason, Role
from impactbench.settings import Settings
from impactbench.store import tables as t
from impactbench.store.engine import reading, writing
from reviews import desk
from reviews.members.devices import add_device
from reviews.rating import worklist
from reviews.rating.repeat_spacing import REST
from tests.browser.desks import plain_turns, set_desks

HOME = "http://testserver"
SAID = {"verdict": "pass", "rationale": "so it is"}
KEPT = (t.Label, t.Draft, t.Response, t.Exposure)


@dataclass(frozen=True)
class Post:
    """Posts to the desk as somebody."""

    engine: Engine
    client: TestClient
    cookies: dict[str, str]
    codes: list[str]

    def __call__(
        self, kind: str, *, who: str = "kestrel", headers: dict[str, str] | None = None, **sent: Any
    ) -> Any:
        message = {"kind": kind, "code": self.codes[0], "base_revision": 0, **sent}
        cookie = {"cookie": f"{COOKIE}={self.cookies[who]}"} if who else {}
        return self.client.post(
            "/desk",
            content=json.dumps(message),
            headers={"content-type": "application/json", "origin": HOME, **cookie, **(headers or {})},
        )

    def rows(self) -> list[int]:
        with reading(self.engine) as session:
            return [session.exec(select(func.count()).select_from(table)).one() for table in KEPT]


@pytest.fixture
def post(sqlite_engine: Engine, sqlite_url: str, tmp_path: Path) -> Iterator[Post]:
    set_desks(sqlite_engine, [plain_turns(1), plain_turns(2)], "kestrel", "wren", base_url=HOME)
    settings = Settings(database_url=sqlite_url, state_dir=tmp_path, base_url=HOME)
    cookies = {}
    with writing(sqlite_engine) as session:
        for person in session.exec(select(t.Rater)).all():
            key = add_device(session, person.id or 0, now=datetime.now(UTC))
            cookies[person.pseudonym] = str(_signer(settings).dumps(key))
        kestrel = session.exec(select(t.Rater.id).where(t.Rater.pseudonym == "kestrel")).one()
    with TestClient(Starlette(routes=desk_route.routes(sqlite_engine, settings))) as client:
        yield Post(sqlite_engine, client, cookies, worklist.codes(sqlite_engine, kestrel or 0))


def test_an_answer_is_acknowledged_with_the_next_conversation_and_the_last_by_the_page(post: Post) -> None:
    first = post("save", answer=SAID).json()["show"]
    assert (first["code"], first["position"], first["done"]) == (post.codes[1], 2, 1)
    assert post("save", answer=SAID).json()["show"]["code"] == post.codes[1]
    assert post("save", code=post.codes[1], answer=SAID).json() == {"by_page": True}
    with reading(post.engine) as session:
        assert len(session.exec(select(t.Label)).all()) == 2
        assert {seen.assignment_id for seen in session.exec(select(t.Exposure))} == {3}


def test_a_draft_is_kept_until_an_answer_makes_it_stale(post: Post) -> None:
    assert "draft_at" in post("draft", content=SAID).json()
    assert post("go").json()["show"]["answer"] == SAID
    post("save", answer=SAID)
    before = post.rows()
    assert post("draft", content={"verdict": "fail"}).json() == {"by_page": True}
    assert post("save", answer={"verdict": "fail"}).json() == {"by_page": True}
    assert post.rows() == before


def test_a_hidden_repeat_comes_as_a_new_conversation_and_is_kept_beside_the_first(post: Post) -> None:
    with writing(post.engine) as session:
        first = session.exec(select(t.Assignment).where(t.Assignment.code == post.codes[0])).one()
        again = first.model_dump(exclude={"id", "code", "position", "repeat", "reason"})
        session.add(t.Assignment(**again, code="fresh", position=3, repeat=1, reason=AssignmentReason.REPEAT))
    at_first = post("go").json()["show"]
    post("save", answer=SAID)
    with writing(post.engine) as session:
        session.exec(select(t.Label)).one().created_at -= REST
    shown = post("save", code=post.codes[1], answer=SAID).json()["show"]
    assert (shown["code"], shown["answer"], shown["base_revision"]) == ("fresh", None, 0)
    assert shown.keys() == at_first.keys()
    changed = {name for name in shown if shown[name] != at_first[name]}
    assert changed <= {"code", "position", "done", "previous", "saved_at", "active_seconds"}
    assert post("save", code="fresh", answer={"verdict": "fail"}).json() == {"by_page": True}
    with reading(post.engine) as session:
        said = session.exec(
            select(t.Assignment.code, t.Label.revision, t.Label.verdict).join(t.Label).order_by(t.Label.id)  # type: ignore[arg-type]
        ).all()
    assert [tuple(map(str, one)) for one in said] == [
        (post.codes[0], "1", "pass"),
        (post.codes[1], "1", "pass"),
        ("fresh", "1", "fail"),
    ]


def test_the_view_that_is_asked_for_is_what_comes(post: Post) -> None:
    shown = post("view", formatted=True).json()["show"]
    assert shown["formatted"]
    assert "<p>" in shown["turns"][0]["formatted"]
    assert "formatted" not in post("view", formatted=False).json()["show"]["turns"][0]


REFUSED: dict[str, tuple[int, Callable[[Post], Any]]] = {
    "from another site": (
        403,
        lambda post: post("save", answer=SAID, headers={"origin": "https://else.where"}),
    ),
    "from another site, says the browser": (
        403,
        lambda post: post("save", answer=SAID, headers={"sec-fetch-site": "cross-site"}),
    ),
    "as a form": (403, lambda post: post("save", answer=SAID, headers={"content-type": "text/plain"})),
    "of nobody": (401, lambda post: post("save", answer=SAID, who="")),
    "of a methodologist": (401, lambda post: post("save", answer=SAID, who=str(Role.METHODOLOGIST))),
    "with a forged cookie": (
        401,
        lambda post: post("save", answer=SAID, who="", headers={"cookie": f"{COOKIE}=abc.def.ghi"}),
    ),
    "about another's conversation": (200, lambda post: post("save", answer=SAID, who="wren")),
    "a look at another's conversation": (200, lambda post: post("go", who="wren")),
    "a draft of another's": (200, lambda post: post("draft", content=SAID, who="wren")),
    "a revision that is not there": (200, lambda post: post("save", answer=SAID, base_revision=7)),
    "too large": (413, lambda post: post("draft", content={"rationale": "x" * desk_route.LARGEST_MESSAGE})),
    "larger than a draft may be": (
        200,
        lambda post: post("draft", content={"rationale": "x" * desk.LARGEST_DRAFT}),
    ),
    "without an answer": (400, lambda post: post("save")),
    "with a verdict that there is not": (200, lambda post: post("save", answer={"verdict": "perfect"})),
    "with a list for a draft": (400, lambda post: post("draft", content=[1])),
    "with words for a revision": (400, lambda post: post("save", answer=SAID, base_revision="new")),
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_may_not_be_is_refused_and_nothing_changes(post: Post, which: str) -> None:
    status, ask = REFUSED[which]
    before = post.rows()
    answer = ask(post)
    assert answer.status_code == status
    assert set(answer.json()) <= {"refused", "by_page"}
    assert post.rows() == before


def test_whoever_was_signed_out_or_has_left_is_nobody(post: Post) -> None:
    with writing(post.engine) as session:
        session.exec(select(t.Rater).where(t.Rater.pseudonym == "kestrel")).one().active = False
    before = post.rows()
    assert post("save", answer=SAID).status_code == 401
    assert post("go").json() == {"by_page": True}
    assert post.rows() == before


def test_a_message_that_is_no_json_is_refused(post: Post) -> None:
    answer = post.client.post(
        "/desk",
        content=b"\xff{",
        headers={"content-type": "application/json", "cookie": f"{COOKIE}={post.cookies['kestrel']}"},
    )
    assert answer.status_code == 400
