"""python -m bench.pipeline: how many conversations a second a run makes, beside three other ways of calling models.

python -m bench.pipeline --only ROW                   slow, inspect, quick, workers, plan or memory: a minute each, on two cores
python -m bench.pipeline                              every row
python -m bench.pipeline --inspect PYTHON             with Inspect AI, from an environment that has inspect-ai and openai
python -m bench.pipeline --repeats 3                  medians of that many turns

slow, inspect  1 s until an answer: beside 20 threads that call litellm, and beside Inspect AI
quick          50 ms: beside bare concurrent calls of litellm in one process
workers        50 ms: two worker processes beside one
plan           the plan and the resumption of the published study's 48,540 conversations
memory         of a long run, scaled

One mock server in a process of its own answers every side. Sides take turns. Ours is a whole run, with its store; a
conversation is thirteen calls one after another (`pipeline_sides.py`). Who is ahead is said in ratios, because a
machine may be shared. Both clocks are shown: at 50 ms a core is the limit, and processor time is the steadier measure.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.mock_provider import served
from bench.pipeline_scale import keep_memory, plan_and_resume

HERE = Path(__file__).parent
CALLS = 13


@dataclass(frozen=True)
class Side:
    """A way of holding conversations, and how hard it is driven."""

    name: str
    kind: str
    conversations: int
    at_once: int
    workers: int = 0
    auto: int = 0
    """1: worker processes by need."""


@dataclass(frozen=True)
class Measured:
    per_second: float
    cpu_ms: float
    """Processor time of its own process, per call."""


@dataclass(frozen=True)
class Target:
    """One side against another: at least so many times as many conversations a second."""

    ours: str
    theirs: str
    ratio: float


THREADS = Side("20 threads, litellm", "threads", 20, 20)
OURS = Side("ours", "ours", 256, 256, workers=2)
BARE = Side("bare litellm, 64 at once", "bare", 60, 64)
ALONE = Side("ours, in one process", "ours", 60, 64)
BY_ITSELF = Side("ours, as it comes", "ours", 60, 128, auto=1)
ONE = Side("ours, one worker", "ours", 128, 128, workers=1)
TWO = Side("ours, two workers", "ours", 128, 128, workers=2)
INSPECT = (
    Side("Inspect AI, 100 connections", "inspect", 100, 100),
    Side("Inspect AI, 256 connections", "inspect", 256, 256),
)
TARGETS = {
    "slow": (Target(OURS.name, THREADS.name, 5.0),),
    "inspect": tuple(Target(OURS.name, side.name, 1.0) for side in INSPECT),
    "quick": (Target(ALONE.name, BARE.name, 0.9), Target(BY_ITSELF.name, BARE.name, 0.9)),
    "workers": (Target(TWO.name, ONE.name, 1.5),),
}
ROWS: dict[str, tuple[float, tuple[Side, ...], int]] = {
    "slow": (1.0, (THREADS, OURS), 1),
    "inspect": (1.0, (OURS, *INSPECT), 1),
    "quick": (0.05, (BARE, ALONE, BY_ITSELF), 3),
    "workers": (0.05, (ONE, TWO), 2),
}
SCALE: dict[str, Callable[[], bool]] = {"plan": plan_and_resume, "memory": keep_memory}


def measure(side: Side, address: str, *, inspect: str) -> Measured | None:
    """One turn of a side; None where it is not installed."""
    options: dict[str, Any] = {
        "address": address,
        "conversations": side.conversations,
        "at_once": side.at_once,
    }
    command = [sys.executable, "-m", "bench.pipeline_sides", side.kind]
    if side.kind == "inspect":
        if not inspect:
            return None
        command = [inspect, str(HERE / "pipeline_inspect.py")]
    elif side.kind == "ours":
        options |= {"workers": side.workers, "auto": side.auto}
    ended = subprocess.run(
        [*command, json.dumps(options)], capture_output=True, text=True, cwd=HERE.parent, check=False
    )
    if ended.returncode:
        raise SystemExit(f"{side.name} failed:\n{ended.stderr[-2000:]}")
    told = json.loads(ended.stdout.splitlines()[-1])
    return Measured(
        per_second=told["conversations"] / told["seconds"],
        cpu_ms=1000 * told["cpu"] / told["conversations"] / CALLS,
    )


def compare(row: str, *, inspect: str, repeats: int | None) -> bool:
    """Print one group of sides, and whether its targets are met."""
    latency, sides, usual = ROWS[row]
    print(f"\n{row}: {latency * 1000:g} ms until an answer, load of this machine {os.getloadavg()[0]:.1f}")
    turns: dict[str, list[Measured]] = {side.name: [] for side in sides}
    with served(latency) as address:
        for _ in range(repeats or usual):
            for side in sides:
                if one := measure(side, address, inspect=inspect):
                    turns[side.name].append(one)
    rates = {}
    for name, measured in turns.items():
        if not measured:
            print(f"  {name:32} not installed: name its Python with --inspect")
            continue
        rates[name] = median(one.per_second for one in measured)
        cpu = median(one.cpu_ms for one in measured)
        print(
            f"  {name:32} {rates[name]:7.2f} conversations/s   {cpu:5.2f} ms of its own processor time a call"
        )
    met = True
    for target in TARGETS[row]:
        if target.theirs not in rates:
            continue
        ratio = rates[target.ours] / rates[target.theirs]
        met &= ratio >= target.ratio
        word = "yes" if ratio >= target.ratio else "NO"
        print(f"  {target.ours} / {target.theirs}: {ratio:.2f}, wanted {target.ratio:g}: {word}")
    return met


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.pipeline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=[*ROWS, *SCALE], metavar="ROW")
    parser.add_argument(
        "--inspect", default="", metavar="PYTHON", help="of an environment that has inspect-ai and openai"
    )
    parser.add_argument("--repeats", type=int)
    options = parser.parse_args(arguments)
    wanted = [options.only] if options.only else [*ROWS, *SCALE]
    met = [
        SCALE[row]() if row in SCALE else compare(row, inspect=options.inspect, repeats=options.repeats)
        for row in wanted
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
