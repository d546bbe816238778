"""One process at a time works on a run: two would pay for the same calls twice.

The lock is the operating system's or the server's, so it is gone with the process that held it, however that ended.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, text

from impactbench.domain import ImpactBenchError

_PATIENCE_SECONDS = 5.0
_STEP_SECONDS = 0.05
_NAMESPACE = 0x1B


class RunBusy(ImpactBenchError):
    """Another process works on the run."""


@contextmanager
def locked(engine: Engine, run_id: int, *, patience: float = _PATIENCE_SECONDS) -> Iterator[None]:
    """Hold a run for as long as the block lasts.

    Raises:
        RunBusy: somebody else does; a process that was just killed is waited for.
    """
    hold = _locked_in_postgres if engine.dialect.name == "postgresql" else _locked_file
    with hold(engine, run_id, patience=patience):
        yield


def is_busy(engine: Engine, run_id: int) -> bool:
    """Whether a process works on a run right now."""
    hold = _locked_in_postgres if engine.dialect.name == "postgresql" else _locked_file
    try:
        with hold(engine, run_id, patience=0):
            return False
    except RunBusy:
        return True


@contextmanager
def _locked_file(engine: Engine, run_id: int, *, patience: float) -> Iterator[None]:
    database = engine.url.database
    if not database or database == ":memory:":
        yield
        return
    path = Path(f"{database}.run-{run_id}.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _wait(lambda: _take_file(descriptor), patience)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _locked_in_postgres(engine: Engine, run_id: int, *, patience: float) -> Iterator[None]:
    take = text("SELECT pg_try_advisory_lock(:namespace, :run)")
    place = {"namespace": _NAMESPACE, "run": run_id}
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        _wait(lambda: bool(connection.execute(take, place).scalar_one()), patience)
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:namespace, :run)"), place)


def _take_file(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(take: Callable[[], bool], patience: float) -> None:
    deadline = time.monotonic() + patience
    while not take():
        if time.monotonic() >= deadline:
            raise RunBusy("another process works on this run: let it finish, or stop it, and start again")
        time.sleep(_STEP_SECONDS)
