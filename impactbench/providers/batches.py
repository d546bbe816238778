"""Calls that can wait, sent together to a provider's batch endpoint: half the price, an answer within a day.

Behind the same port: a request waits until its batch is answered. Only calls that do not wait for one another gain by
it (scenarios, judgments); a conversation has eighteen calls one after another and would take weeks.
"""

import asyncio
import contextlib
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from impactbench.domain import content_hash
from impactbench.llm import CallFailed, FailureKind, Provider, Reply, Request

OFFERED = ("openai", "azure", "vertex_ai", "bedrock", "hosted_vllm", "mistral", "xai")
"""Providers whose batches litellm drives."""
PURPOSES = frozenset({"judge", "scenario", "interpretive_clause", "age_variant"})
"""Calls that wait for nobody."""


class BatchEndpoint(Protocol):
    """A provider's batches, as litellm drives them."""

    async def send(self, requests: dict[str, Request]) -> str:
        """Begin a batch of requests by their names; the batch's own name."""
        ...

    async def results(self, batch: str, requests: dict[str, Request]) -> dict[str, Reply | CallFailed] | None:
        """The answers by name, None while it is not done."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """When batches are sent and looked at."""

    size: int = 5000
    """Requests at which a batch is sent."""
    linger: float = 30.0
    """Seconds after the first request at which a batch is sent although it is not full."""
    every: float = 60.0
    """Seconds between two looks at a batch."""


USUAL = Rhythm()


@dataclass(eq=False)
class _Batch:
    """Requests under way together, and who waits for them."""

    requests: dict[str, Request]
    waiting: dict[str, asyncio.Future[Reply]] = field(default_factory=dict)


class Batched:
    """Collects calls of some purposes into batches, and leaves the others to the provider beside it.

    What was sent is noted in a journal, so that a run that was interrupted finds its batches again instead of paying
    for them twice. It belongs around a `Patient`, not into one: a day is longer than any call's patience.

    Args:
        direct: answers what is not collected.
        endpoints: by provider.
        journal: a file that outlives the process.
        purposes: which calls are collected.
        rhythm: when batches are sent and looked at.
    """

    def __init__(
        self,
        direct: Provider,
        endpoints: dict[str, BatchEndpoint],
        *,
        journal: Path,
        purposes: frozenset[str] = PURPOSES,
        rhythm: Rhythm = USUAL,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._direct, self._endpoints = direct, endpoints
        self._journal, self._purposes = journal, purposes
        self._rhythm, self._sleep = rhythm, sleep
        self._collecting: dict[str, _Batch] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending: set[asyncio.Task[None]] = set()
        self._sent = _read_journal(journal)
        """Names that an earlier process sent, with their batch and provider."""
        self._earlier: dict[str, _Batch] = {}
        self._under_way: set[_Batch] = set()

    async def complete(self, request: Request) -> Reply:
        if request.purpose not in self._purposes or request.provider not in self._endpoints:
            return await self._direct.complete(request)
        # A repeat is the same call at another place, and must be a call of its own.
        name = content_hash([request.place or secrets.token_hex(), request.call_hash])
        batch = self._batch_of(name, request)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        batch.requests[name], batch.waiting[name] = request, future
        if len(batch.requests) >= self._rhythm.size and self._collecting.get(request.provider) is batch:
            self._begin(request.provider, batch)
        return await future

    def _batch_of(self, name: str, request: Request) -> _Batch:
        if name in self._sent:
            known, provider = self._sent[name]
            if known not in self._earlier:
                self._earlier[known] = batch = _Batch({})
                self._follow(self._wait_for(known, provider, batch))
            return self._earlier[known]
        if request.provider not in self._collecting:
            self._collecting[request.provider] = batch = _Batch({})
            self._follow(self._after_a_while(request.provider, batch))
        return self._collecting[request.provider]

    def _follow(self, steps: Any) -> None:
        task = asyncio.create_task(steps)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _after_a_while(self, provider: str, batch: _Batch) -> None:
        await self._sleep(self._rhythm.linger)
        if self._collecting.get(provider) is batch:
            self._begin(provider, batch)

    def _begin(self, provider: str, batch: _Batch) -> None:
        del self._collecting[provider]
        self._under_way.add(batch)
        sending = asyncio.create_task(self._send(provider, batch))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def _send(self, provider: str, batch: _Batch) -> None:
        try:
            known = await self._endpoints[provider].send(batch.requests)
        except CallFailed as failure:
            self._fail(batch, failure)
            return
        line = json.dumps({"batch": known, "provider": provider, "names": list(batch.requests)})
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(line + "\n")
        self._follow(self._wait_for(known, provider, batch))

    async def _wait_for(self, known: str, provider: str, batch: _Batch) -> None:
        while True:
            await self._sleep(self._rhythm.every)
            try:
                results = await self._endpoints[provider].results(known, batch.requests)
            except CallFailed as failure:
                if failure.kind.may_pass:
                    continue
                self._fail(batch, failure)
                return
            if results is not None:
                break
        self._under_way.discard(batch)
        for name, future in batch.waiting.items():
            self._sent.pop(name, None)
            answer = results.get(name)
            if future.done():
                continue
            if isinstance(answer, Reply):
                future.set_result(answer)
            else:
                missing = CallFailed(
                    f"Batch {known} ended without an answer to this call.", kind=FailureKind.SERVER
                )
                future.set_exception(answer or missing)

    def leave(self, because: Exception) -> None:
        """Let nobody wait any longer: what was sent is found again by way of the journal, and nothing more is sent."""
        batches = {*self._collecting.values(), *self._earlier.values(), *self._under_way}
        self._collecting.clear()
        for batch in batches:
            for future in batch.waiting.values():
                if not future.done():
                    future.set_exception(because)

    async def close(self) -> None:
        """Stop looking; what was sent stays in the journal for the next process."""
        # A batch that is being sent is paid for: it must come to be in the journal.
        await asyncio.gather(*self._sending, return_exceptions=True)
        for task in list(self._tasks):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _fail(self, batch: _Batch, failure: CallFailed) -> None:
        self._under_way.discard(batch)
        for future in batch.waiting.values():
            if not future.done():
                future.set_exception(failure)


def _read_journal(path: Path) -> dict[str, tuple[str, str]]:
    if not path.exists():
        return {}
    sent: dict[str, tuple[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(json.JSONDecodeError):  # the last line of a process that was killed
            row = json.loads(line)
            sent |= dict.fromkeys(row["names"], (row["batch"], row["provider"]))
    return sent
