"""A run: plan, minus what is done, executed and recorded. The only place where units are made side by side.

Work lies on a stack: what a unit leads to is done before anything new is begun, so however large a plan is, a run holds
no more than what is under way.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from sqlalchemy import Engine

from impactbench.domain import ImpactBenchError
from impactbench.llm import CallFailed, FailureKind, Provider, Reply, Request
from impactbench.metrics import Suite
from impactbench.providers.patience import Patient
from impactbench.runs.plan import RunPlan, ScenarioUnit
from impactbench.runs.recording import Recorder
from impactbench.runs.records import keep_attempt, keep_success
from impactbench.runs.spending import BudgetReached, Spending
from impactbench.runs.state import RunState, scenarios_with_work
from impactbench.runs.unit_calls import UnitCalls, kept_replies
from impactbench.runs.units import RunUnits, Work, Worked
from impactbench.scenarios import Unusable

IN_A_ROW = 25
"""So many failures one after another, and none of them by its contents, mean that something is wrong with the set-up."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far a run is; the same object grows as it goes on."""

    spending: Spending
    conversations: int = 0
    """Simulated, or carried over from another version of a metric, since this start."""
    incomplete: int = 0
    judgments: int = 0
    unscored: int = 0
    failed: int = 0
    under_way: int = 0
    last_failure: str = ""


@dataclass(slots=True)
class Halt:
    """Why no new call is made; empty while calls are made."""

    because: str = ""
    on_halt: list[Callable[[Exception], None]] = field(default_factory=list)
    """Told once, with what to raise where somebody waits for longer than a run that ends can wait."""

    def __call__(self, because: str) -> None:
        if self.because:
            return
        self.because = because
        for tell in self.on_halt:
            tell(Halted(because))


class Halted(ImpactBenchError):
    """A call that is not made because the run is ending."""


async def execute(
    engine: Engine,
    plan: RunPlan,
    provider: Provider,
    *,
    suite: Suite,
    run_id: int,
    state: RunState,
    progress: Progress,
    halt: Halt,
    around: Callable[[Provider], Provider] = lambda provider: provider,
    on_progress: Callable[[], None] = lambda: None,
) -> str:
    """Do what is left of a plan; gives why it ended: `finished`, or what stopped it.

    Args:
        engine: the database.
        plan: what to do.
        provider: whoever answers; patience and limits are put around it here.
        suite: where the plan's metrics are.
        run_id: of the run.
        state: what is done already.
        progress: is kept up to date.
        halt: called with a reason, it lets calls under way end, keeps their replies and makes no new ones.
        around: what stands around patience, such as batches, for which no patience is long enough.
        on_progress: called after every unit.
    """
    async with Recorder(engine, under_way=lambda: progress.under_way) as recorder:
        units = await RunUnits.prepare(engine, plan, recorder, suite=suite, run_id=run_id, state=state)
        patient = Patient(_Halting(provider, halt), limits=plan.design.limits, seed=plan.design.seed)
        run = _Execution(
            engine,
            plan,
            _Halting(around(patient), halt),
            recorder,
            state,
            run_id=run_id,
            progress=progress,
            halt=halt,
        )
        await run.work(_first_works(units, plan, state), on_progress=on_progress)
    return halt.because or "finished"


def _first_works(units: RunUnits, plan: RunPlan, state: RunState) -> Iterator[Work]:
    """What a run begins with: a clause for metrics that have none, and base scenarios."""
    for clause_key, scenarios in groupby(scenarios_with_work(plan, state), key=_clause_key):
        if clause_key:
            yield units.clause(list(scenarios))
        else:
            yield from (units.scenario(scenario) for scenario in scenarios)


def _clause_key(unit: ScenarioUnit) -> str:
    return unit.clause_key


class _Halting:
    """A provider that makes no call once the run is ending; it stands inside of all waiting, where calls are made."""

    def __init__(self, provider: Provider, halt: Halt) -> None:
        self._provider, self._halt = provider, halt

    async def complete(self, request: Request) -> Reply:
        if self._halt.because:
            raise Halted(self._halt.because)
        return await self._provider.complete(request)


class _Execution:
    def __init__(
        self,
        engine: Engine,
        plan: RunPlan,
        provider: Provider,
        recorder: Recorder,
        state: RunState,
        *,
        run_id: int,
        progress: Progress,
        halt: Halt,
    ) -> None:
        self._engine, self._provider, self._recorder = engine, provider, recorder
        self._state, self._run_id, self._progress, self._halt = state, run_id, progress, halt
        self._at_once = plan.design.at_once
        self._stack: list[Work] = []
        self._changed = asyncio.Condition()
        self._in_a_row = 0

    async def work(self, first: Iterator[Work], *, on_progress: Callable[[], None]) -> None:
        async def worker() -> None:
            while (work := await self._next(first)) is not None:
                try:
                    more = await self._do(work)
                    self._stack.extend(reversed(more))
                finally:
                    self._progress.under_way -= 1
                    async with self._changed:
                        self._changed.notify_all()
                on_progress()

        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(self._at_once):
                    workers.create_task(worker())
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None

    async def _next(self, first: Iterator[Work]) -> Work | None:
        """The deepest work there is, else something new; None when all is done or the run is ending."""
        while not self._halt.because:
            if self._stack:
                self._progress.under_way += 1
                return self._stack.pop()
            if (new := next(first, None)) is not None:
                self._progress.under_way += 1
                return new
            if not self._progress.under_way:
                return None
            async with self._changed:
                if not self._stack and self._progress.under_way:
                    await self._changed.wait()
        return None

    async def _do(self, work: Work) -> list[Work]:
        restart = self._state.restarts.get(work.key, 0)
        kept = (
            kept_replies(self._engine, run_id=self._run_id, key=work.key, restart=restart)
            if self._state.called_before
            else ()
        )
        calls = UnitCalls(
            self._provider,
            self._recorder,
            self._progress.spending,
            run_id=self._run_id,
            key=work.key,
            stage=work.stage,
            restart=restart,
            kept=kept,
            subject=work.subject,
        )
        try:
            worked = await work.do(calls)
        except (BudgetReached, Halted) as ending:
            self._halt(str(ending))
            return []
        except (CallFailed, Unusable) as failed:
            await self._fail(work, calls, failed)
            return []
        await self._succeed(work, calls, worked)
        return worked.more

    async def _succeed(self, work: Work, calls: UnitCalls, worked: Worked) -> None:
        self._in_a_row = 0
        self._progress.conversations += worked.conversations
        self._progress.incomplete += worked.incomplete
        self._progress.judgments += worked.judgments
        self._progress.unscored += worked.unscored
        if work.key in self._state.tried or calls.lost:
            change = keep_success(self._run_id, calls, subject=work.subject, model=work.model)
            await self._recorder.change(change)

    async def _fail(self, work: Work, calls: UnitCalls, failed: CallFailed | Unusable) -> None:
        change = keep_attempt(self._run_id, calls, failed, subject=work.subject, model=work.model)
        await self._recorder.change(change)
        self._progress.failed += 1
        self._progress.last_failure = str(failed)
        if isinstance(failed, Unusable):
            return
        if failed.kind is FailureKind.AUTHENTICATION:
            self._halt(f"stopped: {failed}")
        self._in_a_row += 1
        if self._in_a_row >= IN_A_ROW:
            self._halt(f"stopped after {IN_A_ROW} failures in a row, the last of them: {failed}")
