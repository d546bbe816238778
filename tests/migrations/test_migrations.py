"""The migrations lead from nothing to the schema of the program, on both databases."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine

from impactbench.store.engine import DatabaseBehind, connect, newest_revision, require_current, upgrade
from impactbench.store.tables import Table


def _checks(engine: Engine) -> dict[str, set[str | None]]:
    inspector = sa.inspect(engine)
    return {
        name: {check["name"] for check in inspector.get_check_constraints(name)}
        for name in Table.metadata.tables
    }


def _impactbench(url: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", "from app.cli import main; main()", *arguments],
        env=os.environ | {"IMPACTBENCH_DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


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


def test_the_command_upgrades_and_may_be_repeated(tmp_path: Path) -> None:
    empty_url = f"sqlite:///{tmp_path / 'new.db'}"
    for _ in range(2):
        done = _impactbench(empty_url, "db", "upgrade")
        assert (done.returncode, done.stdout) == (0, "")
        assert f"is at revision {newest_revision()}" in done.stderr
