"""Databases for tests: SQLite files and a PostgreSQL server of their own, each a copy of a migrated template."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg

from impactbench.store.engine import connect, upgrade

_BINARIES = Path("/usr/lib/postgresql")
_START_SECONDS = 30
_MEMORY = Path("/dev/shm")
_PLENTY = 4_000_000_000
"""Bytes; two workers need less than a fifth of it."""
_ACCOUNT = "postgres"


class PostgresAbsent(Exception):
    """There is no PostgreSQL server that these tests could start; the text says what is missing."""


@dataclass(frozen=True)
class PostgresServer:
    """A running server that listens on a socket in `folder` and on nothing else."""

    folder: Path
    names: Iterator[int]

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://{_ACCOUNT}@/{database}?host={self.folder}"

    @contextmanager
    def database(self, *, template: str) -> Iterator[str]:
        """A copy of a database, gone at the end whoever is still connected to it; gives its URL."""
        name = f"test_{next(self.names)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url(name)
        finally:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    def make(self, name: str, *, migrated: bool) -> str:
        """A database that later ones are copied from."""
        self._execute(f"CREATE DATABASE {name} TEMPLATE template0")
        if migrated:
            _migrate(self.url(name))
        return name

    def _execute(self, statement: str) -> None:
        with psycopg.connect(
            host=str(self.folder), user=_ACCOUNT, dbname="postgres", autocommit=True
        ) as server:
            server.execute(statement.encode())


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A fresh server for as long as the block lasts; also when the tests run as root, which PostgreSQL refuses.

    Raises:
        PostgresAbsent: it is not installed, or may not be started here.
    """
    binaries, run_as = _find_binaries(), _other_account()
    folder = Path(tempfile.mkdtemp(prefix="impactbench-postgres-", dir=quick_place()))
    if run_as:
        shutil.chown(folder, _ACCOUNT, _ACCOUNT)
    data = folder / "data"
    try:
        initdb = [binaries / "initdb", "--pgdata", data, "--username", _ACCOUNT, "--auth", "trust"]
        subprocess.run(
            [*run_as, *initdb, "--encoding", "UTF8", "--no-locale", "--no-sync"],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(folder),
            "fsync": "off",
            "full_page_writes": "off",
            "max_connections": "100",
            "autovacuum": "off",
            "jit": "off",
            "max_wal_senders": "0",
            "max_wal_size": "128MB",
            "wal_level": "minimal",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*run_as, binaries / "postgres", "-D", data, *options], stdout=log, stderr=log, cwd=folder
            )
        try:
            _wait_until_it_answers(folder, process)
            yield PostgresServer(folder=folder, names=count(1))
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait(timeout=_START_SECONDS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def quick_place() -> Path | None:
    """Memory, where there is plenty: a disk takes milliseconds for each of many thousand commits, and a second for a copy."""
    if not _MEMORY.is_dir():
        return None
    room = os.statvfs(_MEMORY)
    return _MEMORY if room.f_bavail * room.f_frsize > _PLENTY else None


def why_no_postgres() -> str:
    """Why no server can be started here; empty where one can."""
    try:
        _find_binaries()
        _other_account()
    except PostgresAbsent as absent:
        return str(absent)
    return ""


def migrated_sqlite_file(folder: Path) -> Path:
    """A SQLite file at the newest revision, in one piece: no write-ahead log beside it."""
    path = folder / "template.db"
    _migrate(f"sqlite:///{path}")
    for left_behind in folder.glob("template.db-*"):
        raise AssertionError(f"a copy of {path} would lack {left_behind}")
    return path


def _migrate(url: str) -> None:
    engine = connect(url)
    upgrade(engine)
    engine.dispose()


def _find_binaries() -> Path:
    on_path = shutil.which("postgres")
    candidates = [Path(on_path).parent] if on_path else []
    candidates += sorted(_BINARIES.glob("*/bin"), key=lambda folder: -float(folder.parent.name))
    for folder in candidates:
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            return folder
    raise PostgresAbsent(f"no `postgres` and `initdb` in PATH or {_BINARIES}/*/bin")


def _other_account() -> list[str]:
    """What to put before a command so that it does not run as root; nothing where nobody is root."""
    if os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam(_ACCOUNT)
    except KeyError:
        raise PostgresAbsent(f"there is no account {_ACCOUNT!r} to start the server with") from None
    if not (setpriv := shutil.which("setpriv")):
        raise PostgresAbsent("root may not start the server and there is no `setpriv`")
    return [setpriv, f"--reuid={_ACCOUNT}", f"--regid={_ACCOUNT}", "--clear-groups", "--pdeathsig=QUIT"]


def _wait_until_it_answers(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(host=str(folder), user=_ACCOUNT, dbname="postgres").close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                said = (folder / "log").read_text(errors="replace")
                raise RuntimeError(f"the PostgreSQL server did not start:\n{said}") from None
            time.sleep(0.05)
        else:
            return
