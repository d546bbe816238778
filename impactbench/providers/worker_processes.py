"""Calls spread over processes, because preparing one costs milliseconds of a core (litellm's, mostly).

    async with worker_processes(partial(open_provider, "litellm"), count=2) as provider:
        reply = await provider.complete(request)

Limits belong around it, in the one process that sees all calls: `Patient(provider)`. `when_full` starts none until the
calling process has more than it can do.
"""

import asyncio
import gc
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from itertools import count as counter
from multiprocessing.context import SpawnProcess
from operator import attrgetter
from typing import Any

from impactbench.llm import CallFailed, FailureKind, Message, Provider, Reply, Request

Factory = Callable[[], Provider]
"""Makes the provider inside a worker: a function of a module, or a `partial` of one."""
FULL = 64
"""Open calls at which a process counts as full: more do not make it faster at the latencies of quick models."""
BUSY = 0.8
"""The share of a core from which on processor time, and not waiting for models, is what holds calls up."""
WINDOW = 1.0
"""Seconds over which that share is taken."""
_LENGTH = struct.Struct("!I")
_CHUNK = 2**18
_REST_NAMES = tuple(name for name in Request.model_fields if name != "messages")
_REST = attrgetter(*_REST_NAMES)
_REPLY = tuple(field.name for field in fields(Reply))
_ANSWER = attrgetter(*_REPLY)
_SPAWN = multiprocessing.get_context("spawn")


@asynccontextmanager
async def worker_processes(factory: Factory, *, count: int) -> AsyncIterator[Provider]:
    """A provider that hands requests to processes, and ends them with the block.

    The first is started with the first request, another one (of `count` at most) when all that run are full; among
    those that run, the least busy is given the next request.
    """
    workers = [_Worker(factory) for _ in range(count)]
    try:
        yield _Workers(workers)
    finally:
        for worker in workers:
            worker.stop()


@asynccontextmanager
async def when_full(
    factory: Factory, *, most: int | None = None, busy: Callable[[], float] | None = None
) -> AsyncIterator[Provider]:
    """A provider in this process that moves its calls to worker processes once this one is full.

    Full is: 64 calls are open, and this process takes most of a core. Then calls go to workers, one more of them
    whenever those that run are full and still take most of a core each.

    Args:
        factory: makes the provider, here and in workers.
        most: how many workers at most; one a core by default.
        busy: the share of a core that this process took of late.
    """
    workers = [_Worker(factory) for _ in range(most or os.cpu_count() or 1)]
    here = factory()
    try:
        yield _WhenFull(here, workers, busy or _Busy().share)
    finally:
        for worker in workers:
            worker.stop()
        close = getattr(here, "close", None)
        if close is not None:
            await close()


class _Busy:
    """The share of a core that was taken of late, from processor times as they become known."""

    def __init__(self) -> None:
        self._at, self._used, self._share = time.monotonic(), time.process_time(), 0.0

    def share(self, used: float | None = None) -> float:
        """The share in the latest whole window, given the processor time so far; by default this process's own."""
        used = time.process_time() if used is None else used
        passed = time.monotonic() - self._at
        if passed >= WINDOW:
            self._share = (used - self._used) / passed
            self._at, self._used = time.monotonic(), used
        return self._share


class _WhenFull:
    def __init__(self, here: Provider, workers: list["_Worker"], busy: Callable[[], float]) -> None:
        self._here, self._workers, self._busy = here, workers, busy
        self._open = 0

    async def complete(self, request: Request) -> Reply:
        worker = self._worker()
        if worker is not None:
            return await worker.complete(request)
        self._open += 1
        try:
            return await self._here.complete(request)
        finally:
            self._open -= 1

    def _worker(self) -> "_Worker | None":
        """Who takes a call; None for this process."""
        running = [worker for worker in self._workers if worker.begun]
        if not running:
            return self._workers[0] if self._open >= FULL and self._busy() >= BUSY else None
        if all(worker.load >= FULL and worker.busy >= BUSY for worker in running):
            return next((worker for worker in self._workers if not worker.begun), _least(running))
        return _least(running)


def _least(workers: list["_Worker"]) -> "_Worker":
    return min(workers, key=lambda worker: worker.load)


class _Workers:
    def __init__(self, workers: list["_Worker"]) -> None:
        self._workers = workers

    async def complete(self, request: Request) -> Reply:
        running = [worker for worker in self._workers if worker.begun]
        worker = min(running, key=lambda worker: worker.load, default=self._workers[0])
        if worker.load >= FULL and len(running) < len(self._workers):
            worker = self._workers[len(running)]
        return await worker.complete(request)


class _Worker:
    """A process, started when it is first needed, and again when it has died."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._numbers = counter()
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self._starting = asyncio.Lock()
        self._process: SpawnProcess | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self.begun = False
        self.load = 0
        """Requests that wait for this process, whether or not it runs yet."""
        self.busy = 0.0
        """The share of a core that it took of late."""

    async def complete(self, request: Request) -> Reply:
        self.begun = True
        self.load += 1
        number = next(self._numbers)
        try:
            writer = await self._running()
            future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
            self._waiting[number] = future
            try:
                writer.write(_packed((number, _parts(request))))
                return await future
            except asyncio.CancelledError:
                writer.write(_packed((number, None)))
                raise
        finally:
            self.load -= 1
            self._waiting.pop(number, None)

    async def _running(self) -> asyncio.StreamWriter:
        if self._writer is not None:
            return self._writer
        async with self._starting:
            if self._writer is None:
                ours, theirs = socket.socketpair()
                self._process = _SPAWN.Process(target=_work, args=(self._factory, theirs), daemon=True)
                self._process.start()
                theirs.close()
                reader, self._writer = await asyncio.open_connection(sock=ours)
                self._listening = asyncio.create_task(self._listen(reader))
            return self._writer

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        measured = _Busy()
        async for number, said, used in _received(reader):
            self.busy = measured.share(used)
            future = self._waiting.get(number)
            if future is None or future.done():
                continue
            if isinstance(said, Exception):
                future.set_exception(said)
            else:
                future.set_result(Reply(**dict(zip(_REPLY, said, strict=True))))
        self._close()
        for future in self._waiting.values():
            if not future.done():
                sentence = "The worker process of a call has died; the call may have been paid for."
                future.set_exception(CallFailed(sentence, kind=FailureKind.LOST, lost=1))

    def _close(self) -> None:
        if self._writer:
            self._writer.close()
        self._writer = None

    def stop(self) -> None:
        if self._listening:
            self._listening.cancel()
        self._close()
        if self._process:
            self._process.terminate()
            self._process.join()


def _packed(message: Any) -> bytes:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


async def _received(reader: asyncio.StreamReader) -> AsyncIterator[Any]:
    """Messages until the other side is gone."""
    held = b""
    with suppress(ConnectionError):
        while some := await reader.read(_CHUNK):
            held += some
            start = 0
            while len(held) >= start + _LENGTH.size:
                (size,) = _LENGTH.unpack_from(held, start)
                if len(held) < (end := start + _LENGTH.size + size):
                    break
                yield pickle.loads(held[start + _LENGTH.size : end])  # noqa: S301 - our own process writes it
                start = end
            held = held[start:]


def _parts(request: Request) -> tuple[Any, ...]:
    """A request as plain values: as an object it takes five times as long on its way."""
    said = [(message.role, message.content) for message in request.messages]
    return (said, *_REST(request))


def _whole(parts: tuple[Any, ...]) -> Request:
    said, *rest = parts
    messages = tuple(Message(role=role, content=content) for role, content in said)
    return Request(messages=messages, **dict(zip(_REST_NAMES, rest, strict=True)))


def _work(factory: Factory, ours: socket.socket) -> None:
    # Ctrl+C reaches the whole group; the parent decides what becomes of open calls.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_serve(factory, ours))


async def _serve(factory: Factory, ours: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=ours)
    provider: Provider | None = None
    refused: Exception | None = None
    try:
        provider = factory()
    except Exception as error:
        refused = error
    gc.freeze()
    tasks: dict[int, asyncio.Task[None]] = {}

    async def answer(number: int, request: Request) -> None:
        said: tuple[Any, ...] | Exception
        try:
            if provider is None:
                raise refused or RuntimeError("no provider")
            said = _ANSWER(await provider.complete(request))
        except Exception as error:
            said = _sendable(error)
        tasks.pop(number, None)
        writer.write(_packed((number, said, time.process_time())))

    async for number, parts in _received(reader):
        if parts is not None:
            tasks[number] = asyncio.create_task(answer(number, _whole(parts)))
        elif number in tasks:
            tasks.pop(number).cancel()


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - just made
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
