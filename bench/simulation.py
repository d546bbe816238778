"""What the specification says that simulations give beside what they give here, row by row, in as many processes as cores.

A row is OK where the two differ by no more than three standard errors of both simulations and the rounding of the
table. OK* says that it holds only under another convention, which the section names. Everything else DIFFERS.
"""

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from threadpoolctl import threadpool_limits

from bench.progress import working

REPS = 2_000
"""As many as the specification has."""

Section = Callable[[int, int], Iterator["Row"]]
"""Repetitions and seed to rows."""
Sections = Mapping[str, Section]
"""By title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of the specification."""

    name: str
    expected: float
    measured: float
    error: float
    """Monte Carlo standard error of the difference: of both simulations."""
    rounding: float = 0.005
    """Half a unit of the last place in the table, or what else the two may differ by."""
    otherwise: float | None = None
    """Measured under another convention."""
    at_least: bool = False
    """Whether more than expected is right as well."""
    note: str = ""

    @property
    def tolerance(self) -> float:
        return 3 * self.error + self.rounding

    @property
    def verdict(self) -> str:
        if abs(self.measured - self.expected) <= self.tolerance:
            return "OK"
        if self.at_least and self.measured > self.expected:
            return "OK"
        if self.otherwise is not None and abs(self.otherwise - self.expected) <= self.tolerance:
            return "OK*"
        return "DIFFERS"


def share_error(share: float, reps: int, published_reps: int, *, cells: int = 1) -> float:
    """Standard error of the difference of two simulated shares, each the mean over as many cells."""
    p = min(max(share, 0.005), 0.995)
    return math.sqrt(p * (1 - p) * (1 / reps + 1 / published_reps) / cells)


def run(sections: Sections, *, reps: int, seed: int) -> int:
    """Prints every section as it is done; the exit status is 0 where no row differs."""
    started = time.perf_counter()
    verdicts: list[str] = []
    workers = min(os.cpu_count() or 1, len(sections))
    print(f"{reps} repetitions, seed {seed}, {workers} processes")
    # Processes that start afresh: a fork would copy the threads of the progress line.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        tasks = {title: pool.submit(_rows, section, reps, seed) for title, section in sections.items()}
        for title, task in tasks.items():
            verdicts += _printed(title, task)
    counts = ", ".join(f"{verdicts.count(name)} {name}" for name in ("OK", "OK*", "DIFFERS"))
    print(f"\n{len(verdicts)} rows: {counts}; {time.perf_counter() - started:.0f} s")
    return 1 if "DIFFERS" in verdicts else 0


def _rows(section: Section, reps: int, seed: int) -> tuple[list[Row], float]:
    started = time.process_time()
    with threadpool_limits(limits=1, user_api="blas"):
        rows = list(section(reps, seed))
    return rows, time.process_time() - started


def _printed(title: str, task: "Future[tuple[list[Row], float]]") -> list[str]:
    with working(title.splitlines()[0]):
        rows, took = task.result()
    print(f"\n{title} ({took:.0f} s)")
    print(f"  {'':<46}{'expected':>10}{'measured':>10}{'within':>8}")
    for row in rows:
        places = 0 if row.expected >= 10 else 3
        print(
            f"  {row.name:<46}{'>= ' * row.at_least + f'{row.expected:.{places}f}':>10}{row.measured:>10.{places}f}"
            f"{row.tolerance:>8.{places}f}  {row.verdict:<8}{row.note}",
            flush=True,
        )
    return [row.verdict for row in rows]


def main(sections: Sections, description: str | None, arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reps", type=int, default=REPS, help="repetitions of each simulation")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    return run(sections, reps=options.reps, seed=options.seed)
