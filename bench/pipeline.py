"""python -m bench.pipeline: how many conversations a second, beside three other ways of calling models.

python -m bench.pipeline                              every row, about eight minutes on two cores
python -m bench.pipeline --inspect PYTHON             with Inspect AI, from an environment that has inspect-ai and openai
python -m bench.pipeline --rows slow                  one of: slow (1 s latency), quick and workers (50 ms)
python -m bench.pipeline --repeats 3                  medians of that many turns (default 3 for quick rows, 1 for slow)

One mock server in a process of its own answers every side. Sides take turns. A conversation is thirteen calls one
after another (`pipeline_sides.py`); who is ahead is said in ratios, because the machine is shared. Both clocks are shown:
at 50 ms a core is the limit, and then processor time is the steadier measure on a machine that does other things.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.mock_provider import served

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


SLOW = (
    Side("20 threads, litellm", "threads", 40, 20),
    Side("ours", "ours", 768, 256, workers=2),
    Side("Inspect AI, 100 connections", "inspect", 200, 100),
    Side("Inspect AI, 256 connections", "inspect", 512, 256),
)
QUICK = (
    Side("bare litellm, 64 at once", "bare", 100, 64),
    Side("ours, in one process", "ours", 100, 64),
)
WORKERS = (
    Side("ours, one worker", "ours", 160, 128, workers=1),
    Side("ours, two workers", "ours", 160, 128, workers=2),
)
TARGETS = {
    "slow": (
        Target("ours", "20 threads, litellm", 5.0),
        Target("ours", "Inspect AI, 100 connections", 1.0),
        Target("ours", "Inspect AI, 256 connections", 1.0),
    ),
    "quick": (Target("ours, in one process", "bare litellm, 64 at once", 0.9),),
    "workers": (Target("ours, two workers", "ours, one worker", 1.5),),
}
ROWS: dict[str, tuple[float, tuple[Side, ...], int]] = {
    "slow": (1.0, SLOW, 1),
    "quick": (0.05, QUICK, 3),
    "workers": (0.05, WORKERS, 3),
}


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
    elif side.workers:
        options["workers"] = side.workers
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
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=list(ROWS), metavar="ROW")
    parser.add_argument(
        "--inspect", default="", metavar="PYTHON", help="of an environment that has inspect-ai and openai"
    )
    parser.add_argument("--repeats", type=int)
    options = parser.parse_args(arguments)
    met = [compare(row, inspect=options.inspect, repeats=options.repeats) for row in options.rows]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
