"""The public site: whole or not at all, the same bytes for the same data, and nothing in it that is not public."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from sqlalchemy import Engine
from sqlmodel import select

from impactbench.domain import DispositionKind, Role
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.locking import lock_set, mark_reported
from reviews.public.cases import mark_case
from reviews.public.releasing import NotReleased, release_study
from reviews.public.site.writing import MARKER, PublishRefused, publish_site
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


def test_every_link_leads_to_a_file_and_nothing_is_loaded_or_executed(winter: Engine, tmp_path: Path) -> None:
    review(winter, reported=True)
    release_study(winter, "winter", transcripts=True)
    written = publish_site(winter, tmp_path / "site")
    found = files(tmp_path / "site")
    assert written.pages == sum(name.endswith(".html") for name in found) == 16
    for name, text in found.items():
        if not name.endswith(".html"):
            continue
        links = Links(text)
        assert links.loads == []
        assert links.scripts == 1
        assert HOSTILE not in text
        for href in links.leads:
            if not href.startswith("#"):
                target = (tmp_path / "site" / name).parent / unquote(urlsplit(href).path)
                assert target.resolve().is_file(), f"{name} leads to {href}"
    assert any("&lt;script&gt;alert(1)" in text for name, text in found.items() if "scenario/" in name)
    whole = "\n".join(found.values())
    assert SECRET not in whole
    assert not [name for name in RATERS if re.search(rf"\b{name}\b", whole)]


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
    assert "Clear enough &lt;script&gt;" in found["winter/changes.html"]
    assert "look &lt;script&gt;" in found["winter/cases.html"]
    (words,) = [text for name, text in found.items() if "▲ the behaviour first appears here" in text]
    assert f'id="conversation-{judged.conversation_id}" open' in words
    assert "2 passed" in words
    assert "m01 anew" in found["winter/over-time.html"]
    assert "the wording: version 1 became 2" in found["winter/metric/kindness--m01.html"]
    assert "as experts would have judged it" in found["winter/explore.html"]
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
    assert publish_site(sqlite_engine, tmp_path / "site").pages == 4
