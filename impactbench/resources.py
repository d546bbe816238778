"""The content that comes with the program: in `impactbench/_data` once installed, in `data/` in a checkout."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml


class ContentMissing(RuntimeError):
    """The installation lacks a part of its own."""


@dataclass(frozen=True, slots=True)
class SubareaContent:
    """One of the fourteen subareas."""

    slug: str
    domain: str
    name: str


@dataclass(frozen=True, slots=True)
class FamilyContent:
    """What the first letters of a model's slug say about it."""

    prefix: str
    provider: str
    family: str
    lineage: str
    open_weight: bool | None


def content(name: str) -> Traversable:
    """A file or folder of the content, by its path with slashes.

    >>> content("suite/subareas.yaml").is_file()
    True
    """
    package = files("impactbench")
    for root in (package / "_data", package / ".." / "data"):
        found = root.joinpath(*name.split("/"))
        if found.is_file() or found.is_dir():
            return found
    raise ContentMissing(f"{name!r} is missing from this installation: install impactbench again")


@cache
def subareas() -> tuple[SubareaContent, ...]:
    """The three domains' fourteen subareas, in the order of the suite."""
    return tuple(
        SubareaContent(slug=subarea["slug"], domain=domain["name"], name=subarea["name"])
        for domain in _yaml("suite/subareas.yaml")["domains"]
        for subarea in domain["subareas"]
    )


@cache
def families() -> tuple[FamilyContent, ...]:
    """The prefixes that are known, longest first."""
    rows = (
        FamilyContent(
            prefix=prefix,
            provider=entry["provider"],
            family=entry["family"],
            lineage=entry.get("lineage", entry["family"]),
            open_weight=entry.get("open_weight"),
        )
        for entry in _yaml("suite/families.yaml")["families"]
        for prefix in entry["prefixes"]
    )
    return tuple(sorted(rows, key=lambda row: (-len(row.prefix), row.prefix)))


def family_of(model: str) -> FamilyContent | None:
    """What the table of families says about a model; None where it says nothing.

    >>> family_of("openrouter/anthropic/claude-haiku-4-5").family
    'anthropic'
    >>> family_of("gemma-4-31b").family, family_of("gemma-4-31b").lineage
    ('google', 'gemma')
    >>> family_of("o3-mini").family, family_of("olmo-2").family, family_of("some-model")
    ('openai', 'ai2', None)
    """
    name = model.rsplit("/", 1)[-1].casefold()
    return next((row for row in families() if name.startswith(row.prefix)), None)


def _yaml(name: str) -> Any:
    return yaml.safe_load(content(name).read_text(encoding="utf-8"))
