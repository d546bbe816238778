"""The key of a unit: everything that shapes a result, hashed. Another key is another result, the same key is the same."""

import hashlib
from enum import StrEnum
from typing import Any

from pydantic import Field

from impactbench.domain import Content, content_hash
from impactbench.llm import Request


class Stage(StrEnum):
    """What a unit of a run makes."""

    CLAUSE = "clause"
    SCENARIO = "scenario"
    CONVERSATION = "conversation"
    JUDGMENT = "judgment"
    COVERAGE = "coverage"
    """Of a study of the pipeline: which objectives a conversation reached. No run plans it."""


class ModelCall(Content):
    """A model with the parameters it is called with: as a study names it."""

    model: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    name: str = ""
    """What to call it in tables and charts, where the model's own name would be taken twice."""

    @property
    def shaping(self) -> dict[str, Any]:
        """What of it shapes a result: all but its name."""
        return {"model": self.model, "parameters": self.parameters}

    @property
    def provider(self) -> str:
        return Request(model=self.model, messages=()).provider

    @property
    def slug(self) -> str:
        """The name in tables and charts: its own, or the model's without the provider."""
        return self.name or self.model.rsplit("/", 1)[-1]

    @property
    def is_embedded(self) -> bool:
        return self.provider == "embedded"


def unit_key(stage: Stage, **shaped_by: Any) -> str:
    """The key of a unit, from whatever shapes it: inputs, models, parameters, hashes of prompts, seed, repeat.

    >>> unit_key(Stage.JUDGMENT, repeat=0) == unit_key(Stage.JUDGMENT, repeat=1)
    False
    """
    return content_hash([stage, shaped_by])


def derived_key(stage: Stage, *parts: str) -> str:
    """The key of a unit whose parts are keys and hashes already; a tenth of the work of `unit_key`.

    >>> derived_key(Stage.JUDGMENT, "a", "b") == derived_key(Stage.JUDGMENT, "ab")
    False
    """
    return hashlib.sha256("\n".join((stage, *parts)).encode()).hexdigest()


def seed_of(key: str, *more: int) -> list[int]:
    """What a generator of a unit's own is seeded with, so that its draws depend on nothing but its key.

    >>> seed_of("00000000000000ff" + 48 * "0", 3)
    [255, 3]
    """
    return [int(key[:16], 16), *more]
