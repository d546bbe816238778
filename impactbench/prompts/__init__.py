"""Everything that is said to a model, as text files of their own: `[system]` and `[user]` parts with `$names` to fill in.

The hash of a prompt's text is part of the key of whatever it shapes, so another wording never reuses an old result.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Literal

from impactbench.llm import Message

NAMES = (
    "scenario",
    "age_variant",
    "interpretive_clause",
    "simulated_user",
    "screenplay",
    "judge",
    "candidate",
    "objective_coverage",
)

_PART = re.compile(r"^\[(system|user)\]\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with its places to fill in."""

    name: str
    text: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def render(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """The messages, filled in. What is filled in is never read for places itself.

        Raises:
            ValueError: a place is not filled in, or something is given for which there is no place.
        """
        wanted = _places(self.text)
        if wanted != set(values):
            missing, unknown = sorted(wanted - set(values)), sorted(set(values) - wanted)
            raise ValueError(f"prompt {self.name!r}: missing {missing}, unknown {unknown}")
        return tuple(
            Message(role=role, content=template.substitute(values)) for role, template in _parts(self.text)
        )


@cache
def prompt(name: str) -> Prompt:
    """A prompt by its name, one of `NAMES`."""
    text = (files("impactbench.prompts") / f"{name}.txt").read_text(encoding="utf-8")
    return Prompt(name=name, text=text)


@cache
def _parts(text: str) -> tuple[tuple[Literal["system", "user"], Template], ...]:
    pieces = _PART.split(text)
    if pieces[0].strip() or len(pieces) < 3:
        raise ValueError("a prompt begins with a line [system] or [user]")
    return tuple(
        ("system" if role == "system" else "user", Template(body.strip()))
        for role, body in zip(pieces[1::2], pieces[2::2], strict=True)
    )


@cache
def _places(text: str) -> frozenset[str]:
    return frozenset(name for _, template in _parts(text) for name in template.get_identifiers())
