"""A script answers the same in the same order, counts what it was asked, and is refused with a sentence."""

import asyncio
from pathlib import Path

import pytest

from impactbench.llm import CallFailed, FailureKind, Message, Reply, Request
from impactbench.providers.choosing import ProviderUnknown, open_provider
from impactbench.providers.scripted import Answer, Order, Rule, Scripted, ScriptRefused, read_script


def ask(words: str = "Hello", purpose: str = "judge") -> Request:
    return Request(model="scripted/x", messages=(Message(role="user", content=words),), purpose=purpose)


def said(provider: Scripted, *requests: Request) -> list[str]:
    async def all_of_them() -> list[Reply]:
        return [await provider.complete(request) for request in requests]

    return [reply.text for reply in asyncio.run(all_of_them())]


YES_NO = (Answer(text="yes"), Answer(text="no"))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order.IN_TURN, ["yes", "no", "yes", "no"]),
        (Order.EACH_REQUEST, ["yes", "yes", "no", "no"]),
    ],
)
def test_answers_come_in_the_order_that_the_rule_says(order: Order, expected: list[str]) -> None:
    provider = Scripted([Rule(answers=YES_NO, order=order)])
    assert said(provider, ask("a"), ask("b"), ask("a"), ask("b")) == expected


def test_by_content_the_same_request_has_the_same_answer_in_any_order_of_arrival() -> None:
    requests = [ask(str(number)) for number in range(20)]
    forwards = said(Scripted([Rule(answers=YES_NO)]), *requests)
    assert said(Scripted([Rule(answers=YES_NO)]), *reversed(requests)) == forwards[::-1]
    assert set(forwards) == {"yes", "no"}


def test_the_first_rule_that_fits_answers_and_a_request_without_a_rule_is_told() -> None:
    rules = [
        Rule(purpose="judge", contains="rude", answers=YES_NO[:1]),
        Rule(purpose="tar*", answers=YES_NO[1:]),
    ]
    provider = Scripted(rules)
    assert said(provider, ask("a rude word"), ask("rude", purpose="target")) == ["yes", "no"]
    with pytest.raises(CallFailed, match="no answer to scripted/x for the purpose judge"):
        said(provider, ask("kind"))
    assert provider.calls == {"judge": 2, "target": 1}


def test_what_was_paid_is_in_the_ledger_and_what_failed_is_not(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    answers = (Answer(fail=FailureKind.SERVER), Answer(text="there"))
    provider = Scripted([Rule(answers=answers, order=Order.EACH_REQUEST)], ledger=ledger)
    with pytest.raises(CallFailed):
        said(provider, ask())
    said(provider, ask(), ask())
    assert ledger.read_text().splitlines() == [f"judge\tscripted/x\t{ask().call_hash}"] * 2


def test_a_file_can_be_the_script(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("rules:\n- purpose: judge\n  answers: [{text: 'yes'}]\n- answers: [{fail: timeout}]\n")
    provider = open_provider(f"scripted:{path}")
    assert isinstance(provider, Scripted)
    assert said(provider, ask()) == ["yes"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rules: [", "this is not YAML"),
        ("[]", "a script is a list `rules`"),
        ("rules: []", "rules: Tuple should have at least 1 item"),
        ("rules: [{answers: [{fail: later}]}]", r"rules\.0\.answers\.0\.fail: .*'rate_limit'.*found 'later'"),
    ],
)
def test_a_script_that_makes_no_sense_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text)
    with pytest.raises(ScriptRefused, match=sentence):
        read_script(path)


def test_a_missing_script_and_an_unknown_provider_are_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptRefused, match=r"nowhere\.yaml: the script cannot be read"):
        open_provider(f"scripted:{tmp_path}/nowhere.yaml")
    with pytest.raises(ProviderUnknown, match="'gpt' is no provider; choose litellm or scripted:FILE"):
        open_provider("gpt")
