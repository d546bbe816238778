"""SIGKILL at random moments: the finished study equals an uninterrupted one, and no reply on disk is paid for again."""

import os
import shutil
import signal
import time
from pathlib import Path

from impactbench.runs.status import run_statuses
from impactbench.store.engine import connect
from tests.impactbench.runs.cuts import (
    AT_ONCE,
    on_disk,
    paid,
    run_in_a_process,
    run_with_cuts,
    study_of,
    time_uninterrupted,
)

KILLS = 10


def test_a_run_that_is_killed_again_and_again_ends_as_one_that_was_not(
    database_url: str, tmp_path: Path, sqlite_template: Path
) -> None:
    whole = f"sqlite:///{tmp_path / 'whole.db'}"
    shutil.copy(sqlite_template, tmp_path / "whole.db")
    duration = time_uninterrupted(whole, tmp_path / "whole.ledger")

    ledger = tmp_path / "cut.ledger"
    cuts = run_with_cuts(database_url, ledger, kills=KILLS, longest=duration / 4, seed=3)
    assert cuts.kills == KILLS
    assert cuts.before_the_end >= KILLS / 2
    assert study_of(database_url) == study_of(whole)

    engine = connect(database_url)
    kept = on_disk(engine)
    engine.dispose()
    assert kept == paid(tmp_path / "whole.ledger")
    assert sum((paid(ledger) - kept).values()) == sum(cuts.lost)
    assert max(cuts.lost) <= AT_ONCE


def test_an_interrupt_keeps_what_was_paid_for_and_says_so(sqlite_url: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    process = run_in_a_process(sqlite_url, ledger)
    deadline = time.monotonic() + 30
    while len(paid(ledger)) < AT_ONCE and time.monotonic() < deadline:
        time.sleep(0.005)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join()
    assert process.exitcode == 0
    engine = connect(sqlite_url)
    assert on_disk(engine) == paid(ledger)
    status = run_statuses(engine)[0]
    assert (status.running, status.ended_because) == (False, "interrupted")
    assert status.conversations_left > 0
    engine.dispose()
