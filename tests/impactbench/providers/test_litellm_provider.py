"""litellm against a server on the loopback: what comes back, what it costs, and of which kind a failure is."""

import asyncio
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bench.mock_provider import MockProvider, serve
from impactbench.llm import CallFailed, FailureKind, Message, ModelsUnavailable, Reply, Request
from impactbench.providers.litellm_provider import LiteLLMProvider
from impactbench.providers.patience import Limits, Patient

KEY = "sk-secret-secret-secret"


def ask(model: str, **rest: object) -> Request:
    messages = (Message(role="user", content="Hello"),)
    return Request.model_validate({"model": f"openai/{model}", "messages": messages, **rest})


@dataclass
class Line:
    """A provider, the server it calls, and the loop that both run on."""

    runner: asyncio.Runner
    mock: MockProvider
    provider: LiteLLMProvider

    def call(self, request: Request) -> Reply:
        return self.runner.run(self.provider.complete(request))


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    mock = MockProvider()
    with asyncio.Runner() as runner:
        server, address = runner.run(serve(mock))
        provider = LiteLLMProvider(endpoints={"openai": address}, timeout=0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # litellm's own, when it first does something
            runner.run(provider.complete(ask("warm-up")))
        yield Line(runner, mock, provider)

        async def close() -> None:
            await provider.close()
            for connection in mock.connections:
                connection.close()
            server.close()
            await asyncio.sleep(0)

        runner.run(close())


def test_a_reply_carries_its_tokens_and_a_price_from_the_local_list(line: Line) -> None:
    reply = line.call(ask("gpt-4o-mini", parameters={"temperature": 0.2}))
    assert reply.text.startswith("Thank you for telling me.")
    assert (reply.tokens_in, reply.tokens_out, reply.finish_reason) == (120, 24, "stop")
    assert reply.cost_usd == pytest.approx(120 * 0.15e-6 + 24 * 0.6e-6)
    assert reply.seconds > 0


def test_an_unknown_price_is_unknown_and_a_text_cut_off_is_a_reply(line: Line) -> None:
    reply = line.call(ask("mock-finish-length"))
    assert reply.cost_usd is None
    assert reply.truncated


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("mock-429", FailureKind.RATE_LIMIT),
        ("mock-500", FailureKind.SERVER),
        ("mock-503", FailureKind.SERVER),
        ("mock-hang", FailureKind.TIMEOUT),
        ("mock-408", FailureKind.TIMEOUT),
        ("mock-400-filter", FailureKind.CONTENT_FILTER),
        ("mock-finish-content_filter", FailureKind.CONTENT_FILTER),
        ("mock-400", FailureKind.BAD_REQUEST),
        ("mock-404", FailureKind.BAD_REQUEST),
        ("mock-401", FailureKind.AUTHENTICATION),
        ("mock-403", FailureKind.AUTHENTICATION),
        ("mock-nochoices", FailureKind.MALFORMED),
    ],
)
def test_every_failure_has_its_kind_and_is_asked_only_once(line: Line, model: str, kind: FailureKind) -> None:
    with pytest.raises(CallFailed, match=f"openai/{model}") as failed:
        line.call(ask(model))
    assert failed.value.kind is kind
    assert line.mock.asked[model] == 1


def test_a_filtered_answer_was_paid_for(line: Line) -> None:
    with pytest.raises(CallFailed) as failed:
        line.call(ask("mock-finish-content_filter"))
    assert failed.value.reply
    assert failed.value.reply.tokens_out == 24


def test_patience_waits_for_a_provider_that_recovers(line: Line) -> None:
    patient = Patient(line.provider, limits={"openai": Limits(first_wait=0.01)})
    reply = line.runner.run(patient.complete(ask("mock-429-2")))
    assert reply.retries == 2


def test_nobody_listening_is_a_failure_of_the_server(line: Line) -> None:
    provider = LiteLLMProvider(endpoints={"openai": "http://127.0.0.1:9/v1"}, timeout=2.0)
    with pytest.raises(CallFailed) as failed:
        line.runner.run(provider.complete(ask("gpt-4o-mini")))
    assert failed.value.kind is FailureKind.SERVER


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("openai/gpt-5-mini", "needs a key: set the environment variable OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "set the environment variable ANTHROPIC_API_KEY"),
        ("nobody/x", "litellm knows no such provider; a model is named like openai/"),
        ("embedded/other", "embedded/other is not a model; the embedded one is embedded/smollm2-135m"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, model: str, sentence: str
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelsUnavailable, match=sentence):
        LiteLLMProvider().check(model)


def test_a_key_never_reaches_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    request = ask("gpt-4o-mini")
    provider = LiteLLMProvider()
    for said in (f"Incorrect key {KEY}", f"header Bearer {KEY[3:]} is bad"):
        failure = provider.failure(RuntimeError(said), request, seconds=0.0)
        assert "secret" not in str(failure)
        assert "(hidden)" in str(failure)


def test_without_litellm_the_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['litellm'] = None\n"
        "from impactbench.domain import ImpactBenchError\n"
        "from impactbench.providers.choosing import open_provider\n"
        "try: open_provider()\n"
        "except ImpactBenchError as error: print(error)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'impactbench[models]'" in shown
