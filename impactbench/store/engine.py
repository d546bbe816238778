"""The connection: SQLite or PostgreSQL, one connection per operation, migrations before anything else."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, inspect, make_url
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
from sqlmodel import Session

from impactbench.domain import ImpactBenchError
from impactbench.store.tables import Table

_MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_SECONDS = 30


class DatabaseBehind(ImpactBenchError):
    """The schema of the database is not the one of this program."""


class DatabaseUnreachable(ImpactBenchError):
    """The database cannot be opened."""


def connect(url: str) -> Engine:
    """The engine of a database; nothing is opened yet.

    SQLite gets WAL, foreign keys, a busy timeout and `BEGIN IMMEDIATE` for writers: with the driver's own deferred
    BEGIN a read followed by a write fails at once where another writer came between, whatever the timeout.
    """
    try:
        sqlite = make_url(url).get_backend_name() == "sqlite"
        # Each operation has a connection to itself; opening a SQLite file for each would cost more than a query.
        pool: dict[str, Any] = (
            {"poolclass": QueuePool, "max_overflow": -1} if sqlite else {"pool_pre_ping": True}
        )
        engine = create_engine(url, **pool)
    except (ArgumentError, NoSuchModuleError) as error:
        raise DatabaseUnreachable(
            f"IMPACTBENCH_DATABASE_URL is not an address of a database: {error}"
        ) from error
    except ModuleNotFoundError as error:
        raise DatabaseUnreachable(
            f"the database needs the Python package {error.name!r}: install impactbench[postgres]"
        ) from error
    if sqlite:
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        f"busy_timeout={_BUSY_SECONDS * 1000}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("sqlite_begin", "BEGIN IMMEDIATE"))


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """A consistent view of the database that waits for no writer; what it loads stays readable afterwards."""
    with Session(engine.execution_options(sqlite_begin="BEGIN"), expire_on_commit=False) as session:
        yield session
        session.expunge_all()


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """One transaction: all of it, or nothing."""
    with Session(engine, expire_on_commit=False) as session, session.begin():
        yield session


def insert_if_absent(session: Session, table: type[Table], rows: Sequence[Mapping[str, Any]]) -> int:
    """Add the rows that no unique constraint knows yet; returns how many were added.

    Every row is validated, and columns left out take their defaults. The same rows twice are the same as once.
    """
    if not rows:
        return 0
    valid = [table.model_validate(row).model_dump(exclude={"id"} - set(row)) for row in rows]
    insert = sqlite_insert if session.get_bind().dialect.name == "sqlite" else postgresql_insert
    key = inspect(table).primary_key[0]
    statement = insert(table).on_conflict_do_nothing().returning(key)
    return len(session.execute(statement, valid).all())


def put(session: Session, table: type[Table], row: Mapping[str, Any]) -> None:
    """Add a row, or replace the one with its primary key. Only for what is no fact, such as a draft."""
    insert = sqlite_insert if session.get_bind().dialect.name == "sqlite" else postgresql_insert
    key = [column.name for column in inspect(table).primary_key]
    changed = {name: value for name, value in row.items() if name not in key}
    session.execute(insert(table).values(dict(row)).on_conflict_do_update(index_elements=key, set_=changed))


def upgrade(engine: Engine) -> str:
    """Bring the schema up to date; returns the revision it now has."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except DatabaseError as error:
        raise _unreachable(engine, error) from error
    return newest_revision()


def newest_revision() -> str:
    head = ScriptDirectory(str(_MIGRATIONS)).get_current_head()
    if head is None:
        raise DatabaseBehind("this installation has no migrations: install impactbench again")
    return head


def require_current(engine: Engine) -> None:
    """Refuse a database whose schema is not this program's.

    Raises:
        DatabaseBehind: the text says which command to run.
    """
    try:
        with reading(engine) as session:
            has = MigrationContext.configure(session.connection()).get_current_revision()
    except DatabaseError as error:
        raise _unreachable(engine, error) from error
    wanted = newest_revision()
    if has == wanted:
        return
    if has is not None and has not in _known_revisions():
        raise DatabaseBehind(
            f"the database was made by a newer ImpactBench (revision {has}): update the program, then start again"
        )
    state = "is empty" if has is None else f"is at revision {has}, this program needs {wanted}"
    where = engine.url.render_as_string()
    raise DatabaseBehind(f"the database {where} {state}: run `impactbench db upgrade`, then start again")


def _known_revisions() -> set[str]:
    return {script.revision for script in ScriptDirectory(str(_MIGRATIONS)).walk_revisions()}


def _unreachable(engine: Engine, error: DatabaseError) -> DatabaseUnreachable:
    reason = str(error.orig).strip().splitlines()[0]
    where = engine.url.render_as_string()
    return DatabaseUnreachable(
        f"the database {where} cannot be opened ({reason}); is IMPACTBENCH_DATABASE_URL right?"
    )
