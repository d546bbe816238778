"""Runs that are killed at random moments, and what is to be compared afterwards."""

import multiprocessing
import os
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, select

from impactbench.llm import Request
from impactbench.providers.scripted import Answer, Scripted
from impactbench.runs.start import start_run
from impactbench.store import frames
from impactbench.store.engine import connect, reading
from impactbench.store.run_frames import call
from tests.impactbench.runs.invented_run import answer, plan, suite

AT_ONCE = 4
DELAY = 0.008
DESIGN = {"scenarios_per_metric": 2, "repeats": 2, "limits": {"*": {"at_once": AT_ONCE}}}
_FORK = multiprocessing.get_context("fork")


@dataclass
class Cuts:
    """What the kills of one study led to."""

    kills: int = 0
    before_the_end: int = 0
    """Kills that found the run under way."""
    lost: list[int] = field(default_factory=list)
    """For each kill: replies that had been given and were not on disk yet."""


def run_in_a_process(url: str, ledger: Path) -> multiprocessing.process.BaseProcess:
    """Start the run in a process of its own, with a provider that notes each answer in a ledger."""
    process = _FORK.Process(target=_work, args=(url, ledger))
    process.start()
    return process


def _work(url: str, ledger: Path) -> None:
    engine = connect(url)
    slowly = Scripted(lambda request: Answer(text=answer(request), delay=_delay(request)), ledger=ledger)
    start_run(engine, plan(**DESIGN), suite=suite(), provider=nullcontext(slowly))
    os._exit(0)


def _delay(request: Request) -> float:
    return DELAY * (0.5 + int(request.call_hash[:2], 16) / 255)


def time_uninterrupted(url: str, ledger: Path) -> float:
    """Run it to its end; gives how long that took."""
    started = time.monotonic()
    process = run_in_a_process(url, ledger)
    process.join()
    assert process.exitcode == 0
    return time.monotonic() - started


def run_with_cuts(url: str, ledger: Path, *, kills: int, longest: float, seed: int) -> Cuts:
    """Kill it again and again at random moments, then let it end."""
    generator = np.random.default_rng(seed)
    engine = connect(url)
    cuts = Cuts()
    lost_before = 0
    for _ in range(kills):
        process = run_in_a_process(url, ledger)
        time.sleep(float(generator.uniform(0.01, longest)))
        cuts.before_the_end += process.is_alive()
        process.kill()
        process.join()
        cuts.kills += 1
        lost = sum((paid(ledger) - on_disk(engine)).values())
        cuts.lost.append(lost - lost_before)
        lost_before = lost
    last = run_in_a_process(url, ledger)
    last.join()
    assert last.exitcode == 0
    engine.dispose()
    return cuts


def paid(ledger: Path) -> Counter[str]:
    """How often each request was answered."""
    lines = ledger.read_text().splitlines() if ledger.exists() else []
    return Counter(line.rpartition("\t")[2] for line in lines)


def on_disk(engine: Engine) -> Counter[str]:
    """How often the answer to each request is kept."""
    with reading(engine) as session:
        return Counter(session.connection().execute(select(call.request_hash)).scalars().all())


def study_of(url: str) -> list[list[object]]:
    """All that a run made, in an order of its own."""
    engine = connect(url)
    conversations = frames.conversations(engine, "made")
    kept = conversations.drop(columns=["conversation_id", "metric_version_id"])
    judgments = frames.judgments(engine, "made").merge(
        conversations[["conversation_id", "conversation"]], on="conversation_id"
    )
    judged = judgments[["conversation", "judge", "repeat", "present", "unscored_because", "justification"]]
    engine.dispose()
    return [
        kept.sort_values("conversation").astype(str).to_numpy().tolist(),
        judged.sort_values(["conversation", "judge", "repeat"]).astype(str).to_numpy().tolist(),
    ]
