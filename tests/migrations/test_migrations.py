"""The migrations lead from nothing to the schema of the program, on both databases."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine

from impactbench import store
from impactbench.store.engine import DatabaseBehind, connect, newest_revision, require_current, upgrade
from impactbench.store.tables import Table
from tests.app.command import Command


def _checks(engine: Engine) -> dict[str, set[str | None]]:
    inspector = sa.inspect(engine)
    return {
        name: {check["name"] for check in inspector.get_check_constraints(name)}
        for name in Table.metadata.tables
    }


def test_an_upgraded_database_is_what_the_tables_say(engine: Engine) -> None:
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Table.metadata) == []
    require_current(engine)


def test_the_migrations_make_every_check_that_the_tables_name(empty_url: str) -> None:
    engine = connect(empty_url)
    Table.metadata.create_all(engine)
    wanted = _checks(engine)
    Table.metadata.drop_all(engine)
    upgrade(engine)
    assert _checks(engine) == wanted
    assert any(wanted.values())
    engine.dispose()


AT = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
CHECKED = {
    "role": "expert",
    "polarity": "positive",
    "origin": "design",
    "decision": "hide",
    "status": "complete",
    "reason": "core",
    "verdict": "pass",
}
OF_TYPE: dict[type, Any] = {str: "words", int: 1, float: 0.5, bool: True}
OF_TYPE |= {datetime: AT, date: AT.date(), object: {"key": ["value"]}}


def _one_row_each(engine: Engine) -> dict[str, dict[str, Any]]:
    """Write a row into every table of the database as it is; what was written, by table."""
    found = sa.MetaData()
    found.reflect(engine)
    written: dict[str, dict[str, Any]] = {}
    for table in found.sorted_tables:
        if table.name != "alembic_version":
            written[table.name] = {
                column.name: _value(table.name, column) for column in table.columns if not column.nullable
            }
            with engine.begin() as connection:
                connection.execute(table.insert().values(written[table.name]))
    return written


def _value(table: str, column: "sa.Column[Any]") -> Any:
    if column.name == "status" and table == "label":
        return "skip"
    return CHECKED.get(column.name, OF_TYPE[column.type.python_type])


def test_what_the_first_workbench_kept_is_there_after_every_migration(empty_url: str) -> None:
    engine = connect(empty_url)
    config = Config()
    config.set_main_option("script_location", str(Path(str(store.__file__)).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    written = _one_row_each(engine)
    assert {"mask", "label", "assignment", "judgment"} <= set(written)
    upgrade(engine)
    require_current(engine)
    now = sa.MetaData()
    now.reflect(engine)
    with engine.begin() as connection:
        for name, row in written.items():
            kept = connection.execute(sa.select(*(now.tables[name].c[column] for column in row))).one()
            assert {
                c: v.replace(tzinfo=UTC) if isinstance(v, datetime) else v for c, v in kept._mapping.items()
            } == row
        place = {name: written["mask"][name] for name in written["mask"] if name != "id"}
        mask = now.tables["mask"]
        assert connection.execute(sa.select(mask.c.revision)).scalars().all() == [1]
        connection.execute(mask.insert().values(**place, id=2, revision=2))
    for wrong in ({"revision": 2}, {"revision": 3, "conversation_id": 99}):
        with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
            connection.execute(mask.insert().values(**place | wrong, id=3))
    engine.dispose()


def test_an_empty_database_is_refused_with_the_command_to_run(empty_url: str) -> None:
    empty = connect(empty_url)
    with pytest.raises(DatabaseBehind, match="is empty: run `impactbench db upgrade`"):
        require_current(empty)
    upgrade(empty)
    require_current(empty)
    empty.dispose()


@pytest.mark.parametrize(
    ("revision", "said"),
    [("9999", r"made by a newer ImpactBench \(revision 9999\): update the program")],
)
def test_a_database_of_another_time_is_refused(engine: Engine, revision: str, said: str) -> None:
    with engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision}
        )
    with pytest.raises(DatabaseBehind, match=said):
        require_current(engine)


def test_a_database_that_is_behind_is_refused_with_the_command_to_run(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = newest_revision()
    monkeypatch.setattr("impactbench.store.engine.newest_revision", lambda: "9999")
    with pytest.raises(
        DatabaseBehind, match=f"is at revision {has}, this program needs 9999: run `impactbench db upgrade`"
    ):
        require_current(engine)


def test_upgrading_twice_keeps_what_is_there(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(
            sa.text("INSERT INTO model (slug, provider, family, sibling_group) VALUES ('a', '', '', '')")
        )
    assert upgrade(engine) == upgrade(engine) == newest_revision()
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT slug FROM model")).scalars().all() == ["a"]


def test_the_command_upgrades_and_may_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IMPACTBENCH_DATABASE_URL", f"sqlite:///{tmp_path / 'new.db'}")
    for _ in range(2):
        done = Command(monkeypatch, capsys)("db", "upgrade")
        assert (done.code, done.out) == (0, "")
        assert f"is at revision {newest_revision()}" in done.err
