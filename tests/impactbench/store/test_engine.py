"""Rows are added once, whoever adds them, and however many do so at the same time."""

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from impactbench.domain import AgeVariant, LabelStatus, LabelVerdict
from impactbench.store.engine import (
    DatabaseUnreachable,
    connect,
    insert_if_absent,
    put,
    reading,
    reading_rows,
    require_current,
    writing,
    writing_rows,
)
from impactbench.store.tables import (
    Assignment,
    Benchmark,
    Conversation,
    Draft,
    Label,
    Metric,
    MetricVersion,
    Model,
    Rater,
    ReviewSet,
    Run,
    Scenario,
    Study,
    Table,
)

THREADS, LABELS = 12, 50

ONE_ITEM: list[tuple[type[Table], dict[str, Any]]] = [
    (Benchmark, {"slug": "b", "name": "B"}),
    (Metric, {"benchmark_id": 1, "slug": "m"}),
    (
        MetricVersion,
        {
            "metric_id": 1,
            "version": 1,
            "name": "M",
            "polarity": "positive",
            "definition": "",
            "content_hash": "h",
        },
    ),
    (Model, {"slug": "x"}),
    (Study, {"slug": "s", "title": "S"}),
    (Run, {"study_id": 1, "slug": "r"}),
    (
        Scenario,
        {"metric_version_id": 1, "slug": "s1", "base_scenario": "s", "age": "teen", "content_hash": "h"},
    ),
    (Conversation, {"run_id": 1, "key": "c", "scenario_id": 1, "model_id": 1, "content_hash": "h"}),
    (ReviewSet, {"study_id": 1, "slug": "r1", "origin": "design", "design_hash": "h"}),
    (Rater, {"pseudonym": "anna"}),
]


def make_assignments(engine: Engine, number: int) -> None:
    """One conversation, given to one rater as often as asked."""
    item = {"study_id": 1, "review_set_id": 1, "conversation_id": 1, "metric_version_id": 1, "rater_id": 1}
    with writing(engine) as session:
        for table, row in ONE_ITEM:
            insert_if_absent(session, table, [row])
        rows = [item | {"repeat": n, "code": f"code-{n}", "position": n} for n in range(number)]
        assert insert_if_absent(session, Assignment, rows) == number


def label(assignment_id: int, revision: int = 1) -> dict[str, Any]:
    return {
        "assignment_id": assignment_id,
        "revision": revision,
        "operation": f"{assignment_id}/{revision}",
        "status": LabelStatus.SUBMITTED,
        "verdict": LabelVerdict.PASS,
    }


def count_of(engine: Engine, table: type[Table]) -> int:
    with reading(engine) as session:
        return int(session.connection().execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def test_a_row_is_added_once_and_counted_once(engine: Engine) -> None:
    rows = [{"slug": "a"}, {"slug": "b"}]
    with writing(engine) as session:
        assert insert_if_absent(session, Model, rows) == 2
        assert insert_if_absent(session, Model, [*rows, {"slug": "c"}]) == 1
        assert insert_if_absent(session, Model, [{"slug": "d"}, {"slug": "d"}]) == 1
        assert insert_if_absent(session, Model, []) == 0
    assert count_of(engine, Model) == 4


def test_a_connection_adds_and_puts_what_a_session_does_or_nothing(engine: Engine) -> None:
    make_assignments(engine, 1)
    for content, added in (({"rationale": "a"}, 1), ({"rationale": "ab"}, 0)):
        with writing_rows(engine) as rows:
            assert insert_if_absent(rows, Label, [label(1)]) == added
            put(rows, Draft, {"assignment_id": 1, "content": content, "updated_at": datetime.now(UTC)})
    with pytest.raises(sa.exc.IntegrityError), writing_rows(engine) as rows:
        insert_if_absent(rows, Label, [label(1, 2), label(99)])
    with reading_rows(engine) as rows:
        assert rows.scalars(sa.select(Draft.content)).all() == [{"rationale": "ab"}]  # type: ignore[call-overload]
    with reading(engine) as session:
        (kept,) = session.scalars(sa.select(Label)).all()
        assert (kept.verdict, kept.revision, kept.turns) == (LabelVerdict.PASS, 1, [])


def test_many_rows_at_once_are_counted(engine: Engine) -> None:
    rows = [{"slug": f"model-{n}"} for n in range(5_000)]
    with writing(engine) as session:
        assert insert_if_absent(session, Model, rows[:3_000]) == 3_000
        assert insert_if_absent(session, Model, rows) == 2_000


def test_defaults_are_filled_in_and_values_are_checked(engine: Engine) -> None:
    with writing(engine) as session:
        insert_if_absent(session, Study, [{"slug": "s", "title": "S"}])
    with reading(engine) as session:
        created, notice = session.connection().execute(sa.text("SELECT created_at, notice FROM study")).one()
    assert created is not None
    assert notice == ""
    with pytest.raises(ValueError, match="title"), writing(engine) as session:
        insert_if_absent(session, Study, [{"slug": "t"}])


def test_a_failed_transaction_leaves_nothing(engine: Engine) -> None:
    def fail_halfway() -> None:
        with writing(engine) as session:
            insert_if_absent(session, Model, [{"slug": "a"}])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_halfway()
    assert count_of(engine, Model) == 0


def test_a_row_that_points_nowhere_is_refused(engine: Engine) -> None:
    with pytest.raises(sa.exc.IntegrityError), writing(engine) as session:
        insert_if_absent(session, Label, [label(99)])


def test_twelve_threads_add_fifty_labels_each_and_none_is_lost(engine: Engine) -> None:
    make_assignments(engine, THREADS * LABELS)
    start, failures = threading.Barrier(THREADS), []

    def add(thread: int) -> None:
        start.wait()
        for number in range(LABELS):
            try:
                with writing(engine) as session:
                    insert_if_absent(session, Label, [label(thread * LABELS + number + 1)])
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=add, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert count_of(engine, Label) == THREADS * LABELS == 600


def test_twelve_threads_that_read_before_they_write_agree_on_the_next_revision(engine: Engine) -> None:
    make_assignments(engine, 1)
    start, failures = threading.Barrier(THREADS), []

    def revise() -> None:
        start.wait()
        added = 0
        while not added:
            try:
                with writing(engine) as session:
                    newest = (
                        session.connection()
                        .execute(sa.select(sa.func.max(sa.column("revision"))).select_from(sa.table("label")))
                        .scalar_one()
                        or 0
                    )
                    added = insert_if_absent(session, Label, [label(1, newest + 1)])
            except Exception as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=revise) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert count_of(engine, Label) == THREADS


def test_a_reader_does_not_wait_for_a_writer(engine: Engine) -> None:
    with writing(engine) as session:
        insert_if_absent(session, Model, [{"slug": "a"}])
        assert count_of(engine, Model) == 0
    assert count_of(engine, Model) == 1


def test_sqlite_keeps_its_promises(sqlite_engine: Engine) -> None:
    with sqlite_engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "IMPACTBENCH_DATABASE_URL is not an address of a database"),
        ("nodialect://x", "IMPACTBENCH_DATABASE_URL is not an address of a database"),
        ("sqlite:////nowhere/at/all.db", "cannot be opened"),
        ("postgresql+psycopg://nobody@/x?host=/nowhere", "cannot be opened"),
    ],
)
def test_a_database_that_cannot_be_reached_is_named(url: str, said: str) -> None:
    with pytest.raises(DatabaseUnreachable, match=said):
        require_current(connect(url))


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnreachable) as refused:
        require_current(connect("postgresql+psycopg://me:hunter2@/x?host=/nowhere"))
    assert "hunter2" not in str(refused.value)


def test_ages_come_back_as_words_of_the_domain(engine: Engine) -> None:
    make_assignments(engine, 1)
    with reading(engine) as session:
        assert session.get_one(Scenario, 1).age is AgeVariant.TEEN
