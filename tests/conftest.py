"""What every test may ask for."""

import asyncio
import gc
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Engine

from impactbench.store.engine import connect
from tests.databases import (
    PostgresAbsent,
    PostgresServer,
    migrated_sqlite_file,
    postgres_server,
    quick_place,
    why_no_postgres,
)
from tests.manifests import read_once
from tests.material import REQUIRED, SHARED

os.environ["COLUMNS"] = "160"  # read once, when the command line is imported
os.environ["STREAMLIT_RUNNER_POST_SCRIPT_GC"] = "false"  # as the server is run
if _quick := quick_place():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_quick))  # where `tmp_path` is
read_once()

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests on PostgreSQL where there is none; under CI they stay, and fail."""
    if REQUIRED or not why_no_postgres():
        return
    without = [item for item in items if item.get_closest_marker("postgres")]
    items[:] = [item for item in items if item not in without]
    config.hook.pytest_deselected(items=without)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep thousands of tests and all that they import out of every later garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not REQUIRED and (reason := why_no_postgres()):
        terminalreporter.write_line(f"The tests on PostgreSQL were left out: {reason}")


@pytest.fixture(autouse=True)
def own_event_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Playwright leaves its loop marked as running in a process that has driven a browser; others start their own."""
    if request.node.get_closest_marker("browser"):
        yield
        return
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material: real data for tests, never copied into the project."""
    if not SHARED.exists():
        message = f"the shared material is not at {SHARED}"
        pytest.fail(message) if REQUIRED else pytest.skip(message)
    return SHARED


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy; not to write to."""
    return migrated_sqlite_file(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for the whole run, with the databases `migrated` and `empty` to copy."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(postgres_server())
        except PostgresAbsent as absent:
            pytest.fail(f"PostgreSQL cannot be started: {absent}")
        server.make("empty", migrated=False)
        server.make("migrated", migrated=True)
        yield server


@pytest.fixture
def sqlite_url(tmp_path: Path, sqlite_template: Path) -> str:
    """The URL of a fresh, migrated SQLite file: for a program that a test starts."""
    path = tmp_path / "impactbench.db"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a fresh, migrated database: the test runs once on SQLite and once on PostgreSQL."""
    if request.param == "sqlite":
        yield request.getfixturevalue("sqlite_url")
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database(template="migrated") as url:
        yield url


@pytest.fixture(params=KINDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without a schema, on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database(template="empty") as url:
        yield url


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine on the database of `database_url`."""
    engine = connect(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def sqlite_engine(sqlite_url: str) -> Iterator[Engine]:
    """An engine on the database of `sqlite_url`: for what does not depend on the kind of database."""
    engine = connect(sqlite_url)
    yield engine
    engine.dispose()
