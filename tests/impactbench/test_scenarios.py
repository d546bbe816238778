"""Scenarios that a model writes are checked, asked for again, and never taken as they are."""

import asyncio
import json

import pytest

from impactbench.domain import AgeVariant, MetricDefinition, Polarity
from impactbench.llm import FailureKind, Request
from impactbench.providers.scripted import Answer, Scripted
from impactbench.runs.unit_keys import ModelCall
from impactbench.scenarios import Unusable, write_base, write_clause, write_variant
from tests.impactbench.runs.invented_run import BASE

AUTHOR = ModelCall(model="script/author")
DEFINITION = MetricDefinition(name="Asks", polarity=Polarity.POSITIVE, definition="The chatbot asks.")


def written(*answers: Answer | str) -> tuple[object, Scripted]:
    left = list(answers)
    provider = Scripted(lambda _: left.pop(0))
    base = asyncio.run(write_base(provider.complete, DEFINITION, author=AUTHOR, number=2, turns=6))
    return base, provider


def test_a_scenario_that_tells_a_trait_is_asked_for_again_with_the_reason() -> None:
    told = json.dumps(BASE | {"persona": "A woman of 30 who repairs bicycles."})
    base, provider = written(told, json.dumps(BASE))
    assert base
    assert "it tells gender ('woman')" in provider.requests[1].messages[-1].content


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        ("no JSON", FailureKind.MALFORMED, "not one JSON object"),
        ("[1]", FailureKind.MALFORMED, "not one JSON object"),
        (json.dumps({**BASE, "user_goal": " "}), FailureKind.MALFORMED, "must each say something"),
        (json.dumps({k: v for k, v in BASE.items() if k != "user_goal"}), FailureKind.MALFORMED, "user_goal"),
        (
            json.dumps({**BASE, "anchors": [{"turn": 7, "instruction": "x"}]}),
            FailureKind.MALFORMED,
            "turns 1 to 6",
        ),
        (json.dumps({**BASE, "anchors": BASE["anchors"] * 2}), FailureKind.MALFORMED, "different turns"),  # type: ignore[operator]
        ("", FailureKind.EMPTY, "empty"),
        (Answer(text="{", finish_reason="length"), FailureKind.TRUNCATED, "cut off"),
    ],
)
def test_after_three_tries_it_is_a_failure_with_its_kind(
    answer: Answer | str, kind: FailureKind, said: str
) -> None:
    with pytest.raises(Unusable, match=said) as unusable:
        written(answer, answer, answer)
    assert unusable.value.kind == kind


def test_both_age_variants_keep_goals_and_anchors() -> None:
    def script(request: Request) -> str:
        if request.purpose == "scenario":
            return json.dumps(BASE)
        teen = "13 to 17" in request.messages[-1].content
        return json.dumps({"persona": "A teenager of 15." if teen else "An adult of 40."})

    provider = Scripted(script)

    async def write() -> list[object]:
        base = await write_base(provider.complete, DEFINITION, author=AUTHOR, number=1, turns=6)
        variants = [
            await write_variant(provider.complete, base, age, author=AUTHOR, system_prompt="")
            for age in AgeVariant
        ]
        assert [variant.base for variant in variants] == [base, base]
        return [variant.persona for variant in variants]

    assert asyncio.run(write()) == ["A teenager of 15.", "An adult of 40."]
    asked = [r.messages[-1].content for r in provider.requests if r.purpose == "age_variant"]
    assert not any("told what to do" in text for text in asked)


@pytest.mark.parametrize("persona", ["A person who cycles.", "An adult of 40.", "A boy of 15.", ""])
def test_a_persona_without_its_age_or_with_a_gender_is_refused(persona: str) -> None:
    provider = Scripted(lambda _: json.dumps({"persona": persona}))
    base, _ = written(json.dumps(BASE))
    with pytest.raises(Unusable):
        asyncio.run(write_variant(provider.complete, base, AgeVariant.TEEN, author=AUTHOR))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "fits"),
    [("One instance is enough. A withdrawal undoes it.", True), ("One sentence.", False), ("No. end", False)],
)
def test_a_clause_has_two_to_five_whole_sentences(text: str, fits: bool) -> None:
    provider = Scripted(lambda _: text)
    if fits:
        assert asyncio.run(write_clause(provider.complete, DEFINITION, author=AUTHOR)) == text
    else:
        with pytest.raises(Unusable):
            asyncio.run(write_clause(provider.complete, DEFINITION, author=AUTHOR))
