"""A study that is brought up to date is the study that is read anew, whatever happened to it in between."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Engine
from sqlmodel import Session, col, func, select

from impactbench.domain import AssignmentReason, LabelStatus, LabelVerdict, Panel
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import writing
from reviews.evidence import StudyTables, read_tables
from reviews.evidence_reading import StudyReader
from tests.reviews.invented_study import add_judge, add_raters, add_study, place_metrics

NAMES = ("metrics", "assignments", "judgments", "decisions", "conversations", "metric_reviews", "recognised")
STATUSES = (LabelStatus.SUBMITTED, LabelStatus.CANNOT_JUDGE, LabelStatus.SKIPPED)


@pytest.fixture
def asked(engine: Engine) -> Engine:
    """Sixteen items of the study "winter" and two of "spring" with three raters each, a second version of m01, no label."""
    add_study(engine)
    add_judge(engine)
    place_metrics(engine)
    add_raters(engine, "Ada", "Bo", "Cy", panel=Panel.INTERNAL)
    with writing(engine) as session:
        old = session.exec(select(t.MetricVersion).where(t.MetricVersion.name == "m01")).one()
        new = t.MetricVersion(**old.model_dump(exclude={"id"}) | {"version": 2, "content_hash": "m01, later"})
        session.add_all([new, t.Study(slug="spring", title="Spring")])
        session.flush()
        items = session.exec(
            select(t.Conversation, t.Scenario).join(
                t.Scenario, col(t.Scenario.id) == t.Conversation.scenario_id
            )
        ).all()
        for study, some in (("winter", items), ("spring", items[:2])):
            of = session.exec(select(t.Study).where(t.Study.slug == study)).one()
            opened = t.ReviewSet(study_id=of.id, slug="opened", origin="design", design_hash="d")
            session.add(opened)
            session.flush()
            for conversation, scenario in some:
                for rater in session.exec(select(t.Rater)).all():
                    _ask(session, opened, conversation.id, scenario.metric_version_id, rater.id)
                    if study == "winter" and scenario.metric_version_id == old.id:
                        _ask(session, opened, conversation.id, new.id, rater.id)
    return engine


def _ask(session: Session, opened: t.ReviewSet, conversation: Any, version: Any, rater: Any) -> None:
    number = session.exec(select(func.count(col(t.Assignment.id)))).one()
    session.add(
        t.Assignment(
            study_id=opened.study_id,
            review_set_id=opened.id,
            conversation_id=conversation,
            metric_version_id=version,
            rater_id=rater,
            code=f"code-{number}",
            position=number,
            reason=AssignmentReason.CORE,
        )
    )


def say(session: Session, draws: random.Random, *, study: str = "winter", again: bool = False) -> None:
    """A label of an assignment that has none, or a revision of one that has."""
    query = (
        select(t.Assignment.id, func.count(col(t.Label.id)))
        .join(t.Study, col(t.Study.id) == t.Assignment.study_id)
        .outerjoin(t.Label, col(t.Label.assignment_id) == t.Assignment.id)
        .where(t.Study.slug == study)
        .group_by(col(t.Assignment.id))
        .order_by(col(t.Assignment.id))
    )
    assignment, known = draws.choice([row for row in session.exec(query).all() if (row[1] > 0) == again])
    status = draws.choice(STATUSES)
    session.add(
        t.Label(
            assignment_id=assignment or 0,
            revision=known + 1,
            operation=f"{assignment}-{known}",
            status=status,
            verdict=draws.choice(list(LabelVerdict)) if status is LabelStatus.SUBMITTED else None,
            no_verdict_because="" if status is LabelStatus.SUBMITTED else "too_short",
            confidence=draws.choice([None, 2, 4]),
            rationale=draws.choice(["", "“Oh”, it said."]),
            turns=draws.choice([[], [1], [1, 2]]),
            active_seconds=draws.choice([None, 7.5]),
        )
    )


def settle(session: Session, draws: random.Random) -> None:
    item = draws.choice(session.exec(select(t.Assignment).order_by(col(t.Assignment.id))).all())
    session.add(
        t.Adjudication(
            study_id=session.exec(select(t.Study.id).where(t.Study.slug == "winter")).one() or 0,
            conversation_id=item.conversation_id,
            metric_version_id=item.metric_version_id,
            revision=1 + session.exec(select(func.count(col(t.Adjudication.id)))).one(),
            verdict=LabelVerdict.FAIL,
            because="read again",
            rule="tie",
            adjudicator_id=item.rater_id,
        )
    )


def judge_again(session: Session, _draws: random.Random) -> None:
    said = session.exec(select(t.Judgment).order_by(col(t.Judgment.repeat).desc())).first()
    assert said is not None
    session.add(t.Judgment(**said.model_dump(exclude={"id", "repeat"}), repeat=said.repeat + 1))


def give_up(session: Session, draws: random.Random) -> None:
    left = select(t.Assignment).where(
        col(t.Assignment.released_at).is_(None),
        t.Assignment.study_id == select(t.Study.id).where(t.Study.slug == "winter").scalar_subquery(),
    )
    draws.choice(session.exec(left.order_by(col(t.Assignment.id))).all()).released_at = datetime.now(UTC)


def rename(session: Session, _draws: random.Random) -> None:
    rater = session.exec(select(t.Rater).order_by(col(t.Rater.id))).first()
    assert rater is not None
    rater.pseudonym, rater.active = rater.pseudonym + "'", False


def ask_more(session: Session, draws: random.Random) -> None:
    draws.random()
    add = t.Rater(pseudonym=f"late {session.exec(select(func.count(col(t.Rater.id)))).one()}")
    item = session.exec(select(t.Assignment).order_by(col(t.Assignment.id))).first()
    session.add(add)
    session.flush()
    assert item is not None
    opened = session.get_one(t.ReviewSet, item.review_set_id)
    _ask(session, opened, item.conversation_id, item.metric_version_id, add.id)


LABELS: tuple[Callable[..., None], ...] = (say, say, say, lambda s, d: say(s, d, again=True))
OTHERS: tuple[Callable[..., None], ...] = (settle, judge_again, give_up, rename, ask_more)


def cells(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows, whatever the type that a column happens to have."""
    return [
        {name: None if not isinstance(cell, list) and pd.isna(cell) else cell for name, cell in row.items()}
        for row in frame.to_dict("records")
    ]


def same(found: StudyTables, wanted: StudyTables) -> None:
    for name in NAMES:
        assert list(getattr(found, name).columns) == list(getattr(wanted, name).columns), name
        assert cells(getattr(found, name)) == cells(getattr(wanted, name)), name


@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_added_the_study_is_as_if_it_were_read_anew(asked: Engine, seed: int) -> None:
    reader, draws = StudyReader(asked), random.Random(seed)
    known = reader.tables("winter")
    for step in range(16):
        of_labels = step % 4 != 3
        state = frames.state(asked, "winter")
        with writing(asked) as session:
            for _ in range(draws.choice([1, 3])):
                (draws.choice(LABELS[: 4 if step > 4 else 3]) if of_labels else draws.choice(OTHERS))(
                    session, draws
                )
                session.flush()
        assert frames.state(asked, "winter") != state
        found = reader.tables("winter")
        same(found, read_tables(asked, "winter"))
        assert (
            found.conversations is known.conversations
        ) == of_labels  # what labels do not change is not read again
        known = found
    assert known.metrics["superseded"].any()


def test_a_label_of_another_study_changes_nothing_here(asked: Engine) -> None:
    reader, draws = StudyReader(asked), random.Random(3)
    before, state = reader.tables("winter"), frames.state(asked, "winter")
    for again in (False, True):
        with writing(asked) as session:
            say(session, draws, study="spring", again=again)
    assert frames.state(asked, "winter") == state
    assert reader.tables("winter") is before
    with writing(asked) as session:
        say(session, draws)
    same(reader.tables("winter"), read_tables(asked, "winter"))


def test_a_label_that_appears_after_one_with_a_larger_id_is_not_overlooked(asked: Engine) -> None:
    """As where two write at once: the first number may be taken first and written last."""
    reader, draws = StudyReader(asked), random.Random(5)
    with writing(asked) as session:
        say(session, draws)
        session.flush()
        session.exec(select(t.Label)).one().id = 100
    reader.tables("winter")
    with writing(asked) as session:
        say(session, draws)
        session.flush()
        session.exec(select(t.Label).where(t.Label.id != 100)).one().id = 50
    found = reader.tables("winter")
    assert (found.assignments["status"] != "not_yet_rated").sum() == 2
    same(found, read_tables(asked, "winter"))
