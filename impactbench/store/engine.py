"""The connection: SQLite or PostgreSQL, one connection per operation, migrations before anything else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, Insert, QueuePool, create_engine, event, inspect, make_url
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
from sqlalchemy.sql.dml import ReturningInsert
from sqlmodel import Session

from impactbench.domain import ImpactBenchError
from impactbench.store.tables import Table

_MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_SECONDS = 30
_KNOWN_STATEMENTS = 500
_KEPT_OPEN = 24
"""Connections to a SQLite file; where more people than that do something at once, some are opened for the occasion."""


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
            {"poolclass": QueuePool, "pool_size": _KEPT_OPEN, "max_overflow": -1}
            if sqlite
            else {"pool_pre_ping": True}
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
    with _turn(engine), Session(engine, expire_on_commit=False) as session, session.begin():
        yield session


@contextmanager
def reading_rows(engine: Engine) -> Iterator[Connection]:
    """As `reading`, but for columns only: a statement costs a fraction of what it costs where objects are loaded."""
    with engine.connect().execution_options(sqlite_begin="BEGIN", compiled_cache=_known(engine)) as rows:
        yield rows


@contextmanager
def writing_rows(engine: Engine) -> Iterator[Connection]:
    """As `writing`: one transaction, all of it or nothing; for columns only."""
    with (
        _turn(engine),
        engine.connect().execution_options(compiled_cache=_known(engine)) as rows,
        rows.begin(),
    ):
        yield rows


class _Known(dict[Any, Any]):
    """Statements that were compiled, by the very statement: most live as long as the program and are run all the time.

    SQLAlchemy asks for one by everything that it is made of, some hundred parts that lie about in memory. Touching them all
    took a third of the time that an answer at the desk took.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        dialect, parts, *how = key
        known = super().get((dialect, id(parts), *how))
        return default if known is None else known[1]

    def __setitem__(self, key: Any, compiled: Any) -> None:
        dialect, parts, *how = key
        if len(self) >= _KNOWN_STATEMENTS:
            self.clear()
        super().__setitem__(
            (dialect, id(parts), *how), (parts, compiled)
        )  # kept, so that no other has its id


_of_engines: WeakKeyDictionary[Engine, _Known] = WeakKeyDictionary()


def _known(engine: Engine) -> _Known:
    return _of_engines.setdefault(engine, _Known())


_turns: WeakKeyDictionary[Engine, Lock] = WeakKeyDictionary()


@contextmanager
def _turn(engine: Engine) -> Iterator[None]:
    """Let the threads of this process write to a SQLite file one after the other.

    SQLite would have them do so anyway, but who waits for its lock looks again after some milliseconds and then ever more
    seldom: where many write at once, most of the time is slept away, and the last to come wait far longer than the others.
    Other processes are still SQLite's to keep apart.
    """
    if engine.dialect.name != "sqlite":
        yield
        return
    lock = _turns.setdefault(engine, Lock())
    mine = lock.acquire(timeout=_BUSY_SECONDS)
    try:
        yield
    finally:
        if mine:
            lock.release()


def insert_if_absent(
    session: Session | Connection, table: type[Table], rows: Sequence[Mapping[str, Any]]
) -> int:
    """Add the rows that no unique constraint knows yet; returns how many were added.

    Every row is validated, and columns left out take their defaults. The same rows twice are the same as once.
    """
    if not rows:
        return 0
    valid = [table.model_validate(row).model_dump(exclude={"id"} - set(row)) for row in rows]
    return len(session.execute(_adding(table, _dialect(session)), valid).all())


def put(session: Session | Connection, table: type[Table], row: Mapping[str, Any]) -> None:
    """Add a row, or replace the one with its primary key. Only for what is no fact, such as a draft."""
    session.execute(_putting(table, _dialect(session), tuple(row)), [dict(row)])


def _dialect(session: Session | Connection) -> str:
    return (session if isinstance(session, Connection) else session.get_bind()).dialect.name


# Statements are made once: making one costs more than running it.


@cache
def _adding(table: type[Table], dialect: str) -> ReturningInsert[Any]:
    key = inspect(table).primary_key[0]
    statement: ReturningInsert[Any] = _insert(dialect)(table).on_conflict_do_nothing().returning(key)
    return statement


@cache
def _putting(table: type[Table], dialect: str, columns: tuple[str, ...]) -> Insert:
    key = [column.name for column in inspect(table).primary_key]
    bare = _insert(dialect)(table)
    changed = {name: bare.excluded[name] for name in columns if name not in key}
    statement: Insert = bare.on_conflict_do_update(index_elements=key, set_=changed)
    return statement


def _insert(dialect: str) -> Callable[[Any], Any]:
    return sqlite_insert if dialect == "sqlite" else postgresql_insert


def upgrade(engine: Engine) -> str:
    """Bring the schema up to date; returns the revision it now has."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    try:
        with _rebuilding(engine) as connection, connection.begin():
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            _require_references(connection)
    except DatabaseError as error:
        raise _unreachable(engine, error) from error
    return newest_revision()


@contextmanager
def _rebuilding(engine: Engine) -> Iterator[Connection]:
    """A connection on which a SQLite table can be made anew while rows of others refer to it, as some migrations must."""
    with engine.connect() as connection:
        if engine.dialect.name != "sqlite":
            yield connection
            return
        driver: Any = connection.connection.driver_connection  # the pragma does nothing inside a transaction
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            yield connection
        finally:
            driver.execute("PRAGMA foreign_keys=ON")


def _require_references(connection: Connection) -> None:
    """Refuse what leaves a row that refers to nothing; the transaction is undone then.

    Raises:
        DatabaseBehind: the text names the tables.
    """
    if connection.dialect.name != "sqlite":
        return
    if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all():
        tables = ", ".join(sorted({str(row[0]) for row in broken}))
        raise DatabaseBehind(
            f"rows of {tables} would refer to nothing after the upgrade: nothing was changed"
        )


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
