"""Calls in other processes: the same replies, the same failures, and a death that is a failure and no more."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from impactbench.llm import CallFailed, FailureKind, Message, ModelsUnavailable, Provider, Reply, Request
from impactbench.providers.scripted import Answer, Rule, Scripted
from impactbench.providers.worker_processes import when_full, worker_processes

RULES = (
    Rule(contains="filter", answers=(Answer(fail=FailureKind.CONTENT_FILTER),)),
    Rule(contains="slow", answers=(Answer(text="late", delay=3600),)),
    Rule(answers=(Answer(text="there", cost_usd=0.5),)),
)


class NamesItsProcess:
    """Answers with the number of the process that it runs in."""

    async def complete(self, request: Request) -> Reply:
        await asyncio.sleep(0.05)
        return Reply(text=str(os.getpid()))


def refuses() -> Provider:
    raise ModelsUnavailable("There are no models here.")


def ask(words: str = "Hello") -> Request:
    return Request(model="scripted/x", messages=(Message(role="user", content=words),))


def using(
    factory: Callable[[], Provider], use: Callable[[Provider], Awaitable[Any]], *, count: int = 1
) -> Any:
    async def inside() -> Any:
        async with worker_processes(factory, count=count) as provider:
            return await use(provider)

    return asyncio.run(inside())


def test_replies_failures_and_cancelled_calls_come_back_as_they_were() -> None:
    async def use(provider: Provider) -> None:
        reply = await provider.complete(ask())
        assert (reply.text, reply.cost_usd) == ("there", 0.5)
        with pytest.raises(CallFailed) as failed:
            await provider.complete(ask("filter"))
        assert failed.value.kind is FailureKind.CONTENT_FILTER
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await provider.complete(ask("slow"))
        assert (await provider.complete(ask())).text == "there"

    using(partial(Scripted, RULES), use)


def test_calls_are_spread_and_a_killed_process_fails_its_calls_and_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("impactbench.providers.worker_processes.FULL", 2)

    async def use(provider: Provider) -> None:
        alone = [await provider.complete(ask(str(n))) for n in range(3)]
        assert len({reply.text for reply in alone}) == 1

        replies = await asyncio.gather(*(provider.complete(ask(str(n))) for n in range(8)))
        pids = [reply.text for reply in replies]
        assert [pids.count(pid) for pid in set(pids)] == [4, 4]
        assert str(os.getpid()) not in pids

        open_calls = [asyncio.create_task(provider.complete(ask(str(n)))) for n in range(2)]
        await asyncio.sleep(0.01)
        os.kill(int(pids[0]), signal.SIGKILL)
        ended = await asyncio.gather(*open_calls, return_exceptions=True)
        failures = [end for end in ended if isinstance(end, CallFailed)]
        assert [(failure.kind, failure.lost) for failure in failures] == [(FailureKind.LOST, 1)]

        replies = await asyncio.gather(*(provider.complete(ask(str(n))) for n in range(8)))
        now = {reply.text for reply in replies}
        assert len(now) == 2
        assert pids[0] not in now

    using(NamesItsProcess, use, count=2)


def test_calls_stay_in_this_process_until_it_is_full_and_then_go_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("impactbench.providers.worker_processes.FULL", 2)
    share = [0.1]

    async def use() -> None:
        async with when_full(NamesItsProcess, most=2, busy=lambda: share[0]) as provider:

            async def processes() -> set[str]:
                replies = await asyncio.gather(*(provider.complete(ask(str(n))) for n in range(8)))
                return {reply.text for reply in replies}

            assert await processes() == {str(os.getpid())}, "many calls that wait are no reason"
            share[0] = 0.9
            assert len(await processes()) == 2, "the first two stay here, the rest go to one other"
            assert str(os.getpid()) not in await processes()

    asyncio.run(use())


def test_a_provider_that_cannot_be_made_says_why() -> None:
    async def use(provider: Provider) -> None:
        await provider.complete(ask())

    with pytest.raises(ModelsUnavailable, match=r"There are no models here\."):
        using(refuses, use)
