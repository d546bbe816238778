"""A comparison of our time (or memory) with another's or with a limit, and the table of them.

Times are processor time: on a busy machine the clock on the wall counts the waiting of a long loop and not that of a
short product, which flatters us. The two sides take turns, so the caches are as cold for either, and the median of the
turns counts. Results are compared before anything is timed.
"""

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from bench.progress import working

RUNS = 7
"""Turns at least; short ones go on for a while, which steadies their median."""
LONGEST, SECONDS_OF_TURNS = 51, 2.0
PACKAGES = ("numpy", "scipy", "krippendorff", "statsmodels", "scikit-learn")

Work = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One row of the table."""

    name: str
    ours: str
    """Our time or memory, with its unit."""
    theirs: str = "-"
    """The other's."""
    ratio: float | None = None
    """Theirs over ours; None beside a mere limit."""
    target: str = "-"
    """What the ratio must reach, or what ours must stay within."""
    met: bool | None = None
    """None where there is no target."""
    note: str = ""
    """Beside what, and how it was timed."""


Comparisons = Mapping[str, Callable[[], Iterator[Comparison]]]


def faster(
    name: str, ours: Work, other: str, theirs: Work, *, at_least: float, of_theirs: float = 1.0
) -> Comparison:
    """Ours against theirs.

    Args:
        name: what is computed.
        ours: does all of it.
        other: the package theirs comes from.
        theirs: does a share of it.
        at_least: the ratio that is wanted.
        of_theirs: the share of the work that `theirs` does; its time is scaled up.
    """
    ours()
    theirs()
    mine, its = [], []
    started = time.perf_counter()
    while len(mine) < RUNS or (len(mine) < LONGEST and time.perf_counter() - started < SECONDS_OF_TURNS):
        mine.append(processor_seconds(ours))
        its.append(processor_seconds(theirs) / of_theirs)
    ratio = median(its) / median(mine)
    note = other if of_theirs == 1 else f"{other}, timed on {of_theirs:.0%} of the draws and scaled"
    return Comparison(
        name=name,
        ours=milliseconds(median(mine)),
        theirs=milliseconds(median(its)),
        ratio=ratio,
        target=f">= {at_least:g}x",
        met=ratio >= at_least,
        note=note,
    )


def alone(name: str, work: Work, *, within: float | None = None) -> Comparison:
    """Ours alone, against a limit in seconds where there is one."""
    work()
    took = median(processor_seconds(work) for _ in range(RUNS))
    if within is None:
        return Comparison(name=name, ours=milliseconds(took))
    target = f"<= {within * 1e3:,.0f} ms"
    return Comparison(name=name, ours=milliseconds(took), target=target, met=took <= within)


def processor_seconds(work: Work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:,.2f} ms" if seconds < 0.1 else f"{seconds * 1e3:,.0f} ms"


def require_equal(ours: object, theirs: object) -> None:
    """Ends everything where two results differ: what is not the same is not timed."""
    if not np.allclose(np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float), atol=1e-9):
        raise SystemExit("the results differ: nothing is timed")


def print_table(comparisons: Comparisons) -> bool:
    """Times and prints each in turn; whether all are met."""
    print(machine())
    print(
        f"medians of {RUNS} turns or more, processor time, BLAS on one thread; equal results asserted first\n"
    )
    print(f"{'':<50}{'ours':>11}{'theirs':>13}{'ratio':>8}{'target':>12}  met?")
    met: list[bool] = []
    with threadpool_limits(limits=1, user_api="blas"):
        for name, compare in comparisons.items():
            for row in _watched(name, compare()):
                met += [] if row.met is None else [row.met]
                ratio = (
                    "-"
                    if row.ratio is None
                    else f"{row.ratio:,.0f}x"
                    if row.ratio >= 10
                    else f"{row.ratio:.1f}x"
                )
                verdict = {True: "yes", False: "NO", None: "-"}[row.met]
                print(
                    f"{row.name:<50}{row.ours:>11}{row.theirs:>13}{ratio:>8}{row.target:>12}  {verdict:<5}{row.note}",
                    flush=True,
                )
    print(f"\n{sum(met)} of {len(met)} targets met")
    return all(met)


def _watched(name: str, rows: Iterator[Comparison]) -> Iterator[Comparison]:
    while True:
        with working(name):
            row = next(rows, None)
        if row is None:
            return
        yield row


def machine() -> str:
    """The date, the processor and the versions, in two lines."""
    names = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    named = [line.partition(":")[2].strip() for line in names if line.startswith("model name")]
    processor = named[0] if named else platform.processor() or platform.machine()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{time.strftime('%Y-%m-%d')}, {processor}, {os.cpu_count()} cores{load}, Python {platform.python_version()}\n"
        f"{packages}"
    )


def main(comparisons: Comparisons, wanted: Sequence[str] = ()) -> int:
    """The exit status: 0 where every target is met."""
    chosen = {name: compare for name, compare in comparisons.items() if not wanted or name in wanted}
    return 0 if print_table(chosen) else 1
