"""What a report needs and no table holds: who the experts were, how they worked, what the study was for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from impactbench.domain import ImpactBenchError

EXPERTS = ("disciplines", "standard", "recruitment", "conflicts", "compensation", "training")
PROCESS = ("information", "blinding", "repeat_interval", "sampling", "sample_size", "ties")
PURPOSE = (
    "phenomenon",
    "scope",
    "rationale",
    "subjects",
    "relevance",
    "representative",
    "reuse",
    "contamination",
    "construct",
    "licence",
)
JUDGE = ("version", "rubric_visible", "blind_to")
PARTS = {"experts": EXPERTS, "process": PROCESS, "purpose": PURPOSE, "judge": JUDGE}


class StatementRefused(ImpactBenchError):
    """A statement that is not what it should be; the text names the file, the entry and what would be right."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What the people behind a study state about it; what is left out is reported as not stated."""

    experts: Mapping[str, str] = field(default_factory=dict)
    process: Mapping[str, str] = field(default_factory=dict)
    purpose: Mapping[str, str] = field(default_factory=dict)
    judge: Mapping[str, str] = field(default_factory=dict)
    """Its version, whether it saw the rubric that experts saw, and what it was not told."""

    def as_values(self) -> dict[str, dict[str, str]]:
        """Every entry in its order, empty where nothing is stated."""
        said = {
            "experts": self.experts,
            "process": self.process,
            "purpose": self.purpose,
            "judge": self.judge,
        }
        return {part: {name: said[part].get(name, "") for name in names} for part, names in PARTS.items()}


def read_statement(path: Path) -> Statement:
    """Read a YAML file with the parts experts, process, purpose and judge.

    Raises:
        StatementRefused: the file cannot be read, or has a part or an entry that there is not.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StatementRefused(f"{path} cannot be read as text: {error}") from error
    return parse_statement(text, name=str(path))


def parse_statement(text: str, *, name: str) -> Statement:
    """A statement from its text; `name` is what errors call it."""
    try:
        document: Any = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise StatementRefused(f"{name} cannot be read as YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, Mapping):
        raise StatementRefused(f"{name} must have the parts {', '.join(PARTS)}, each with entries")
    for part, entries in document.items():
        if part not in PARTS:
            raise StatementRefused(f"{name}: {part!r} is not a part; there are {', '.join(PARTS)}")
        if not isinstance(entries, Mapping):
            raise StatementRefused(f"{name}: {part} must hold entries such as {PARTS[part][0]}: ...")
        for entry, said in entries.items():
            if entry not in PARTS[part]:
                raise StatementRefused(
                    f"{name}: {part} has no entry {entry!r}; it has {', '.join(PARTS[part])}"
                )
            if not isinstance(said, str):
                raise StatementRefused(f"{name}: {part}, {entry} is {said!r}; it must be text")
    return Statement(**{part: dict(entries) for part, entries in document.items()})
