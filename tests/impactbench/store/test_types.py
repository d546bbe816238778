"""Times have a zone, words are known, and JSON comes back as it went in, on both databases."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import Conversation, Label, Model, Rater, Run, Study, Table
from tests.impactbench.store.test_engine import label, make_assignments

EAST = datetime(2026, 3, 1, 1, 30, 0, 123456, tzinfo=timezone(timedelta(hours=9)))


def test_times_come_back_in_utc_to_the_microsecond(engine: Engine) -> None:
    with writing(engine) as session:
        insert_if_absent(session, Study, [{"slug": "s", "title": "S", "created_at": EAST}])
    with reading(engine) as session:
        back = session.get_one(Study, 1).created_at
    assert back == EAST
    assert back.tzinfo is UTC


def test_a_time_without_a_zone_is_refused(engine: Engine) -> None:
    naive = datetime(2026, 3, 1)  # noqa: DTZ001
    with (
        pytest.raises(sa.exc.StatementError, match="a time without a zone was to be stored"),
        writing(engine) as session,
    ):
        session.add(Study(slug="s", title="S", created_at=naive))


FOREIGN: list[tuple[type[Table], str, str]] = [
    (Rater, "role", "boss"),
    (Rater, "panel", "crowd"),
    (Label, "status", "done"),
    (Label, "verdict", "maybe"),
    (Conversation, "status", "lost"),
]


@pytest.mark.parametrize(("table", "column", "word"), FOREIGN)
def test_a_foreign_word_is_refused_by_the_database_itself(
    engine: Engine, table: type[Table], column: str, word: str
) -> None:
    make_assignments(engine, 1)
    with writing(engine) as session:
        insert_if_absent(session, Label, [label(1)])
    name = str(table.__tablename__)  # type: ignore[attr-defined]
    with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE {name} SET {column} = :word"), {"word": word})


@pytest.mark.parametrize(("column", "word"), [("role", "boss"), ("panel", "crowd")])
def test_a_foreign_word_is_refused_before_it_reaches_the_database(
    engine: Engine, column: str, word: str
) -> None:
    with pytest.raises(ValueError, match=word), writing(engine) as session:
        insert_if_absent(session, Rater, [{"pseudonym": "anna", column: word}])


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"verdict": None}, "only_submitted_has_a_verdict"),
        ({"status": "skip"}, "only_submitted_has_a_verdict"),
        ({"confidence": 5}, "confidence_is_1_to_4"),
        ({"confidence": 0}, "confidence_is_1_to_4"),
    ],
)
def test_a_label_that_contradicts_itself_is_refused(
    engine: Engine, changes: dict[str, Any], constraint: str
) -> None:
    make_assignments(engine, 1)
    with pytest.raises(sa.exc.IntegrityError, match=constraint), writing(engine) as session:
        insert_if_absent(session, Label, [label(1) | changes])


def test_json_comes_back_as_it_went_in(engine: Engine) -> None:
    manifest = {
        "emoji": "😀",
        "hebrew": "שלום",
        "none": None,
        "deep": [{"a": 1.5, "b": True}],
        "quote": "\"'\\",
    }
    with writing(engine) as session:
        insert_if_absent(session, Study, [{"slug": "s", "title": "S"}])
        insert_if_absent(session, Run, [{"study_id": 1, "slug": "r", "manifest": manifest}])
    with reading(engine) as session:
        assert session.get_one(Run, 1).manifest == manifest


def test_unknown_and_false_stay_apart(engine: Engine) -> None:
    with writing(engine) as session:
        insert_if_absent(
            session, Model, [{"slug": "a", "open_weight": False}, {"slug": "b", "open_weight": None}]
        )
    with reading(engine) as session:
        assert [session.get_one(Model, key).open_weight for key in (1, 2)] == [False, None]
