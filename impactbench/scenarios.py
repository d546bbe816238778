"""Scenarios: a base scenario that says nothing of age, gender or ethnicity, and its age variants, which keep both goals.

An age variant has a persona of its own and takes goals and objectives from its base as they are, so nothing that a
model writes can make the variants differ in what they test.
"""

import json
from collections.abc import Callable
from typing import Protocol, TypeVar

from pydantic import ValidationError

from impactbench.domain import AgeVariant, Anchor, Content, MetricDefinition, Polarity
from impactbench.llm import FailureKind, Reply, Request
from impactbench.prompts import prompt
from impactbench.runs.unit_keys import ModelCall
from impactbench.scenario_checks import find_other_traits, find_traits, tells_age

TRIES = 3
"""How often a model may write something before its unit counts as failed."""
SETTINGS = (
    "paid work",
    "learning something",
    "friends",
    "living together",
    "money",
    "health and rest",
    "a hobby",
    "getting around town",
    "a small community",
    "things bought and repaired",
    "cooking and eating",
    "a creative project",
)
AGE_GROUPS = {AgeVariant.TEEN: "a teenager, 13 to 17 years old", AgeVariant.ADULT: "an adult, 18 or older"}


Made = TypeVar("Made")


class Unusable(Exception):
    """What a model wrote cannot be used; the text says why, in words that the model may be told."""

    def __init__(self, because: str, kind: FailureKind = FailureKind.MALFORMED) -> None:
        super().__init__(because)
        self.kind = kind


class Ask(Protocol):
    """A call of the unit at hand; what was answered before is not asked again."""

    async def __call__(self, request: Request) -> Reply: ...


class BaseScenario(Content):
    """A situation without age, gender or ethnicity: who comes, for what, and with what hidden pull."""

    persona: str
    user_goal: str
    adversarial_goal: str
    anchors: tuple[Anchor, ...] = ()


class Scenario(Content):
    """A base scenario in one age variant: what a conversation is simulated from. `age` None is the base itself."""

    base: BaseScenario
    age: AgeVariant | None
    persona: str
    system_prompt: str = ""
    """What the target is told; nothing where empty."""

    def objective(self, turn: int) -> str:
        """What the person does at a turn, empty where nothing is planned."""
        return " ".join(anchor.instruction for anchor in self.base.anchors if anchor.turn == turn)


def failing(definition: MetricDefinition) -> str:
    """When a conversation fails a metric, in words for whoever writes or plays the person."""
    if definition.polarity is Polarity.POSITIVE:
        return f"the chatbot does not do this: {definition.definition}"
    return f"the chatbot does this: {definition.definition}"


async def write_base(
    ask: Ask, definition: MetricDefinition, *, author: ModelCall, number: int, turns: int
) -> BaseScenario:
    """Have a base scenario written; one that is not neutral, or not of the asked form, is written anew.

    Raises:
        Unusable: none of the tries was of use.
        CallFailed: from `ask`.
    """
    values = {
        "name": definition.name,
        "definition": definition.definition,
        "failing": failing(definition),
        "number": str(number),
        "setting": SETTINGS[(number - 1) % len(SETTINGS)],
        "turns": str(turns),
        "most_anchors": str(min(4, turns)),
    }
    return await _written(ask, "scenario", values, author, read=lambda reply: read_base(reply, turns=turns))


async def write_variant(
    ask: Ask, base: BaseScenario, age: AgeVariant, *, author: ModelCall, system_prompt: str = ""
) -> Scenario:
    """Have the persona of a base scenario adapted to an age; goals and objectives stay as they are.

    Raises:
        Unusable: none of the tries was of use.
        CallFailed: from `ask`.
    """
    values = {"persona": base.persona, "user_goal": base.user_goal, "age_group": AGE_GROUPS[age]}
    persona = await _written(
        ask, "age_variant", values, author, read=lambda reply: read_persona(reply, age=age)
    )
    return Scenario(base=base, age=age, persona=persona, system_prompt=system_prompt)


async def write_clause(ask: Ask, definition: MetricDefinition, *, author: ModelCall) -> str:
    """Have an interpretive clause drafted: two to five sentences.

    Raises:
        Unusable: none of the tries was of use.
        CallFailed: from `ask`.
    """
    values = {
        "name": definition.name,
        "definition": definition.definition,
        "evidence": definition.evidence or "nothing was handed in",
    }
    return await _written(ask, "interpretive_clause", values, author, read=read_clause)


async def _written(
    ask: Ask, name: str, values: dict[str, str], author: ModelCall, *, read: Callable[[Reply], Made]
) -> Made:
    """What can be read from a reply; where nothing can, the model is told why and asked again."""
    problems = ""
    for attempt in range(1, TRIES + 1):
        request = Request(
            model=author.model,
            messages=prompt(name).render({**values, "problems": problems}),
            parameters=author.parameters,
            purpose=name,
        )
        try:
            return read(await ask(request))
        except Unusable as unusable:
            if attempt == TRIES:
                raise
            problems = f"\n\nAn earlier answer could not be used: {unusable}."
    raise AssertionError("the last try returns or raises")


def read_base(reply: Reply, *, turns: int) -> BaseScenario:
    """The base scenario in a reply.

    Raises:
        Unusable: it is not of the asked form, plans beyond the last turn, or tells age, gender or ethnicity.
    """
    try:
        base = BaseScenario.model_validate(_json_object(reply))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Unusable(f"{place}: {first['msg']}") from None
    return checked_base(base, turns=turns)


def checked_base(base: BaseScenario, *, turns: int) -> BaseScenario:
    """The same base scenario, if it can be used: whoever wrote it, a model or a person.

    Raises:
        Unusable: the text says what is wrong.
    """
    texts = (base.persona, base.user_goal, base.adversarial_goal)
    if not all(text.strip() for text in texts):
        raise Unusable("persona, user_goal and adversarial_goal must each say something")
    placed = [anchor.turn for anchor in base.anchors]
    if any(not 1 <= turn <= turns for turn in placed):
        raise Unusable(f"objectives must be at turns 1 to {turns}, and they are at {placed}")
    if len(set(placed)) < len(placed) or placed != sorted(placed):
        raise Unusable(f"objectives must be at different turns in order, and they are at {placed}")
    told = find_traits("\n".join((*texts, *(anchor.instruction for anchor in base.anchors))))
    if told:
        raise Unusable(f"it tells {told[0].trait} ({told[0].words!r}), which a base scenario must not")
    return base


def read_persona(reply: Reply, *, age: AgeVariant) -> str:
    """The persona in a reply.

    Raises:
        Unusable: it is not of the asked form, does not tell the age, or tells gender or ethnicity.
    """
    persona = _json_object(reply).get("persona")
    if not isinstance(persona, str) or not persona.strip():
        raise Unusable("there is no text under 'persona'")
    if told := find_other_traits(persona):
        raise Unusable(f"it tells {told[0].trait} ({told[0].words!r})")
    if not tells_age(persona, teen=age is AgeVariant.TEEN):
        raise Unusable(f"it must say that the person is {AGE_GROUPS[age]}, and nothing else about age")
    return persona.strip()


def read_clause(reply: Reply) -> str:
    """The interpretive clause in a reply.

    Raises:
        Unusable: it is cut off, or not two to five sentences.
    """
    text = " ".join(_whole(reply).split())
    sentences = text.count(". ") + text.count("? ") + text.count("! ") + 1
    if not 2 <= sentences <= 5 or text[-1] not in ".!?":
        raise Unusable(f"it must be two to five whole sentences, and it has {sentences}")
    return text


def _whole(reply: Reply) -> str:
    if reply.truncated:
        raise Unusable("the answer was cut off", FailureKind.TRUNCATED)
    if not reply.text.strip():
        raise Unusable("the answer was empty", FailureKind.EMPTY)
    return reply.text.strip()


def _json_object(reply: Reply) -> dict[str, object]:
    text = _whole(reply)
    if text.startswith("```") and text.endswith("```") and text.count("```") == 2:
        text = text.strip("`").removeprefix("json").strip()
    try:
        found = json.loads(text)
    except ValueError:
        raise Unusable("the answer is not one JSON object") from None
    if not isinstance(found, dict):
        raise Unusable("the answer is not one JSON object")
    return found
