"""python -m bench.pipeline_scale: a run of the published study's size, with models that answer at once.

python -m bench.pipeline_scale                         plan, run and resume 2,000 conversations: a few minutes
python -m bench.pipeline_scale --conversations 50000   the whole: an hour on two cores

The plan always has the study's 809 metrics, 4,854 scenarios and 48,540 conversations. Wanted: plan and resume of it within
five seconds each, and memory that does not grow: the last quarter of a run takes no more than a tenth above the second.
Times are processor time beside the clock on the wall, because the machine is shared.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from impactbench.domain import MetricDefinition, Polarity
from impactbench.metrics import Suite, SuiteBenchmark, SuiteMetric
from impactbench.patience import Limits
from impactbench.run_plan import RunPlan, plan_run
from impactbench.run_start import start_run
from impactbench.run_state import RunState, count_left, find_run, read_state
from impactbench.runs import Progress
from impactbench.scripted_provider import Scripted
from impactbench.store.engine import connect
from tests.databases import migrated_sqlite_file
from tests.impactbench.runs.invented_run import answer, design

WITHIN = 5.0
GROWTH = 1.10


def suite() -> Suite:
    """26 benchmarks, 809 metrics, of which 460 positive."""
    by_benchmark: dict[str, list[SuiteMetric]] = {}
    for number in range(809):
        name = f"b{number % 26:02}"
        definition = MetricDefinition(
            name=f"Metric {number}",
            polarity=Polarity.POSITIVE if number < 460 else Polarity.NEGATIVE,
            definition=f"The chatbot does number {number}. " + "It says so in so many words. " * 8,
            interpretive_clause="One clear instance is enough. " * 4,
        )
        by_benchmark.setdefault(name, []).append(
            SuiteMetric(benchmark=name, slug=f"m{number:03}", subareas=(), definition=definition)
        )
    return Suite(
        benchmarks=tuple(
            SuiteBenchmark(
                slug=name, name=name, description="Invented.", validity={}, metrics=tuple(metrics), file=f"{name}.yaml"
            )
            for name, metrics in by_benchmark.items()
        )
    )  # fmt: skip


def plan(made: Suite) -> RunPlan:
    targets = [{"model": f"script/target-{number}"} for number in range(10)]
    return plan_run(
        design(
            scenarios_per_metric=3,
            targets=targets,
            simulation={"turns": 6},
            limits={"*": Limits(at_once=64)},
        ),
        made,
    )


@contextmanager
def timed(what: str, *, within: float | None = None) -> Iterator[None]:
    started, used = time.perf_counter(), time.process_time()
    yield
    seconds, cpu = time.perf_counter() - started, time.process_time() - used
    verdict = "" if within is None else f", wanted {within:g}: {'yes' if cpu <= within else 'NO'}"
    print(f"{what:44} {cpu:7.2f} s of a core, {seconds:7.2f} s on the wall{verdict}", flush=True)


def megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


class _Enough(Exception):
    """As many conversations as were asked for."""


def watching(conversations: int, seen: list[float]) -> Callable[[Progress], None]:
    """Notes the memory at every sixteenth of the way, and ends the run after the last."""

    def watch(progress: Progress) -> None:
        if progress.conversations * 16 >= conversations * (len(seen) + 1):
            seen.append(megabytes())
        if progress.conversations >= conversations:
            raise _Enough

    return watch


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.pipeline_scale",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--conversations", type=int, default=2000)
    options = parser.parse_args(arguments)
    made = suite()
    with timed("the plan of 48,540 conversations", within=WITHIN):
        planned = plan(made)
        left = count_left(planned, RunState())
    assert left.conversations == 48_540
    wanted = min(options.conversations, left.conversations)
    seen: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        engine = connect(f"sqlite:///{migrated_sqlite_file(Path(folder))}")
        with timed(f"a run of {wanted:,} conversations, judged"), suppress(_Enough):
            start_run(
                engine,
                planned,
                suite=made,
                provider=nullcontext(Scripted(answer)),
                on_progress=watching(wanted, seen),
            )
        with timed("resume: what is done, and what is left", within=WITHIN):
            run_id = find_run(engine, planned.design)
            assert run_id is not None
            left = count_left(planned, read_state(engine, run_id))
        print(f"{'conversations left':44} {left.conversations:,}")
        engine.dispose()
    growth = seen[-1] / seen[len(seen) // 4]
    print(
        f"{'memory after 1/4, 1/2, 3/4 and all of it':44} "
        f"{', '.join(f'{seen[len(seen) * part // 4 - 1]:.0f}' for part in range(1, 5))} MB: "
        f"{'flat' if growth <= GROWTH else 'GROWS'}"
    )
    return 0 if growth <= GROWTH else 1


if __name__ == "__main__":
    raise SystemExit(main())
