"""The public site: whole or not at all, the same bytes for the same data, and nothing in it that is not public."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from sqlalchemy import Engine
from sqlmodel import select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.public.routes import routes
from app.public.site.writing import MARKER, PublishRefused, publish_site
from impactbench.domain import DispositionKind, Role
from impactbench.settings import Settings
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.locking import lock_set, mark_reported
from reviews.public.cases import mark_case
from reviews.public.releasing import NotReleased, release_study
from tests.reviews.invented_study import add_judge, add_raters, add_study, place_metrics
from tests.reviews.test_extension import answer_all, open_set
from tests.reviews.test_public_findings import again

HOSTILE = "<script>alert(1)</script><img src=http://evil.example/x>"
SECRET = "they said it at home"
RATERS = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo")


@pytest.fixture
def winter(sqlite_engine: Engine) -> Engine:
    """A judged study; what models and people wrote in it is hostile, and what nobody may see is marked."""
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    place_metrics(sqlite_engine)
    with writing(sqlite_engine) as session:
        for metric in session.exec(select(t.MetricVersion)).all():
            metric.definition = metric.evidence = HOSTILE
        for scenario in session.exec(select(t.Scenario)).all():
            scenario.user_goal, scenario.persona, scenario.adversarial_goal = HOSTILE, SECRET, SECRET
        for conversation in session.exec(select(t.Conversation)).all():
            conversation.turns = [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": f"private {HOSTILE}"},
            ]
        for judgment in session.exec(select(t.Judgment)).all():
            judgment.justification, judgment.raw_reply = f"private {HOSTILE}", SECRET
    return sqlite_engine


def review(engine: Engine, *, reported: bool) -> None:
    open_set(engine)
    answer_all(engine)
    with writing(engine) as session:
        for label in session.exec(select(t.Label)).all():
            label.rationale = SECRET
    if reported:
        lock_set(engine, "winter", "first")
        mark_reported(engine, "winter")


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def said(page: str) -> str:
    """The words of a page without its choices and without what only a server can do."""
    inside = page.split("<main", 1)[1]
    inside = re.sub(r'<(form|nav) class="ib-choices".*?</\1>', "", inside, flags=re.DOTALL)
    inside = re.sub(r'<p><a href="\?[^"]*">.*?</a></p>', "", inside)
    return " ".join(re.sub(r"<[^>]*>", " ", inside).split())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path)


class Links(HTMLParser):
    """Everything that a page loads or leads to, and its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.scripts += tag == "script"
        if "src" in given or tag == "link":
            self.loads.append(given.get("src") or given.get("href", ""))
        if tag == "a":
            self.leads.append(given["href"])


def test_every_link_leads_to_a_file_and_nothing_is_loaded_but_the_site_s_own_files(
    winter: Engine, tmp_path: Path
) -> None:
    review(winter, reported=True)
    release_study(winter, "winter", transcripts=True)
    written = publish_site(winter, tmp_path / "site")
    found = files(tmp_path / "site")
    assert written.pages == sum(name.endswith(".html") for name in found)
    for name, text in found.items():
        if not name.endswith(".html"):
            continue
        links = Links(text)
        assert links.scripts == 1
        assert HOSTILE not in text
        for where in (*links.loads, *links.leads):
            path, _, place = unquote(where).partition("#")
            target = (tmp_path / "site" / name).parent / path if path else tmp_path / "site" / name
            assert target.resolve().is_file(), f"{name} leads to {where}"
            assert target.resolve().is_relative_to((tmp_path / "site").resolve())
            assert not place or f'id="{place}"' in target.read_text("utf-8"), f"{name} leads to {where}"
    assert any("&lt;script&gt;alert(1)" in text for name, text in found.items() if "scenario/" in name)
    whole = "\n".join(found.values())
    assert SECRET not in whole
    assert not [name for name in RATERS if re.search(rf"\b{name}\b", whole)]


def test_a_page_of_the_site_says_what_the_page_of_a_server_says(
    winter: Engine, tmp_path: Path, settings: Settings
) -> None:
    release_study(winter, "winter", transcripts=True)
    publish_site(winter, tmp_path / "site")
    served = TestClient(Starlette(routes=routes(winter, settings)))
    for file, address in {
        "statistics.html": "/statistics?study=winter",
        "label/tansy-2.html": "/label?study=winter&model=tansy-2",
        "metric/kindness--m01.html": "/metrics?study=winter&metric=kindness__m01",
        "explore/kind-negative--weights-benchmark.html": "/explore?study=winter&kind=negative&weights=benchmark",
    }.items():
        assert said((tmp_path / "site/winter" / file).read_text("utf-8")) == said(served.get(address).text)


def test_cases_changes_over_time_and_corrected_rates_are_in_the_site(winter: Engine, tmp_path: Path) -> None:
    again(winter, "second", days=1, reworded=True)
    review(winter, reported=True)
    add_raters(winter, "Maude", role=Role.MAINTAINER)
    with writing(winter) as session:
        maude = session.exec(select(t.Rater).where(t.Rater.pseudonym == "Maude")).one().id or 0
        study = session.exec(select(t.Study)).one().id or 0
        old = session.exec(select(t.MetricVersion).where(t.MetricVersion.name == "m02")).one().id or 0
        decided = t.Disposition(
            study_id=study,
            metric_version_id=old,
            revision=1,
            decision=DispositionKind.KEEP,
            because=f"Clear enough {HOSTILE}",
            status="watch",
            decided_by=maude,
        )
        session.add(decided)
        session.flush()
        session.add(t.ChangeNote(disposition_id=decided.id or 0, published_by=maude, note="so be it"))
        session.flush()
        judged = session.exec(select(t.Judgment).where(t.Judgment.metric_version_id == old)).first()
        assert judged is not None
        place = {"conversation_id": judged.conversation_id, "metric_version_id": old}
    mark_case(winter, "winter", **place, marked_by=maude, first_turn=1, note=f"look {HOSTILE}")
    release_study(winter, "winter", transcripts=True)
    publish_site(winter, tmp_path / "site")
    found = files(tmp_path / "site")
    assert "Clear enough &lt;script&gt;" in found["winter/change-log.html"]
    assert "look &lt;script&gt;" in found["winter/cases.html"]
    (words,) = [text for name, text in found.items() if "▲ the behaviour first appears here" in text]
    assert f'id="conversation-{judged.conversation_id}"' in words
    assert "<details open>" in words
    assert "2 ✓ passed" in words
    assert "m01 anew" in found["winter/over-time.html"]
    over_time = [text for name, text in found.items() if "/over-time/kindness--m01" in name]
    assert any("the wording: version 1 became 2" in text for text in over_time)
    assert "as experts would have judged it" in found["winter/explore/view-corrected.html"]
    whole = "\n".join(found.values())
    assert "Maude" not in whole
    assert SECRET not in whole
    assert not [name for name, text in found.items() if name.endswith(".html") and HOSTILE in text]


@pytest.mark.parametrize(
    "experts_at_work", [False, True], ids=["conversations are private", "experts are at work"]
)
def test_conversations_that_are_not_public_are_nowhere_in_the_site(
    winter: Engine, tmp_path: Path, experts_at_work: bool
) -> None:
    if experts_at_work:
        review(winter, reported=False)
    release_study(winter, "winter", transcripts=experts_at_work)
    publish_site(winter, tmp_path / "site")
    found = files(tmp_path / "site")
    assert not [name for name, text in found.items() if "private" in text or SECRET in text]
    assert any("/scenario/" in name for name in found) is not experts_at_work
    assert ("winter/data/verdicts.csv" in found) is not experts_at_work


def test_the_same_data_give_the_same_bytes_and_replace_what_was_written_before(
    winter: Engine, tmp_path: Path
) -> None:
    release_study(winter, "winter", transcripts=True)
    publish_site(winter, tmp_path / "one")
    publish_site(winter, tmp_path / "two")
    (tmp_path / "two" / "left-over.html").write_text("old")
    publish_site(winter, tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["one", "two"]


def test_what_is_not_released_or_not_ours_is_refused_and_left_as_it_was(
    winter: Engine, tmp_path: Path
) -> None:
    with pytest.raises(PublishRefused, match="no study is released: release one with"):
        publish_site(winter, tmp_path / "site")
    with pytest.raises(NotReleased):
        publish_site(winter, tmp_path / "site", studies=["winter"])
    assert not (tmp_path / "site").exists()
    release_study(winter, "winter", transcripts=False)
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter.txt").write_text("mine")
    with pytest.raises(PublishRefused, match=f"{MARKER} is missing"):
        publish_site(winter, thesis)
    assert files(thesis) == {"chapter.txt": "mine"}


def test_a_study_of_which_nothing_was_judged_has_pages_all_the_same(
    sqlite_engine: Engine, tmp_path: Path
) -> None:
    add_study(sqlite_engine)
    release_study(sqlite_engine, "winter", transcripts=True)
    publish_site(sqlite_engine, tmp_path / "site")
    found = files(tmp_path / "site")
    for page in ("label", "explore", "statistics", "over-time"):
        assert "Nothing of this study has been judged yet" in found[f"winter/{page}.html"]
