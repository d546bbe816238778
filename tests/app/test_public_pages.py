"""The public pages: released studies for everybody, never a rater or a hidden conversation, doubt beside every number."""

from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlmodel import select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app import sign_in
from app.public import routes
from app.public.charts import Dot, dots
from app.public.label_picture import as_svg
from app.public.nutrition_label import LabelRow, LabelText, as_fragment, as_page
from impactbench.domain import Role
from impactbench.settings import Settings
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.locking import lock_set, mark_reported
from reviews.members.invitations import make_token
from reviews.public.evidence_marks import EvidenceMark
from reviews.public.releasing import release_study, withdraw_study
from tests.reviews.invented_study import add_judge, add_raters, add_study, place_metrics
from tests.reviews.test_extension import answer_all, open_set
from validation.results import Estimate

RATERS = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")
PAGES = ("label", "explore", "metrics", "statistics", "over-time", "cases")
VIEWS = ("models", "both", "areas", "ages", "corrected")
A_CONVERSATION = {"metric": "kindness__m01", "conversation": "1"}


class Reader:
    """Somebody with a browser; signed in where they are known by name."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        pages = [*sign_in.routes(engine, settings), *routes.routes(engine, settings)]
        self.client, self.engine = TestClient(Starlette(routes=pages)), engine

    def known_as(self, name: str, role: Role) -> "Reader":
        add_raters(self.engine, name, role=role)
        self.client.post(f"/enter/{make_token(self.engine, name)}", follow_redirects=False)
        return self

    def sees(self, page: str, *, status: int = 200, **query: str) -> str:
        """All that the server sends for a page."""
        answer = self.client.get(f"/{page}", params=query)
        assert answer.status_code == status
        return answer.text


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path, base_url="http://testserver")


@pytest.fixture
def public(sqlite_engine: Engine, settings: Settings) -> Reader:
    """Somebody who has not signed in."""
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    place_metrics(sqlite_engine)
    return Reader(sqlite_engine, settings)


def test_a_visitor_sees_a_study_from_its_release_to_its_withdrawal(
    public: Reader, sqlite_engine: Engine
) -> None:
    for page in PAGES:
        closed = public.sees(page, study="winter")
        assert "No results have been released yet. Please come back later." in closed
        assert "kindness" not in closed
    public.sees("label.svg", status=404, study="winter", model="tansy-2")
    release_study(sqlite_engine, "winter", transcripts=False)
    assert "tansy-2" in public.sees("label")
    assert "winter" in public.sees("about")
    withdraw_study(sqlite_engine, "winter")
    assert "tansy-2" not in public.sees("label", study="winter")


def test_members_see_what_is_not_released_marked_so_and_raters_see_nothing(
    public: Reader, sqlite_engine: Engine, settings: Settings
) -> None:
    for name, role in (("Meg", Role.METHODOLOGIST), ("Max", Role.MAINTAINER)):
        assert "Not released." in Reader(sqlite_engine, settings).known_as(name, role).sees("label")
    release_study(sqlite_engine, "winter", transcripts=True)
    rater = public.known_as("Rae", Role.EXPERT)
    for page in (*PAGES, "label.html"):
        refused = rater.sees(page, status=404 if "." in page else 403, study="winter")
        assert "tansy-2" not in refused
        assert "kindness" not in refused
    assert "This page is not for your role." in rater.sees("label", status=403)
    assert "winter" not in rater.sees("about", status=403)


def test_no_page_names_a_rater_or_shows_a_conversation_that_is_not_public(
    public: Reader, sqlite_engine: Engine
) -> None:
    open_set(sqlite_engine)
    answer_all(sqlite_engine)
    lock_set(sqlite_engine, "winter", "first")
    mark_reported(sqlite_engine, "winter")
    release_study(sqlite_engine, "winter", transcripts=False)
    pages = [public.sees("label"), public.sees("metrics"), public.sees("metrics", **A_CONVERSATION)]
    pages += [public.sees("explore", view=view, kind="negative") for view in VIEWS]
    pages += [public.sees("statistics"), public.sees("over-time", metric="kindness__m01")]
    pages += [public.sees("cases"), *(public.sees(f"label.{kind}") for kind in ("html", "svg"))]
    said = " ".join(pages)
    assert not [name for name in RATERS if f" {name} " in said or f">{name}<" in said or f'"{name}"' in said]
    assert "6 experts" in said
    assert "hello" not in said
    assert "The conversations of this study are not public." in said


def test_a_conversation_is_read_with_the_verdict_and_its_words_stay_words(
    public: Reader, sqlite_engine: Engine
) -> None:
    with writing(sqlite_engine) as session:
        first = session.get_one(t.Conversation, 1)
        first.turns = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "<b>![x](http://y/z)</b>"},
        ]
    release_study(sqlite_engine, "winter", transcripts=True)
    found = public.sees("metrics", **A_CONVERSATION)
    assert "&lt;b&gt;![x](http://y/z)&lt;/b&gt;" in found
    assert "The automatic judge:" in found


def test_experts_are_counted_on_a_conversation_once_their_results_are_reported(
    public: Reader, sqlite_engine: Engine
) -> None:
    release_study(sqlite_engine, "winter", transcripts=True)
    assert "Experts: none has read this conversation." in public.sees("metrics", **A_CONVERSATION)
    open_set(sqlite_engine)
    answer_all(sqlite_engine)
    hidden = public.sees("metrics", **A_CONVERSATION)
    assert "hello" not in hidden
    assert "read it" not in hidden
    lock_set(sqlite_engine, "winter", "first")
    mark_reported(sqlite_engine, "winter")
    assert "2 experts read it: 2 ✓ passed." in public.sees("metrics", **A_CONVERSATION)


def test_a_maintainer_marks_a_case_on_the_page_and_everybody_reads_it_without_their_name(
    public: Reader, sqlite_engine: Engine, settings: Settings
) -> None:
    release_study(sqlite_engine, "winter", transcripts=True)
    where = {"study": "winter", **A_CONVERSATION}
    watching = Reader(sqlite_engine, settings).known_as("Meg", Role.METHODOLOGIST)
    said = {"first": "1", "back": "0", "note": "Notice <b>this</b>"}
    for reader in (public, watching):
        assert "Save the mark" not in reader.sees("metrics", **where)
        assert reader.client.post("/metrics", params=where, data=said).status_code == 403
    marking = Reader(sqlite_engine, settings).known_as("Maude", Role.MAINTAINER)
    assert "Save the mark" in marking.sees("metrics", **where)
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert marking.client.post("/metrics", params=where, data=said, headers=elsewhere).status_code == 403
    wrong = marking.client.post("/metrics", params=where, data={**said, "first": "99"})
    assert wrong.status_code == 400
    assert "99" in wrong.text
    assert "Notice &lt;b&gt;this&lt;/b&gt;" in wrong.text
    assert "Notice" not in public.sees("cases")
    saved = marking.client.post("/metrics", params=where, data=said, follow_redirects=False)
    assert saved.status_code == 303
    everybody = public.sees("cases") + public.sees("metrics", **where)
    assert "Notice &lt;b&gt;this&lt;/b&gt;" in everybody
    assert "▲ the behaviour first appears here" in everybody
    assert "Maude" not in everybody
    release_study(sqlite_engine, "winter", transcripts=False)
    private = public.sees("cases")
    assert "Notice" not in private
    assert "The conversations of this study are not public" in private


def test_models_are_called_by_their_names_and_kept_in_addresses_by_their_slugs(
    public: Reader, sqlite_engine: Engine
) -> None:
    with writing(sqlite_engine) as session:
        run = session.exec(select(t.Run).where(t.Run.slug == "run-tansy-2")).one()
        run.manifest = {"model": "tansy-2", "model_name": "Tansy Two"}
    release_study(sqlite_engine, "winter", transcripts=True)
    for page in ("label", "explore", "statistics"):
        assert "Tansy Two" in public.sees(page, kind="positive")
    assert "model=tansy-2" in public.sees("metrics", metric="kindness__m01")


def test_addresses_that_say_nonsense_lead_to_a_page(public: Reader, sqlite_engine: Engine) -> None:
    release_study(sqlite_engine, "winter", transcripts=True)
    nonsense = {"study": "'--", "view": "x", "area": "<b id=x>", "w-psychological": "nan", "tools": "<i>"}
    for page in PAGES:
        assert "<b id" not in public.sees(page, **nonsense)
    public.sees("over-time", metric="../x", model="<i>")
    assert "no metric of that name" in public.sees("metrics", metric="../x")
    public.sees("explore", weights="own", **{"w-psychological": "1e9"})
    public.sees("metrics", metric="kindness__m01", conversation="nobody")
    public.sees("label.exe", status=404)
    public.sees("files/routes.py", status=404)


def test_every_choice_is_in_the_address_and_the_form_says_what_was_chosen(
    public: Reader, sqlite_engine: Engine
) -> None:
    release_study(sqlite_engine, "winter", transcripts=True)
    chosen = public.sees("explore", view="areas", age="teen", tools="on")
    assert '<input type="radio" name="view" value="areas" data-default="models" checked>' in chosen
    assert '<input type="radio" name="age" value="teen" data-default="any" checked>' in chosen
    assert '<input type="hidden" name="tools" value="on">' in chosen
    assert "data-picture=" in chosen
    weighed = public.sees("explore", weights="own", **{"w-psychological": "0", "w-societal": "0"})
    assert "With no weight at all there is no order" in weighed or 'name="w-' in weighed


def row(drawn: str, heading: str = "On law") -> LabelRow:
    rate = Estimate(value=0.5, low=0.45, high=0.54, n=90, n_clusters=15)
    mark = EvidenceMark(shape="○", word="a word", sentence="a sentence", drawn=drawn)
    return LabelRow(
        heading=heading, both=rate, teen=rate, adult=Estimate(value=0.4, n=3), evidence=mark, behaviours=()
    )


def label(*rows: LabelRow) -> LabelText:
    return LabelText(
        model="m", maker="<i>", opening=["An answer."], promoted=rows, avoided=(), small_print=["Small."]
    )


def test_a_line_is_coloured_only_if_it_is_known_and_says_its_state_in_words() -> None:
    for drawn in ("unchecked", "contested"):
        html = as_fragment(label(row(drawn))).split("How to read the bars")[0]
        assert f"ib-{drawn}" in html
        assert "ib-checked" not in html
        assert "a word" in html
    assert "50% (45 to 54)" in html
    assert "about 40% (range unknown)" in html
    assert "Nothing of this kind was tested." in html


def test_a_label_by_itself_loads_nothing_and_escapes_everything() -> None:
    page = as_page(label(row("checked", heading="<script>alert(1)</script>")))
    assert "<script" not in page
    assert "&lt;i&gt;" in page
    assert "http" not in page
    assert dots([Dot(row="a", promoted=True, rate=row("checked").both, checked=True)], title="b").to_dict()
    svg = as_svg(label(row("checked"))).decode()
    assert svg.startswith("<svg")
    assert "50% (45 to 54)" in svg
