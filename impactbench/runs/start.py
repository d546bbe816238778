"""Starting a run: take its lock, record the start, execute, and record how it ended, however it ends."""

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from functools import partial
from pathlib import Path

from sqlalchemy import Engine

from impactbench.llm import Provider
from impactbench.metrics import Suite
from impactbench.providers.batches import USUAL, Batched, BatchEndpoint, Rhythm
from impactbench.providers.choosing import SCRIPTED, open_provider
from impactbench.providers.worker_processes import when_full, worker_processes
from impactbench.runs.design import DesignRefused, RunDesign
from impactbench.runs.estimates import PriceOf
from impactbench.runs.execution import Halt, Progress, execute
from impactbench.runs.lock import locked
from impactbench.runs.plan import RunPlan
from impactbench.runs.spending import Spending
from impactbench.runs.state import (
    RunState,
    begin_launch,
    count_left,
    end_launch,
    open_run,
    read_spending,
    read_state,
)

INTERRUPTED = "interrupted"
FINISHED = "finished"


def start_run(
    engine: Engine,
    plan: RunPlan,
    *,
    suite: Suite,
    provider: AbstractAsyncContextManager[Provider] | None = None,
    state_dir: Path = Path(),
    endpoints: Mapping[str, BatchEndpoint] | None = None,
    rhythm: Rhythm = USUAL,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> tuple[Progress, str]:
    """Do what is left of a plan; gives what was done and why it ended: `finished`, or what stopped it.

    The first Ctrl-C lets calls under way end and keeps their replies; the second gives them up. Batches are not waited
    for: the next start finds them again.

    Args:
        engine: the database.
        plan: what to do.
        suite: where the plan's metrics are.
        provider: whoever answers; as the design says where it is left out.
        state_dir: where the batches that are under way are noted.
        endpoints: who takes batches, by provider; litellm's where they are left out, nobody in a rehearsal.
        rhythm: when batches are sent and looked at.
        on_progress: told how far it is, at the start and after every unit; it is the same object every time.

    Raises:
        RunBusy: another process works on the run.
        ModelsUnavailable: a model cannot be called.
    """
    design = plan.design
    run_id = open_run(engine, plan)
    with locked(engine, run_id):
        state = read_state(engine, run_id)
        left = count_left(plan, state)
        spent = read_spending(engine, run_id, Spending(budget=design.budget, prices=design.prices))
        progress, halt = Progress(spending=spent), Halt()
        launch = begin_launch(engine, run_id, plan, left)
        on_progress(progress)
        because = "failed by a mistake of the program or the set-up"
        try:
            if not left.units:
                because = FINISHED
                return progress, because
            because = asyncio.run(
                _until_interrupted(
                    engine,
                    plan,
                    suite=suite,
                    run_id=run_id,
                    state=state,
                    provider=provider or provider_of(design),
                    progress=progress,
                    halt=halt,
                    batching=_batching(
                        design,
                        endpoints,
                        journal=state_dir / f"batches-{design.study.slug}-{design.run}.jsonl",
                        rhythm=rhythm,
                        halt=halt,
                    ),
                    on_progress=partial(on_progress, progress),
                )
            )
        except (KeyboardInterrupt, asyncio.CancelledError):
            because = INTERRUPTED
        finally:
            end_launch(engine, launch, because)
    return progress, because


async def _until_interrupted(
    engine: Engine,
    plan: RunPlan,
    *,
    suite: Suite,
    run_id: int,
    state: RunState,
    provider: AbstractAsyncContextManager[Provider],
    progress: Progress,
    halt: Halt,
    batching: AbstractAsyncContextManager[Callable[[Provider], Provider]],
    on_progress: Callable[[], None],
) -> str:
    with _listening(halt):
        async with provider as answering, batching as around, _little_to_collect():
            return await execute(
                engine,
                plan,
                answering,
                suite=suite,
                run_id=run_id,
                state=state,
                progress=progress,
                halt=halt,
                around=around,
                on_progress=on_progress,
            )


@asynccontextmanager
async def _little_to_collect() -> AsyncIterator[None]:
    """Keep the garbage collector off everything that is there before a run, litellm above all: looking through it again
    and again takes as long as a tenth of the calls.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _listening(halt: Halt) -> Iterator[None]:
    """Ctrl-C halts; a second one cancels."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def interrupt() -> None:
        if halt.because and task is not None:
            task.cancel()
        halt(INTERRUPTED)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    except (ValueError, RuntimeError, NotImplementedError):
        # Signals reach the main thread alone; elsewhere somebody else listens.
        yield
        return
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def provider_of(design: RunDesign) -> AbstractAsyncContextManager[Provider]:
    """Whoever answers, as a design says: a script, litellm in this process or in several, or a cluster."""
    if design.engine == "ray":
        return _on_ray(design)
    if design.provider.startswith(SCRIPTED):
        return nullcontext(open_provider(design.provider))
    factory = partial(open_provider, design.provider)
    if all(model.is_embedded for model in design.models.values()):
        return _closing(factory())
    if design.worker_processes == "auto":
        return when_full(factory)
    if design.worker_processes:
        return worker_processes(factory, count=design.worker_processes)
    return _closing(factory())


@asynccontextmanager
async def _closing(provider: Provider) -> AsyncIterator[Provider]:
    try:
        yield provider
    finally:
        close = getattr(provider, "close", None)
        if close is not None:
            await close()


@asynccontextmanager
async def _batching(
    design: RunDesign,
    endpoints: Mapping[str, BatchEndpoint] | None,
    *,
    journal: Path,
    rhythm: Rhythm,
    halt: Halt,
) -> AsyncIterator[Callable[[Provider], Provider]]:
    """What puts batches around a provider, where the design asks for them. A rehearsal sends none."""
    if not design.batches or (endpoints is None and design.provider.startswith(SCRIPTED)):
        yield lambda provider: provider
        return
    found = dict(endpoints) if endpoints is not None else _litellm_batches(design)
    journal.parent.mkdir(parents=True, exist_ok=True)
    made: list[Batched] = []

    def around(provider: Provider) -> Provider:
        made.append(Batched(provider, found, journal=journal, rhythm=rhythm))
        halt.on_halt.append(made[-1].leave)
        return made[-1]

    try:
        yield around
    finally:
        for batched in made:
            await batched.close()


def _litellm_batches(design: RunDesign) -> dict[str, BatchEndpoint]:
    from impactbench.providers.litellm_batches import LiteLLMBatches
    from impactbench.providers.litellm_provider import LiteLLMProvider

    provider = LiteLLMProvider()
    return {name: LiteLLMBatches(provider, name) for name in design.batches}


@asynccontextmanager
async def _on_ray(design: RunDesign) -> AsyncIterator[Provider]:
    from impactbench.providers.ray_engine import ray_provider

    count = None if design.worker_processes == "auto" else design.worker_processes or None
    async with ray_provider(partial(open_provider, design.provider), count=count) as provider:
        yield provider


def price_list(design: RunDesign) -> PriceOf:
    """The price of each model of a design, after making sure that all of them can be called.

    Raises:
        ModelsUnavailable: one cannot: its provider is unknown, or a key is missing.
        DesignRefused: the budget is in dollars, and the price of a model is not known.
    """
    known: dict[str, tuple[float, float] | None] = {
        model: (price.usd_per_million_in / 1e6, price.usd_per_million_out / 1e6)
        for model, price in design.prices.items()
    }
    if not design.provider.startswith(SCRIPTED):
        # Importing it takes seconds that a rehearsal should not pay.
        from impactbench.providers.litellm_provider import LiteLLMProvider

        provider = LiteLLMProvider()
        for model in design.models:
            provider.check(model)
            known.setdefault(model, provider.price(model))
    unpriced = sorted(model for model in design.models if known.get(model) is None)
    if design.budget.usd is not None and unpriced:
        raise DesignRefused(
            f"budget.usd: the price of {unpriced[0]} is not known: give it under `prices`, or set a budget of tokens or"
            " calls"
        )
    return known.get
