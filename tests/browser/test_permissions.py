"""Who may do what, decided on the server: every role on every page, every way in, every write; the rest is refused."""

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from itsdangerous import URLSafeTimedSerializer
from sqlalchemy import Engine
from sqlmodel import select
from streamlit.testing.v1 import AppTest
from websockets.exceptions import InvalidStatus

from app import workspace
from app.sign_in import COOKIE
from impactbench.domain import LabelVerdict, Role
from impactbench.settings import Settings
from impactbench.store import tables as t
from impactbench.store.engine import connect, reading, writing
from reviews import desk
from reviews.labels import Answer, LabelRefused
from reviews.members import people
from reviews.members.devices import add_device, hash_secret
from reviews.members.invitations import invite
from reviews.rating import worklist
from tests.browser.desks import plain_turns, set_desks
from tests.browser.house import House, ask, run
from tests.browser.rater_client import PageFailed, RaterClient, Reply, sign_in
from tests.browser.serving import Workbench

pytestmark = pytest.mark.browser


NOT_FOR_YOU = "This page is not for your role. If that is a mistake, ask whoever invited you."


STRANGERS_PAGE = "Please open the personal link that you were sent."


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(sqlite_template, folder / "impactbench.db")
    url = f"sqlite:///{folder / 'impactbench.db'}"
    engine = connect(url)
    bench = Workbench(url, folder)
    names = ("kestrel", "wren", "leaver", "revoked")
    desks = set_desks(engine, [plain_turns(n) for n in range(1, 4)], *names, base_url=bench.address)
    bench.start()
    yield House(bench, engine, {name: one.link for name, one in desks.items()})
    bench.kill()
    engine.dispose()


# Pages
ALL_PAGES = """
import streamlit as st
from app import navigation
from impactbench.domain import Role
from impactbench.store.tables import Rater

def pages_of(role):
    pages = navigation.pages_for(Rater(id=1, pseudonym="x", role=role))
    sections = pages.values() if isinstance(pages, dict) else [pages]
    return {page.title: page for section in sections for page in section}

st.session_state["pages"] = {str(role): list(pages_of(role)) for role in Role}
"""


ONE_PAGE = ALL_PAGES + "pages_of(Role(st.session_state['owner']))[st.session_state['title']]._page()"


@pytest.fixture
def seen_by(
    sqlite_engine: Engine, sqlite_url: str, tmp_path: Path
) -> Iterator[Callable[[str, str, Role | None], AppTest]]:
    """Runs a page of a role as somebody of another, without a server."""
    set_desks(sqlite_engine, [plain_turns(1)], "kestrel", base_url="http://here")
    workspace.use(Settings(database_url=sqlite_url, state_dir=tmp_path))
    with reading(sqlite_engine) as session:
        people_by_role = {person.role: person for person in session.exec(select(t.Rater)).all()}

    def run(title: str, owner: str, looking: Role | None) -> AppTest:
        test = AppTest.from_string(ONE_PAGE, default_timeout=120)
        test.session_state["title"], test.session_state["owner"] = title, owner
        test.session_state["impactbench-looking"] = people_by_role[looking] if looking else None
        return test.run()

    yield run
    workspace.engine().dispose()


def test_every_page_refuses_every_role_but_its_own(
    seen_by: Callable[[str, str, Role | None], AppTest],
) -> None:
    listing = AppTest.from_string(ALL_PAGES, default_timeout=120).run()
    pages: dict[str, list[str]] = listing.session_state["pages"]
    owners: dict[str, set[str]] = {}
    for role, titles in pages.items():
        for title in titles:
            owners.setdefault(title, set()).add(role)
    assert not [title for title, roles in owners.items() if Role.EXPERT in roles and len(roles) > 1]
    for title, roles in owners.items():
        for looking in (None, *Role):
            if looking in roles:
                continue
            refused = seen_by(title, sorted(roles)[0], looking)
            assert [error.value for error in refused.error] == [NOT_FOR_YOU], (title, looking)
            assert not refused.title, (title, looking)
            assert not refused.exception, (title, looking)


LINKS: dict[str, Callable[[House], str]] = {
    "unknown": lambda _: "/enter/" + "A" * 43,
    "empty": lambda _: "/enter/",
    "very long": lambda _: "/enter/" + "A" * 20_000,
    "with a null": lambda _: "/enter/%00",
    "another's with one letter changed": lambda house: f"/enter/{path_of(house, 'kestrel')[7:-1]}!",
    "the hash instead of the token": lambda house: f"/enter/{hash_secret(path_of(house, 'kestrel')[7:])}",
    "SQL": lambda _: "/enter/'%20OR%201=1--",
    "dots": lambda _: "/enter/..%2f",
    "dots twice encoded": lambda _: "/enter/..%252f..%252fetc%252fpasswd",
    "out of the folder": lambda _: "/..%2f..%2f..%2f..%2fetc/passwd",
    "out of the folder, plain": lambda _: "/../../../../etc/passwd",
    "backslashes": lambda _: "/..\\..\\..\\etc\\passwd",
    "the static folder": lambda _: "/static/..%2f..%2f..%2f..%2fetc/passwd",
    "the components": lambda _: "/component/..%2f..%2f..%2fetc/passwd",
    "the database": lambda _: "/impactbench.db",
    "the secret": lambda _: "/state/cookie-secret",
    "the program": lambda _: "/app/static/../main.py",
}


def path_of(house: House, name: str) -> str:
    return house.links[name].removeprefix(house.address)


@pytest.mark.parametrize("which", LINKS)
def test_a_path_that_is_no_link_of_anybodys_opens_nothing(house: House, which: str) -> None:
    before, since = house.rows(), len(house.logged())
    path = LINKS[which](house)
    status, cookie, body = ask(house, "GET", path)
    assert cookie == ""
    assert status in {200, 301, 400, 403, 404}
    assert not [word for word in ("root:", "SQLite format", "import streamlit", "Traceback") if word in body]
    if path.startswith("/enter/") and "%2f" not in path.lower() and path != "/enter/":
        assert status in {400, 404}
    assert house.rows() == before
    assert path.removeprefix("/enter/")[:20] not in house.logged(since) or len(path) < 20


def test_refused_links_are_logged_in_one_line_without_the_secret(house: House) -> None:
    since = len(house.logged())
    assert ask(house, "GET", "/enter/a-secret-that-does-not-work")[0] == 404
    logged = house.logged(since)
    assert logged.count("Refused a personal link") == 1
    assert "a-secret" not in logged


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/healthz", {200}),
        ("POST", "/healthz", {403, 405}),
        ("GET", "/leave", {200, 303}),
        ("PUT", "/leave", {403, 405}),
        ("POST", "/desk", {403}),
        ("PUT", "/desk", {403, 405}),
        ("PUT", "/enter/x", {403, 405}),
        ("POST", "/enter/x", {404}),
        ("PUT", "/_stcore/upload_file/a/b", {400, 403, 404, 405}),
        ("DELETE", "/_stcore/upload_file/a/b", {400, 403, 404, 405}),
        ("GET", "/_stcore/stream", {200, 400, 404, 426}),
    ],
)
@pytest.mark.parametrize("who", ["nobody", "kestrel", "methodologist", "maintainer"])
def test_every_route_answers_everybody_alike_and_changes_nothing(
    house: House, who: str, method: str, path: str, expected: set[int]
) -> None:
    headers = {} if who == "nobody" else {"Cookie": house.cookie(who)}
    before = house.rows()
    status, _, body = ask(house, method, path, {**headers, "Content-Length": "0"})
    assert status in expected
    assert "kestrel" not in body or who == "kestrel"
    assert house.rows() == before


def look(house: House, cookie: str, *, origin: str | None = None) -> Reply:
    async def once() -> Reply:
        client = RaterClient(house.address, cookie, origin=origin)
        try:
            return await client.open()
        finally:
            await client.close()

    return run(once())


def signed(house: House, said: object, *, secret: str | None = None, age: timedelta = timedelta(0)) -> str:
    """A cookie as the workbench signs it, or with another secret, or long ago."""

    kept = (house.bench.log.parent / "state" / "cookie-secret").read_text()
    serializer = URLSafeTimedSerializer(secret or kept, salt=COOKIE)
    made = serializer.make_signer(COOKIE)
    made.get_timestamp = lambda: int((datetime.now(UTC) - age).timestamp())  # type: ignore[method-assign]
    serializer.make_signer = lambda _salt=None: made  # type: ignore[method-assign]
    value = serializer.dumps(said)
    return f"{COOKIE}={value if isinstance(value, str) else value.decode()}"


def kestrels_key(house: House) -> str:
    """The key of a device on which kestrel is signed in."""
    with writing(house.engine) as session:
        kestrel = session.exec(select(t.Rater).where(t.Rater.pseudonym == "kestrel")).one()
        return add_device(session, kestrel.id or 0, now=datetime.now(UTC))


COOKIES: dict[str, Callable[[House], str]] = {
    "none": lambda _: "",
    "empty": lambda _: f"{COOKIE}=",
    "nonsense": lambda _: f"{COOKIE}=abc",
    "the bare key": lambda house: f"{COOKIE}={kestrels_key(house)}",
    "the hash of the key": lambda house: signed(house, hash_secret(kestrels_key(house))),
    "signed with another secret": lambda house: signed(house, kestrels_key(house), secret="guessed"),
    "sixty-one days old": lambda house: signed(house, kestrels_key(house), age=timedelta(days=61)),
    "the secret of the link": lambda house: signed(house, path_of(house, "kestrel")[7:]),
    "signed, of nobody": lambda house: signed(house, "0" * 64),
    "signed, not a key": lambda house: signed(house, {"role": "maintainer"}),
    "one letter changed": lambda house: signed(house, kestrels_key(house))[:-1] + "!",
    "very long": lambda _: f"{COOKIE}=" + "A" * 8_000,
}


@pytest.mark.parametrize("which", COOKIES)
def test_a_cookie_that_was_not_given_shows_nothing(house: House, which: str) -> None:
    cookie = COOKIES[which](house)
    before, since = house.rows(), len(house.logged())
    shown = look(house, cookie)
    assert shown.item is None
    assert STRANGERS_PAGE in " ".join(shown.texts)
    assert shown.headings == ["ImpactBench"]
    assert house.rows() == before
    logged = house.logged(since)
    assert cookie.partition("=")[2] not in logged or len(cookie) < len(COOKIE) + 5
    if which in {
        "nonsense",
        "signed with another secret",
        "sixty-one days old",
        "one letter changed",
        "very long",
    }:
        assert logged.count("Refused a sign-in cookie") == 1
        assert len(logged) < 300


def test_the_right_cookie_shows_the_right_person_their_page(house: House) -> None:
    assert look(house, signed(house, kestrels_key(house))).item is not None
    for reader in ("methodologist", "maintainer"):
        shown = look(house, house.cookie(reader))
        assert shown.item is None
        assert shown.headings != ["ImpactBench"]


@pytest.mark.parametrize(
    "origin", ["https://elsewhere.example", "null", "http://localhost.elsewhere.example"]
)
def test_a_page_elsewhere_cannot_speak_for_a_rater(house: House, origin: str) -> None:
    cookie, before = house.cookie("kestrel"), house.rows()
    with pytest.raises(InvalidStatus) as refused:
        look(house, cookie, origin=origin)
    assert refused.value.response.status_code == 403
    assert house.rows() == before


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "none"}, {"Origin": "https://elsewhere.example"}],
)
def test_a_page_elsewhere_can_neither_sign_anybody_in_nor_out(house: House, headers: dict[str, str]) -> None:
    cookie = house.cookie("wren")
    link = invite(house.engine, "wren", base_url=house.address).removeprefix(house.address)
    before, since = house.rows(), len(house.logged())
    for path in (link, "/leave"):
        status, given, _ = ask(house, "POST", path, {**headers, "Cookie": cookie, "Content-Length": "0"})
        assert (status, given) == (403, ""), path
    assert house.rows() == before
    assert house.logged(since).count("Refused a request that came from the page of another site") == 2
    assert look(house, cookie).item is not None
    assert ask(house, "POST", link, {"Content-Length": "0"})[0] == 303


@pytest.mark.parametrize(("who", "end"), [("revoked", people.revoke), ("leaver", people.deactivate)])
def test_a_session_that_is_open_ends_with_the_right_to_it(
    house: House, who: str, end: Callable[[Engine, str], object]
) -> None:
    cookie = house.cookie(who)

    async def sit() -> tuple[list[int], list[Reply]]:
        client = RaterClient(house.address, cookie)
        item = (await client.open()).item
        assert item is not None
        end(house.engine, who)
        before = house.rows()
        said = {"verdict": "pass", "rationale": "too late"}
        replies = [await client.save(item, said), await client.draft(item, said)]
        await client.close()
        return before, replies

    before, replies = run(sit())
    assert [reply.item for reply in replies] == [None, None]
    assert all(STRANGERS_PAGE in " ".join(reply.texts) for reply in replies)
    assert house.rows() == before
    assert look(house, cookie).item is None
    assert ask(house, "GET", path_of(house, who))[0] == 404


def test_an_expired_link_is_refused(house: House) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=61)
    link = invite(house.engine, "wren", base_url=house.address, now=yesterday)
    assert ask(house, "GET", link.removeprefix(house.address))[0] == 404
    with pytest.raises(PageFailed, match="404"):
        sign_in(link)


# Writes
BIG = "x" * 2_000_000


def test_two_megabytes_are_refused_with_a_sentence_and_not_kept(house: House) -> None:
    async def sit() -> list[Reply]:
        client = RaterClient(house.address, cookie)
        item = (await client.open()).item
        assert item is not None
        said = {"verdict": "pass", "rationale": BIG}
        replies = [await client.draft(item, said), await client.save(item, said)]
        await client.close()
        return replies

    cookie, before = house.cookie("kestrel"), house.rows()
    drafted, saved = run(sit())
    for reply in (drafted, saved):
        assert reply.item is not None
        assert "too long" in reply.item["refused"]
    assert house.rows() == before


def test_a_forged_item_or_revision_is_refused(house: House) -> None:
    with reading(house.engine) as session:
        wren = session.exec(select(t.Rater).where(t.Rater.pseudonym == "wren")).one().id or 0
    foreign = worklist.codes(house.engine, wren)[0]

    async def sit(code: str, revision: int) -> Reply | None:
        client = RaterClient(house.address, cookie)
        item = (await client.open()).item
        assert item is not None
        try:
            return await client.save({"code": code, "base_revision": revision}, {"verdict": "pass"})
        except PageFailed:
            return None
        finally:
            await client.close()

    cookie, before = house.cookie("kestrel"), house.rows()
    for code, revision in ((foreign, 0), ("' OR 1=1", 0), ("", 0), (foreign, 7), (foreign, -1)):
        run(sit(code, revision))
        assert house.rows() == before, (code, revision)


WRITES: dict[str, Callable[[Engine, int, str], object]] = {
    "save": lambda engine, rater, code: desk.save(
        engine, rater, code, Answer(verdict=LabelVerdict.PASS), base_revision=0
    ),
    "keep a draft": lambda engine, rater, code: desk.keep_draft(
        engine, rater, code, {"rationale": "x"}, base_revision=0
    ),
    "take up": desk.take_up,
    "read the history": desk.history,
    "record an exposure": desk.record_exposure,
}


@pytest.mark.parametrize("who", ["kestrel", "methodologist", "maintainer"])
@pytest.mark.parametrize("what", WRITES)
def test_nobody_reads_or_writes_on_the_item_of_another(house: House, who: str, what: str) -> None:
    with reading(house.engine) as session:
        ids = {rater.pseudonym: rater.id or 0 for rater in session.exec(select(t.Rater)).all()}
    before = house.rows()
    foreign = worklist.codes(house.engine, ids["wren"])[0]
    with pytest.raises(LabelRefused, match="not in your list"):
        WRITES[what](house.engine, ids[who], foreign)
    assert house.rows() == before
