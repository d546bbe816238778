"""Calls made by workers of a Ray cluster, on which open-weight models are often served anyway.

Only calls travel. The run, its limits and its records stay in the process that started it, so a run on a cluster
writes what a run on a laptop writes.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count as counter
from typing import Any

from impactbench.llm import CallFailed, FailureKind, ModelsUnavailable, Provider, Reply, Request

Factory = Callable[[], Provider]
INSTALL = "pip install 'impactbench[ray]'"
OPEN_CALLS = 1000
"""Calls that one worker holds open at most; the limits of a run are far below."""
LIVES = 3
"""Workers that may die under one call before it counts as failed."""


@asynccontextmanager
async def ray_provider(
    factory: Factory, *, count: int | None = None, address: str | None = None
) -> AsyncIterator[Provider]:
    """A provider whose calls are made by `count` workers of the cluster, by default one for each of its processors.

    A worker that dies is started again, and its open calls go to another one: these may be paid for twice, which
    nobody outside the provider can know, so replies say how often that happened (`lost`).

    Args:
        factory: makes the provider inside a worker; the cluster's machines need this package.
        count: how many workers.
        address: of the cluster; by default what RAY_ADDRESS says, a cluster that runs on this machine, or a new one.

    Raises:
        ModelsUnavailable: Ray is not installed.
    """
    ray = _import_ray()
    begun = not ray.is_initialized()
    if begun:
        ray.init(address=address, log_to_driver=False, include_dashboard=False, logging_level=logging.WARNING)
    wanted = count or max(1, int(ray.cluster_resources().get("CPU", 1)))
    caller = ray.remote(
        num_cpus=0, max_restarts=-1, max_concurrency=OPEN_CALLS, scheduling_strategy="SPREAD"
    )(_Caller)
    actors = [caller.remote(factory) for _ in range(wanted)]
    try:
        yield _OnRay(ray, actors)
    finally:
        for actor in actors:
            ray.kill(actor)
        if begun:
            ray.shutdown()


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise ModelsUnavailable(f"The engine ray needs Ray, which is not installed: {INSTALL}.") from None
    return ray


class _Caller:
    """What runs in a worker."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._provider: Provider | None = None

    async def complete(self, request: Request) -> Reply | Exception:
        """The reply, or what went wrong as a value: as an exception Ray would wrap it."""
        try:
            if self._provider is None:
                self._provider = self._factory()
            return await self._provider.complete(request)
        except Exception as error:
            return error


class _OnRay:
    def __init__(self, ray: Any, actors: list[Any]) -> None:
        self._ray = ray
        self._actors = actors
        self._open = [0] * len(actors)
        self._turn = counter()

    async def complete(self, request: Request) -> Reply:
        died: set[int] = set()
        for deaths in range(LIVES):
            place = self._least_busy(died)
            self._open[place] += 1
            asked = self._actors[place].complete.remote(request)
            try:
                said = await asked
            except self._ray.exceptions.RayActorError:
                died.add(place)
                continue
            except asyncio.CancelledError:
                self._ray.cancel(asked)
                raise
            finally:
                self._open[place] -= 1
            if isinstance(said, CallFailed):
                said.lost += deaths
            if isinstance(said, Exception):
                raise said
            reply: Reply = said
            return replace(reply, lost=deaths) if deaths else reply
        raise CallFailed(
            f"{request.model}: {LIVES} workers of the cluster died under this call, one after another.",
            kind=FailureKind.LOST,
            lost=LIVES,
        )

    def _least_busy(self, died: set[int]) -> int:
        """In turn among equals, and not back to where this call's worker died: nothing is as little busy as a dead one."""
        shift = next(self._turn)
        places = [(shift + step) % len(self._actors) for step in range(len(self._actors))]
        return min(places, key=lambda place: (place in died, self._open[place]))
