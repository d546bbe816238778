"""Which failures are borne, how long, and how much is asked of a provider at once."""

import asyncio
from dataclasses import dataclass, field

import pytest

from impactbench.llm import CallFailed, FailureKind, Message, Request
from impactbench.providers.patience import Limits, Patient
from impactbench.providers.scripted import Answer, Order, Rule, Scripted


def ask(words: str = "Hello", **rest: object) -> Request:
    return Request.model_validate(
        {"model": "openai/x", "messages": (Message(role="user", content=words),), **rest}
    )


@dataclass
class Clock:
    """Time that passes only when somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def failing(*kinds: FailureKind, retry_after: float | None = None) -> Scripted:
    answers = [Answer(fail=kind, retry_after=retry_after) for kind in kinds]
    return Scripted([Rule(answers=(*answers, Answer(text="there")), order=Order.EACH_REQUEST)])


@pytest.mark.parametrize("kind", [FailureKind.RATE_LIMIT, FailureKind.SERVER, FailureKind.TIMEOUT])
def test_what_may_pass_is_tried_again_after_growing_waits_and_counted(kind: FailureKind) -> None:
    clock, provider = Clock(), failing(kind, kind)
    reply = asyncio.run(Patient(provider, clock=clock, sleep=clock.sleep).complete(ask()))
    assert (reply.text, reply.retries) == ("there", 2)
    assert 0.5 <= clock.slept[0] <= 1.0 <= clock.slept[-1] <= 2.0


@pytest.mark.parametrize(
    "kind", [FailureKind.CONTENT_FILTER, FailureKind.BAD_REQUEST, FailureKind.AUTHENTICATION]
)
def test_what_would_fail_again_is_asked_once(kind: FailureKind) -> None:
    clock, provider = Clock(), failing(kind)
    with pytest.raises(CallFailed) as failed:
        asyncio.run(Patient(provider, clock=clock, sleep=clock.sleep).complete(ask()))
    assert (failed.value.kind, failed.value.retries) == (kind, 0)
    assert provider.calls.total() == 1
    assert not clock.slept


def test_patience_ends_and_says_how_often_it_tried() -> None:
    clock, provider = Clock(), failing(*[FailureKind.SERVER] * 9)
    patient = Patient(provider, limits={"*": Limits(retries=3)}, clock=clock, sleep=clock.sleep)
    with pytest.raises(CallFailed) as failed:
        asyncio.run(patient.complete(ask()))
    assert (failed.value.retries, provider.calls.total()) == (3, 4)


def test_the_provider_is_left_alone_for_as_long_as_it_asks() -> None:
    clock, provider = Clock(), failing(FailureKind.RATE_LIMIT, retry_after=30)
    reply = asyncio.run(Patient(provider, clock=clock, sleep=clock.sleep).complete(ask()))
    assert reply.retries == 1
    assert clock.now >= 30


def test_a_rate_limit_met_by_one_call_holds_back_the_others() -> None:
    clock = Clock()
    provider = Scripted(
        [
            Rule(contains="first", answers=(Answer(fail=FailureKind.RATE_LIMIT, retry_after=20), Answer()),
                 order=Order.EACH_REQUEST),
            Rule(answers=(Answer(text="second"),)),
        ]
    )  # fmt: skip

    async def both() -> float:
        patient = Patient(provider, clock=clock, sleep=clock.sleep)
        first = asyncio.create_task(patient.complete(ask("first")))
        while not clock.slept:
            await asyncio.sleep(0)
        clock.now = 5
        await patient.complete(ask("second"))
        await first
        return clock.slept[1]

    assert asyncio.run(both()) == pytest.approx(15)


def test_a_provider_that_hangs_is_a_timeout() -> None:
    provider = Scripted([Rule(answers=(Answer(delay=3600),))])
    patient = Patient(provider, limits={"openai": Limits(timeout=0.02, retries=0)})
    with pytest.raises(CallFailed, match=r"openai/x did not answer within 0\.02 seconds") as failed:
        asyncio.run(patient.complete(ask()))
    assert failed.value.kind is FailureKind.TIMEOUT


def test_no_more_calls_are_open_than_allowed_and_every_provider_has_its_own_limit() -> None:
    provider = Scripted([Rule(answers=(Answer(delay=0.002),))])
    patient = Patient(provider, limits={"openai": Limits(at_once=3)})

    async def many(model: str) -> None:
        await asyncio.gather(*(patient.complete(ask(str(n), model=model)) for n in range(12)))

    asyncio.run(many("openai/x"))
    assert provider.at_once == 3
    asyncio.run(many("other/x"))
    assert provider.at_once == 12


@pytest.mark.parametrize(
    "limits", [Limits(requests_per_minute=60), Limits(tokens_per_minute=60 * 101)], ids=["requests", "tokens"]
)
def test_calls_are_spread_over_the_minute(limits: Limits) -> None:
    """One hundred calls of 101 tokens each at one a second; six seconds' worth may go at once."""
    clock = Clock()
    provider = Scripted([Rule(answers=(Answer(tokens_in=1, tokens_out=100),))])

    async def hundred() -> None:
        patient = Patient(provider, limits={"*": limits}, clock=clock, sleep=clock.sleep)
        for number in range(100):
            await patient.complete(ask(f"{number:04}", parameters={"max_tokens": 100}))

    asyncio.run(hundred())
    assert clock.now == pytest.approx(94, abs=1)


def test_the_same_seed_waits_the_same() -> None:
    def waits(seed: int) -> list[float]:
        clock = Clock()
        patient = Patient(failing(FailureKind.SERVER), seed=seed, clock=clock, sleep=clock.sleep)
        asyncio.run(patient.complete(ask()))
        return clock.slept

    assert waits(1) == waits(1) != waits(2)
