"""A run on a local cluster of three workers, one of which is killed in the middle of calls. Ray leaves much behind in a process, so it gets its own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from impactbench.llm import CallFailed, FailureKind, Message, Provider, Reply, Request
from impactbench.providers.ray_engine import ray_provider
from impactbench.runs.design import read_design
from impactbench.runs.plan import plan_run
from impactbench.runs.start import start_run
from impactbench.store import frames
from impactbench.store.engine import connect
from tests.databases import migrated_sqlite_file
from tests.impactbench.runs.invented_run import suite, write_study

ROOT = Path(__file__).resolve().parents[3]
CALLS = 30


class NamesItsProcess:
    """Answers with the number of its process, or refuses."""

    async def complete(self, request: Request) -> Reply:
        if request.purpose == "filter":
            raise CallFailed("No.", kind=FailureKind.CONTENT_FILTER)
        await asyncio.sleep(1.0 if request.purpose == "slow" else 0.0)
        return Reply(text=str(os.getpid()))


def ask(number: int, purpose: str = "") -> Request:
    return Request(model="x/y", messages=(Message(role="user", content=str(number)),), purpose=purpose)


async def drill() -> dict[str, object]:
    async with ray_provider(NamesItsProcess, count=3) as provider:

        async def processes(purpose: str) -> list[str]:
            replies = await asyncio.gather(*(provider.complete(ask(n, purpose)) for n in range(CALLS)))
            return [reply.text for reply in replies]

        before = await processes("")
        try:
            await provider.complete(ask(0, "filter"))
            kind = "none"
        except CallFailed as failure:
            kind = failure.kind
        in_the_middle = asyncio.create_task(processes("slow"))
        await asyncio.sleep(0.4)
        os.kill(int(before[0]), signal.SIGKILL)
        return {"before": before, "killed": before[0], "kind": kind, "during": await in_the_middle}


def rehearse(engine_name: str, folder: Path) -> list[list[str]]:
    """The turns of every conversation of a run whose calls one engine makes, without the engine in their keys."""
    folder.mkdir()
    made = read_design(write_study(folder, engine=engine_name, worker_processes=2))
    database = connect(f"sqlite:///{migrated_sqlite_file(folder)}")
    done, because = start_run(database, plan_run(made, suite()), suite=suite())
    assert (because, done.conversations, done.judgments) == ("finished", 8, 8)
    found = [
        frame.drop(columns=[name for name in frame.columns if name.endswith("_id")]).astype(str)
        for frame in (frames.conversations(database, "made"), frames.judgments(database, "made"))
    ]
    database.dispose()
    return [sorted(map(" ".join, frame.to_numpy().tolist())) for frame in found]


@pytest.mark.slow
def test_every_call_is_answered_although_a_worker_is_killed_in_the_middle() -> None:
    command = [sys.executable, "-m", "tests.impactbench.providers.test_ray_engine"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    told = json.loads(ended.stdout.splitlines()[-1])
    assert len(set(told["before"])) == 3
    assert told["kind"] == FailureKind.CONTENT_FILTER
    assert len(told["during"]) == CALLS
    assert told["killed"] not in told["during"]
    assert told["on_ray"] == told["here"]


def test_a_call_under_which_every_worker_dies_is_a_failure() -> None:
    class Dies(Exception):
        pass

    class Remote:
        class complete:  # noqa: N801 - as Ray spells a method of an actor
            @staticmethod
            async def remote(_request: Request) -> Reply:
                raise Dies

    class Ray:
        class exceptions:  # noqa: N801 - a module
            RayActorError = Dies

    from impactbench.providers.ray_engine import LIVES, _OnRay

    provider: Provider = _OnRay(Ray, [Remote(), Remote()])
    with pytest.raises(CallFailed, match=f"{LIVES} workers of the cluster died") as failed:
        asyncio.run(provider.complete(ask(0)))
    assert (failed.value.kind, failed.value.lost) == (FailureKind.LOST, LIVES)


def main() -> dict[str, object]:
    """All on one cluster, since starting one takes longer than all the rest."""
    import ray

    ray.init(log_to_driver=False, include_dashboard=False)
    with tempfile.TemporaryDirectory() as folder:
        records = {
            "on_ray": rehearse("ray", Path(folder) / "ray"),
            "here": rehearse("asyncio", Path(folder) / "here"),
        }
    return asyncio.run(drill()) | records


if __name__ == "__main__":
    print(json.dumps(main()), flush=True)  # noqa: T201
