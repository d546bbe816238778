"""Calls that can wait go in batches, through litellm to a server on the loopback, and are found again after a crash."""

import asyncio
import gc
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.mock_provider import MockProvider, serve
from impactbench.llm import CallFailed, FailureKind, Message, ModelsUnavailable, Reply, Request
from impactbench.providers.batches import Batched, Rhythm
from impactbench.providers.litellm_batches import LiteLLMBatches
from impactbench.providers.litellm_provider import LiteLLMProvider
from impactbench.providers.scripted import Scripted

# litellm leaves clients of its batch calls open, and a coroutine of its log unawaited.
pytestmark = pytest.mark.filterwarnings("ignore")


def ask(place: str, *, model: str = "gpt-4o-mini", purpose: str = "judge") -> Request:
    said = (Message(role="user", content="Hello"),)
    return Request(model=f"openai/{model}", messages=said, purpose=purpose, place=place)


async def shortly(_seconds: float) -> None:
    await asyncio.sleep(0.005)


@dataclass
class Office:
    """A server that takes batches, and the loop that it runs on."""

    runner: asyncio.Runner
    mock: MockProvider
    address: str
    provider: LiteLLMProvider

    def batched(self, journal: Path, *, size: int = 100) -> Batched:
        endpoint = LiteLLMBatches(self.provider, "openai", endpoint=self.address)
        direct = Scripted(lambda _request: "at once")
        return Batched(direct, {"openai": endpoint}, journal=journal, rhythm=Rhythm(size=size), sleep=shortly)

    def answers(self, batched: Batched, *requests: Request) -> list[Reply | BaseException]:
        async def all_of_them() -> list[Reply | BaseException]:
            calls = (batched.complete(request) for request in requests)
            answers = await asyncio.gather(*calls, return_exceptions=True)
            await batched.close()
            return answers

        return self.runner.run(all_of_them())


@pytest.fixture
def office() -> Iterator[Office]:
    mock = MockProvider()
    with asyncio.Runner() as runner:
        server, address = runner.run(serve(mock))
        provider = LiteLLMProvider(endpoints={"openai": address})
        yield Office(runner, mock, address, provider)

        async def close() -> None:
            await provider.close()
            for connection in mock.connections:
                connection.close()
            server.close()
            await asyncio.sleep(0)

        runner.run(close())
    gc.collect()


def test_what_waits_for_nobody_is_sent_together_at_the_price_of_batches(
    office: Office, tmp_path: Path
) -> None:
    requests = [ask(str(n)) for n in range(3)] + [ask("3", purpose="target")]
    answers = office.answers(office.batched(tmp_path / "journal"), *requests)
    assert [answer.text[:9] for answer in answers if isinstance(answer, Reply)] == [
        *["Thank you"] * 3,
        "at once",
    ]
    assert len(office.mock.batches) == 1
    assert isinstance(answers[0], Reply)
    assert answers[0].cost_usd == pytest.approx((120 * 0.15e-6 + 24 * 0.6e-6) / 2)


def test_a_full_batch_does_not_wait_for_more(office: Office, tmp_path: Path) -> None:
    office.answers(office.batched(tmp_path / "journal", size=2), *[ask(str(n)) for n in range(4)])
    assert len(office.mock.batches) == 2


def test_each_failure_in_a_batch_is_its_own(office: Office, tmp_path: Path) -> None:
    models = ["gpt-4o-mini", "mock-400-filter", "mock-429", "mock-finish-content_filter"]
    answers = office.answers(office.batched(tmp_path / "journal"), *[ask(m, model=m) for m in models])
    kinds = [answer.kind if isinstance(answer, CallFailed) else None for answer in answers]
    assert kinds == [
        None, FailureKind.CONTENT_FILTER, FailureKind.RATE_LIMIT, FailureKind.CONTENT_FILTER
    ]  # fmt: skip


def test_after_a_crash_a_batch_is_found_again_and_a_repeat_is_a_call_of_its_own(
    office: Office, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    first = office.batched(journal)

    async def crash() -> None:
        open_calls = [asyncio.create_task(first.complete(ask(str(n)))) for n in range(2)]
        while not office.mock.batches or not journal.exists():
            await asyncio.sleep(0.001)
        for call in open_calls:
            call.cancel()
        await asyncio.gather(*open_calls, return_exceptions=True)
        await first.close()

    office.runner.run(crash())
    with journal.open("a") as torn:
        torn.write('{"batch": "half a li')
    answers = office.answers(office.batched(journal), ask("0"), ask("1"))
    assert all(isinstance(answer, Reply) for answer in answers)
    assert office.mock.asked["gpt-4o-mini"] == 2

    office.answers(office.batched(journal), ask("a repeat"))
    assert office.mock.asked["gpt-4o-mini"] == 3
    assert json.loads(journal.read_text().splitlines()[0])["provider"] == "openai"


def test_a_provider_without_batches_is_told(office: Office) -> None:
    with pytest.raises(
        ModelsUnavailable, match="anthropic has no batches that litellm drives; openai, azure"
    ):
        LiteLLMBatches(office.provider, "anthropic")
