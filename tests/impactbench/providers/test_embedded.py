"""The model that comes with the program: real texts without a network, bound by a grammar, stopped at a line's end."""

import asyncio
import json
import warnings
from collections.abc import Iterator

import pytest

from impactbench.llm import CallFailed, FailureKind, Message, ModelsUnavailable, Reply, Request
from impactbench.providers import embedded
from impactbench.providers.litellm_provider import LiteLLMProvider
from tests.material import REQUIRED

VERDICT = 'root ::= "{\\"present\\":" ("true" | "false") ",\\"justification\\":\\"" [A-Za-z ,.]{1,60} "\\"}"'


def ask(words: str, *, grammar: str = "", **parameters: object) -> Request:
    return Request(
        model=embedded.EMBEDDED_MODEL,
        messages=(Message(role="user", content=words),),
        parameters={"max_tokens": 40, **parameters},
        grammar=grammar,
    )


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    try:
        embedded.model_file()
    except ModelsUnavailable as unavailable:
        pytest.fail(str(unavailable)) if REQUIRED else pytest.skip(str(unavailable))
    with asyncio.Runner() as loop, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # litellm's own, when it first does something
        loop.run(LiteLLMProvider().complete(ask("Hello", max_tokens=1)))
        yield loop


def test_four_verdicts_at_once_all_have_the_form_of_the_grammar(runner: asyncio.Runner) -> None:
    async def four() -> list[Reply]:
        provider = LiteLLMProvider()
        return await asyncio.gather(
            *(
                provider.complete(
                    ask(f"Is {n} kind?", grammar=VERDICT, temperature=1.2, seed=n, max_tokens=60)
                )
                for n in range(4)
            )
        )

    replies = runner.run(four())
    assert all(json.loads(reply.text)["present"] in (True, False) for reply in replies)
    assert all(reply.tokens_out > 0 and reply.cost_usd == 0.0 for reply in replies)


def test_a_line_of_a_screenplay_stops_at_its_end_and_is_the_same_for_the_same_seed(
    runner: asyncio.Runner,
) -> None:
    request = ask("Write the next line.\nANNA: I feel tired.\nBEN:", stop=["\n"], seed=7, temperature=0.8)
    first = runner.run(LiteLLMProvider().complete(request))
    assert first.text.strip()
    assert "\n" not in first.text
    assert runner.run(LiteLLMProvider().complete(request)).text == first.text


def test_a_text_cut_off_and_one_too_long_are_told(runner: asyncio.Runner) -> None:
    provider = LiteLLMProvider()
    assert runner.run(provider.complete(ask("Tell me a long story.", max_tokens=3))).truncated
    with pytest.raises(CallFailed, match="exceeds the available context size") as failed:
        runner.run(provider.complete(ask("too long " * 5000)))
    assert failed.value.kind is FailureKind.BAD_REQUEST


def test_it_is_never_evidence() -> None:
    assert not embedded.is_evidence(embedded.EMBEDDED_MODEL)
    assert "not evidence" in embedded.NOT_EVIDENCE
