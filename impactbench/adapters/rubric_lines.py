"""Rubrics as JSON lines, as HealthBench has them: criteria with points. Points above 0 are wanted, below 0 unwanted."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.candidates import Adapted, Candidate, name_of, slug_of, with_own_slugs
from impactbench.adapters.documents import Entry, read_text, shown
from impactbench.domain import MetricDefinition, Polarity


def read_rubric_lines(path: Path) -> Adapted:
    """Read a file in which each line is an example: `prompt`, and `rubrics` with `criterion` and `points`.

    A criterion that several examples share is one candidate, which says so.

    Raises:
        ImportRefused: a line is not such an example, or a criterion has no points, or 0.
    """
    found: dict[tuple[str, Polarity], list[Candidate]] = {}
    for example in _lines(path):
        asked = _asked(example)
        rubrics = list(example.entries("rubrics"))
        if not rubrics:
            raise example.refuse("there are no 'rubrics', which must be a list of criteria with points")
        for number, rubric in enumerate(rubrics, start=1):
            candidate = _candidate(path, example, rubric, asked=asked, number=number)
            key = (candidate.definition.definition, candidate.definition.polarity)
            found.setdefault(key, []).append(candidate)
    if not found:
        raise ImportRefused(f"{path}: there is no example in the file")
    merged = [
        several[0]
        if len(several) == 1
        else several[0].model_copy(
            update={
                "notes": (*several[0].notes, f"{len(several)} examples of the source share this criterion")
            }
        )
        for several in found.values()
    ]
    return Adapted(
        format="rubric-lines",
        source_file=path.name,
        title=path.stem,
        candidates=with_own_slugs(merged),
        notes=("not carried over: points as weights; every metric counts by its pass rate",),
    )


def _lines(path: Path) -> Iterator[Entry]:
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise ImportRefused(f"{path}, line {number}: this is not valid JSON ({error.msg})") from error
        if not isinstance(value, dict):
            raise ImportRefused(f"{path}, line {number}: the line holds {shown(value)}, it must be a mapping")
        yield Entry(f"{path}, line {number}", value)


def _candidate(path: Path, example: Entry, rubric: Entry, *, asked: str, number: int) -> Candidate:
    text = rubric.text("criterion").strip()
    points = rubric.fields.get("points")
    if isinstance(points, bool) or not isinstance(points, int | float) or points == 0:
        raise rubric.refuse(f"points is {shown(points)}, it must be a number above or below 0")
    notes = [f"not carried over: its weight in the source ({points} points)"]
    if tags := rubric.fields.get("tags"):
        notes.append(
            f"its tags in the source: {', '.join(map(str, tags if isinstance(tags, list) else [tags]))}"
        )
    notes.append("the source asks it of one prompt; a metric must make sense in other conversations too")
    place = example.where.rpartition(", ")[2]
    return Candidate(
        benchmark=slug_of(path.stem),
        slug=slug_of(name_of(text)),
        source_file=path.name,
        source_place=f"{place}, criterion {number}",
        passage=f"{asked}\n\ncriterion ({points} points): {text}".strip(),
        definition=MetricDefinition(
            name=name_of(text),
            polarity=Polarity.POSITIVE if points > 0 else Polarity.NEGATIVE,
            definition=text,
        ),
        notes=tuple(notes),
    )


def _asked(example: Entry) -> str:
    prompt: Any = example.fields.get("prompt")
    if isinstance(prompt, str):
        return prompt.strip()
    if not isinstance(prompt, list):
        return ""
    said = [each for each in prompt if isinstance(each, Mapping)]
    return "\n".join(f"{each.get('role', 'user')}: {str(each.get('content', '')).strip()}" for each in said)
