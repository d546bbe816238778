"""A run whose judgments and scenarios go by batch makes what it makes without."""

import os
import signal
from contextlib import nullcontext
from pathlib import Path

from sqlalchemy import Engine

from impactbench.llm import CallFailed, Reply, Request
from impactbench.providers.batches import PURPOSES, Rhythm
from impactbench.providers.scripted import Scripted
from impactbench.runs.start import start_run
from impactbench.store import frames
from tests.impactbench.runs.invented_run import answer, plan, play, suite

AT_ONCE = Rhythm(size=3, linger=0.005, every=0.005)


class Office:
    """Takes batches; the first look at each finds it unfinished."""

    def __init__(self) -> None:
        self.batches: list[dict[str, Request]] = []
        self.looks = 0

    async def send(self, requests: dict[str, Request]) -> str:
        self.batches.append(dict(requests))
        return f"batch-{len(self.batches)}"

    async def results(self, batch: str, requests: dict[str, Request]) -> dict[str, Reply | CallFailed] | None:
        self.looks += 1
        if self.looks % 2:
            return None
        sent = self.batches[int(batch.removeprefix("batch-")) - 1]
        return {name: Reply(text=answer(request)) for name, request in sent.items()}


def test_judgments_and_scenarios_go_by_batch_and_the_results_are_the_same(
    sqlite_engine: Engine, tmp_path: Path
) -> None:
    office, provider = Office(), Scripted(answer)
    batched = plan(study={"slug": "batched"}, batches=["script"], repeats=2)
    done, because = start_run(
        sqlite_engine,
        batched,
        suite=suite(),
        provider=nullcontext(provider),
        state_dir=tmp_path,
        endpoints={"script": office},
        rhythm=AT_ONCE,
    )
    assert (because, done.conversations, done.judgments, done.unscored, done.failed) == (
        "finished",
        8,
        16,
        0,
        0,
    )
    sent = [request.purpose for requests in office.batches for request in requests.values()]
    assert sent.count("judge") == 16
    assert set(sent) <= PURPOSES
    assert set(provider.calls) == {"plan_message", "target"}
    assert (tmp_path / "batches-batched-run-1.jsonl").read_text().count("\n") == len(office.batches)

    play(sqlite_engine, plan(repeats=2), Scripted(answer))
    said = [
        frames.judgments(sqlite_engine, study)
        .sort_values(["justification", "repeat"])["justification"]
        .tolist()
        for study in ("batched", "made")
    ]
    assert said[0] == said[1]


def test_ctrl_c_waits_for_no_batch_and_the_next_start_finds_it_again(
    sqlite_engine: Engine, tmp_path: Path
) -> None:
    class Slow(Office):
        async def results(
            self, batch: str, requests: dict[str, Request]
        ) -> dict[str, Reply | CallFailed] | None:
            os.kill(os.getpid(), signal.SIGINT)

    class Keeps(Office):
        def __init__(self, before: Office) -> None:
            super().__init__()
            self.batches = before.batches

    def start(office: Office) -> str:
        _, because = start_run(
            sqlite_engine,
            plan(batches=["script"]),
            suite=suite(),
            provider=nullcontext(Scripted(answer)),
            state_dir=tmp_path,
            endpoints={"script": office},
            rhythm=AT_ONCE,
        )
        return because

    slow = Slow()
    assert start(slow) == "interrupted"
    sent = len(slow.batches)
    assert sent > 0
    assert start(Keeps(slow)) == "finished"
    asked = [request.place for requests in slow.batches for request in requests.values()]
    assert len(asked) == len(set(asked)), "what was under way is looked at again, and not sent again"
