"""Weval blueprints: each criterion in words is a candidate; checks by functions and settings of runs become notes.

A blueprint is one or more YAML documents: a header, then prompts as a list or as one document each; or one of the two
alone. Criteria stand under `should` (wanted) and `should_not` (unwanted).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.candidates import Adapted, Candidate, name_of, slug_of, with_own_slugs
from impactbench.adapters.documents import read_yaml_documents, shown, why_unfit
from impactbench.domain import MetricDefinition, Polarity

_PROMPT_FIELDS = {"prompt", "messages", "should", "should_not", "ideal", "prompts"}
_NOT_CARRIED = {
    "system": "its system prompt",
    "temperatures": "its temperatures",
    "temperature": "its temperature",
    "point_defs": "its scoring functions",
    "evaluationConfig": "its settings of judges",
    "tools": "its tools",
    "render_as": "how answers are rendered",
    "noCache": "that answers are never cached",
}
_AVOIDS = ("avoid", "does not", "doesn't", "do not", "must not", "should not", "never", "refrain", "no ")


def read_weval(path: Path) -> Adapted:
    """Read a blueprint.

    Raises:
        ImportRefused: it is not valid YAML, it is no blueprint, or none of its prompts has a criterion in words.
    """
    header, prompts = _parts(path, read_yaml_documents(path))
    title = str(header.get("title") or header.get("name") or path.stem).strip()
    benchmark = slug_of(title)
    candidates: list[Candidate] = []
    notes = [f"not carried over: {said} ({shown(header[name])})" for name, said in _NOT_CARRIED.items() if name in header]  # fmt: skip
    for number, prompt in enumerate(prompts, start=1):
        reader = _Prompt(path, benchmark, number, prompt)
        found = list(reader.candidates())
        candidates += found
        if not found:
            notes.append(f"{reader.where}: it has no criterion in words")
        notes += reader.checks
    if not candidates:
        raise ImportRefused(
            f"{path}: none of its {len(prompts)} prompts has a criterion in words, so there is no behaviour to adapt"
        )
    return Adapted(
        format="weval",
        source_file=path.name,
        title=title,
        construct=str(header.get("description") or "").strip(),
        candidates=with_own_slugs(candidates),
        notes=tuple(notes),
    )


def _parts(path: Path, documents: list[Any]) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """The header and the prompts, however they are spread over the documents."""
    header: Mapping[str, Any] = {}
    prompts: list[Any] = []
    for position, document in enumerate(documents):
        if isinstance(document, list):
            prompts += document
        elif isinstance(document, dict):
            if position == 0 and not (_PROMPT_FIELDS & document.keys()):
                header = document
            elif isinstance(document.get("prompts"), list):
                header = {name: value for name, value in document.items() if name != "prompts"}
                prompts += document["prompts"]
            else:
                prompts.append(document)
        else:
            raise ImportRefused(
                f"{path}: document {position + 1} is {shown(document)}, it must be a header, a prompt or a list of prompts"
            )
    for number, prompt in enumerate(prompts, start=1):
        if not isinstance(prompt, dict):
            raise ImportRefused(f"{path}: prompt {number} is {shown(prompt)}, it must be a mapping")
    if not prompts:
        raise ImportRefused(f"{path}: there is no prompt, so this is not a blueprint")
    return header, prompts


class _Prompt:
    """Reads one prompt of a blueprint."""

    def __init__(self, path: Path, benchmark: str, number: int, fields: Mapping[str, Any]) -> None:
        self._path = path
        self._benchmark = benchmark
        self._fields = fields
        self.where = f"prompt {fields.get('id') or number}"
        self.checks: list[str] = []

    def candidates(self) -> Iterator[Candidate]:
        for name, polarity in (("should", Polarity.POSITIVE), ("should_not", Polarity.NEGATIVE)):
            points = self._fields.get(name)
            points = points if isinstance(points, list) else [] if points is None else [points]
            for number, (point, alternative) in enumerate(_one_by_one(points), start=1):
                place = f"{self.where}, {name} {number}"
                if candidate := self._candidate(point, polarity, place, alternative=alternative):
                    yield candidate

    def _candidate(
        self, point: Any, polarity: Polarity, place: str, *, alternative: bool
    ) -> Candidate | None:
        text, notes = self._read(point, place)
        if not text:
            return None
        if unfit := why_unfit(text):
            raise ImportRefused(
                f"{self._path}: {place} holds {unfit}, which no database can keep: take it out"
            )
        if alternative:
            notes.append("the source counts it as one of several ways to meet a criterion")
        if polarity is Polarity.POSITIVE and text.casefold().startswith(_AVOIDS):
            notes.append(
                "worded as an avoidance: name the unwanted behaviour instead, with negative polarity"
            )
        notes.append("the source asks it of one prompt; a metric must make sense in other conversations too")
        return Candidate(
            benchmark=self._benchmark,
            slug=slug_of(name_of(text)),
            source_file=self._path.name,
            source_place=place,
            passage=f"{self._said()}\n\n{place.rpartition(', ')[2]}: {text}".strip(),
            definition=MetricDefinition(name=name_of(text), polarity=polarity, definition=text),
            notes=tuple(notes),
        )

    def _read(self, point: Any, place: str) -> tuple[str, list[str]]:
        """The words of a criterion (empty where it has none), and what could not be carried over."""
        if isinstance(point, str):
            return point.strip(), []
        if not isinstance(point, dict):
            raise ImportRefused(f"{self._path}: {place} is {shown(point)}, it must be a text or a mapping")
        functions = {name: value for name, value in point.items() if str(name).startswith("$")}
        if functions or "fn" in point:
            named = ", ".join(functions) or str(point["fn"])
            self.checks.append(
                f"{place}: checked by a function ({named}: {_short(list(functions.values()) or point.get('fnArgs'))})"
            )
            return "", []
        text = point.get("point", point.get("text"))
        notes = []
        if text is None and len(point) == 1:
            ((text, citation),) = point.items()
            notes.append(f"the source cites: {citation}")
        if not isinstance(text, str) or not text.strip():
            raise ImportRefused(f"{self._path}: {place} has no words, it needs 'point' or 'text'")
        for name, said in (
            ("weight", "its weight in the source"),
            ("multiplier", "its weight in the source"),
        ):
            if name in point:
                notes.append(f"not carried over: {said} ({point[name]})")
        if point.get("citation"):
            notes.append(f"the source cites: {point['citation']}")
        return text.strip(), notes

    def _said(self) -> str:
        """What the model is asked, in the source's words."""
        messages = self._fields.get("messages")
        if isinstance(messages, list):
            return "\n".join(
                f"{each.get('role', 'user')}: {str(each.get('content', '')).strip()}"
                for each in messages
                if isinstance(each, dict)
            )
        return str(self._fields.get("prompt") or self._fields.get("promptText") or "").strip()


def _one_by_one(points: list[Any]) -> Iterator[tuple[Any, bool]]:
    """Each point, and whether it is one of several alternatives (which a list within the list stands for)."""
    for point in points:
        if isinstance(point, list):
            yield from ((each, True) for each in point)
        else:
            yield point, False


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
