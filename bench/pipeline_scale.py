"""python -m bench.pipeline_scale: a run of the published study's size, with models that answer at once.

python -m bench.pipeline_scale                         plan and resume 48,540 conversations; run 1,000: half a minute
python -m bench.pipeline_scale --conversations 50000   run 50,000: some minutes

The plan has the study's 809 metrics, 4,854 scenarios and 48,540 conversations; what is run has one target more, so that
there are 50,000, and two turns each instead of six, since it is their number that memory might grow with. Wanted: plan
and resume within five seconds each, and memory that does not grow: the last quarter of a run takes no more than a tenth
above the second. Times are processor time beside the clock on the wall, because the machine is shared.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, insert

from impactbench.domain import MetricDefinition, Polarity
from impactbench.metrics import Suite, SuiteBenchmark, SuiteMetric
from impactbench.providers.patience import Limits
from impactbench.providers.scripted import Scripted
from impactbench.runs.execution import Progress
from impactbench.runs.plan import RunPlan, plan_run
from impactbench.runs.records import keep_judges, keep_models
from impactbench.runs.start import start_run
from impactbench.runs.state import RunState, count_left, find_run, keep_versions, open_run, read_state
from impactbench.store import tables as t
from impactbench.store.engine import connect, writing
from tests.databases import migrated_sqlite_file
from tests.impactbench.runs.invented_run import answer, design

WITHIN = 5.0
GROWTH = 1.10
SAID = t.Conversation.model_construct(
    turns=[{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
).model_dump(include={"turns", "status", "termination", "remarks", "created_at"})
JUDGED = t.Judgment.model_construct().model_dump(
    include={"repeat", "unscored_because", "justification", "raw_reply", "created_at"}
)


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


def plan(made: Suite, *, targets: int = 10, turns: int = 6) -> RunPlan:
    return plan_run(
        design(
            scenarios_per_metric=3,
            targets=[{"model": f"script/target-{number}"} for number in range(targets)],
            simulation={"turns": turns},
            limits={"*": Limits(at_once=64)},
        ),
        made,
    )


@dataclass
class Timed:
    """Whether a step took no longer than wanted; known once it is over."""

    met: bool = False


@contextmanager
def timed(what: str, *, within: float | None = None) -> Iterator[Timed]:
    started, used, found = time.perf_counter(), time.process_time(), Timed()
    yield found
    seconds, cpu = time.perf_counter() - started, time.process_time() - used
    found.met = within is None or cpu <= within
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


def plan_and_resume() -> bool:
    """Whether the whole plan, and the resumption of a run of which half is done, each take no longer than wanted."""
    made = suite()
    with timed("the plan of 48,540 conversations", within=WITHIN) as planning:
        planned = plan(made)
        left = count_left(planned, RunState())
    assert left.conversations == 48_540
    with tempfile.TemporaryDirectory() as folder:
        engine = connect(f"sqlite:///{migrated_sqlite_file(Path(folder))}")
        run_id = open_run(engine, planned)
        with timed("(keeping 809 metrics at the first start)"):
            versions = keep_versions(engine, planned, made)
        fill(engine, planned, run_id, versions)
        with timed("resume: what is done, and what is left", within=WITHIN) as resuming:
            found = find_run(engine, planned.design)
            assert found == run_id
            left = count_left(planned, read_state(engine, run_id))
        engine.dispose()
    print(f"{'conversations left':44} {left.conversations:,}")
    assert (left.conversations, left.judgments) == (10, 10)
    return planning.met and resuming.met


def fill(engine: Engine, planned: RunPlan, run_id: int, versions: dict[str, int]) -> None:
    """Every conversation but the last ten, judged, written straight into the tables."""
    with writing(engine) as session:
        models = keep_models(session, [*planned.design.targets, *planned.design.judges])
        judge = next(iter(keep_judges(session, planned.design.judges, models).values()))
        connection = session.connection()
        conversations: list[dict[str, Any]] = []
        judgments: list[dict[str, Any]] = []
        for scenario in planned.scenarios():
            version = versions[scenario.metric.key]
            for variant in scenario.variants:
                row = {
                    "metric_version_id": version,
                    "slug": f"{scenario.name}.{variant.age}",
                    "base_scenario": scenario.name,
                    "content_hash": variant.key,
                    "unit_key": variant.key,
                }
                kept = t.Scenario.model_validate(row).model_dump(exclude={"id"})
                place = connection.execute(insert(t.Scenario).values(kept)).inserted_primary_key[0]
                for unit in variant.conversations:
                    number = len(conversations) + 1
                    conversations.append(
                        {
                            "id": number,
                            "run_id": run_id,
                            "key": unit.row,
                            "unit_key": unit.key,
                            "scenario_id": place,
                            "model_id": models[unit.target.slug],
                            "content_hash": unit.key,
                            **SAID,
                        }
                    )
                    judgments.append(
                        {
                            "conversation_id": number,
                            "metric_version_id": version,
                            "judge_id": judge,
                            "present": True,
                            "unit_key": unit.judgments[0].key,
                            **JUDGED,
                        }
                    )
        connection.execute(insert(t.Conversation), conversations[:-10])
        connection.execute(insert(t.Judgment), judgments[:-10])


def keep_memory(conversations: int = 1000) -> bool:
    """Whether memory stays where it is in a run of so many conversations."""
    made = suite()
    planned = plan(made, targets=11, turns=2)
    seen: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        engine = connect(f"sqlite:///{migrated_sqlite_file(Path(folder))}")
        with timed(f"a run of {conversations:,} conversations, judged"), suppress(_Enough):
            start_run(
                engine,
                planned,
                suite=made,
                provider=nullcontext(Scripted(answer)),
                on_progress=watching(conversations, seen),
            )
        engine.dispose()
    growth = seen[-1] / seen[len(seen) // 4]
    print(
        f"{'memory after 1/4, 1/2, 3/4 and all of it':44} "
        f"{', '.join(f'{seen[len(seen) * part // 4 - 1]:.0f}' for part in range(1, 5))} MB: "
        f"{'flat' if growth <= GROWTH else 'GROWS'}"
    )
    return growth <= GROWTH


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.pipeline_scale",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--conversations", type=int, default=1000)
    options = parser.parse_args(arguments)
    met = [plan_and_resume(), keep_memory(options.conversations)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
