"""Patience with providers: so many calls at once, so many a minute, and another try where that may help."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import numpy as np
from pydantic import Field

from impactbench.domain import Content
from impactbench.llm import CallFailed, FailureKind, Provider, Reply, Request

CHARACTERS_PER_TOKEN = 4
Sleep = Callable[[float], Awaitable[None]]


class Limits(Content):
    """What one provider is asked for, and for how long its failures are borne."""

    at_once: int = Field(default=128, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    timeout: float = Field(default=180.0, gt=0)
    """Seconds after which a call without an answer counts as failed, whatever the provider says."""
    retries: int = Field(default=6, ge=0)
    first_wait: float = Field(default=1.0, ge=0)
    """Seconds before the second try; doubled each time."""
    longest_wait: float = Field(default=60.0, ge=0)


GENEROUS = Limits()
EMBEDDED = Limits(at_once=4, timeout=600.0, retries=1)
DEFAULTS: Mapping[str, Limits] = {"embedded": EMBEDDED}


class Allowance:
    """So much a minute, refilled steadily; a tenth of a minute's worth may be taken at once."""

    def __init__(self, per_minute: float, clock: Callable[[], float], sleep: Sleep) -> None:
        self._rate = per_minute / 60
        self._most = max(per_minute / 10, 1.0)
        self._level = self._most
        self._clock, self._sleep = clock, sleep
        self._at = clock()

    async def take(self, amount: float) -> None:
        """Wait until so much is there. What is taken beyond the level is a debt that later calls wait for."""
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._at) * self._rate)
        self._at = now
        self._level -= amount
        if self._level < 0:
            await self._sleep(-self._level / self._rate)

    def correct(self, amount: float) -> None:
        """Put back what was not used, or take what was used besides."""
        self._level += amount


class _Gate:
    """What all calls to one provider share."""

    def __init__(self, limits: Limits, clock: Callable[[], float], sleep: Sleep) -> None:
        self.limits = limits
        self.places = asyncio.Semaphore(limits.at_once)
        self.requests = _allowance(limits.requests_per_minute, clock, sleep)
        self.tokens = _allowance(limits.tokens_per_minute, clock, sleep)
        self.closed_until = 0.0
        """A provider that said "not now" to one call is left alone by all."""


class Patient:
    """A provider around a provider.

    A rate limit, a timeout and a failing server are tried again, after a wait that doubles and is drawn from a seeded
    generator so that calls do not come back in step. A content filter, a bad request and a refused key are not: the
    answer would be the same.

    Args:
        provider: who is called.
        limits: by provider, the part of a model's name before the slash; `*` for those not named.
        seed: of the waits.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        limits: Mapping[str, Limits] | None = None,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._provider = provider
        self._limits = {**DEFAULTS, **(limits or {})}
        self._draws = np.random.default_rng(seed)
        self._clock, self._sleep = clock, sleep
        self._gates: dict[str, _Gate] = {}

    async def complete(self, request: Request) -> Reply:
        gate = self._gate(request.provider)
        retries = lost = 0
        while True:
            try:
                reply = await self._once(gate, request)
            except CallFailed as failure:
                lost += failure.lost
                failure.retries, failure.lost = retries, lost
                if not failure.kind.may_pass or retries == gate.limits.retries:
                    raise
                wait = self._wait(gate.limits, retries, failure)
                if failure.kind is FailureKind.RATE_LIMIT:
                    gate.closed_until = max(gate.closed_until, self._clock() + wait)
                retries += 1
                await self._sleep(wait)
            else:
                return replace(reply, retries=retries, lost=reply.lost + lost) if retries else reply

    def _gate(self, provider: str) -> _Gate:
        if provider not in self._gates:
            limits = self._limits.get(provider) or self._limits.get("*", GENEROUS)
            self._gates[provider] = _Gate(limits, self._clock, self._sleep)
        return self._gates[provider]

    async def _once(self, gate: _Gate, request: Request) -> Reply:
        async with gate.places:
            while (closed := gate.closed_until - self._clock()) > 0:
                await self._sleep(closed)
            if gate.requests:
                await gate.requests.take(1)
            expected = _tokens(request) if gate.tokens else 0
            if gate.tokens:
                await gate.tokens.take(expected)
            try:
                async with asyncio.timeout(gate.limits.timeout):
                    reply = await self._provider.complete(request)
            except TimeoutError:
                raise CallFailed(
                    f"{request.model} did not answer within {gate.limits.timeout:g} seconds.",
                    kind=FailureKind.TIMEOUT,
                    seconds=gate.limits.timeout,
                ) from None
            if gate.tokens:
                gate.tokens.correct(expected - reply.tokens_in - reply.tokens_out)
            return reply

    def _wait(self, limits: Limits, retries: int, failure: CallFailed) -> float:
        wait = min(limits.longest_wait, limits.first_wait * 2**retries) * self._draws.uniform(0.5, 1.0)
        return float(max(wait, failure.retry_after or 0.0))


def _allowance(per_minute: float | None, clock: Callable[[], float], sleep: Sleep) -> Allowance | None:
    return Allowance(per_minute, clock, sleep) if per_minute else None


def _tokens(request: Request) -> float:
    """About how many tokens a call will take: what is said, and the longest answer."""
    said = sum(len(message.content) for message in request.messages)
    return said / CHARACTERS_PER_TOKEN + float(request.parameters.get("max_tokens") or 0)
