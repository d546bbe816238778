"""HumaneBench: the best and the worst grade of each principle of its rubric are candidates, one wanted, one unwanted."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from impactbench.adapters import ImportRefused
from impactbench.adapters.candidates import Adapted, Candidate, slug_of
from impactbench.adapters.documents import read_text
from impactbench.domain import MetricDefinition, Polarity

_HEADING = re.compile(r"^## \*\*(\d+)\\?\.\s*(.+?)\*\*\s*$", re.MULTILINE)
_GRADE = re.compile(r"^\|\s*\*\*([^*]+)\*\*\s*\|\s*(.+?)\s*\|\s*$", re.MULTILINE)
_REMARK = re.compile(r"^\*\*(Common Failure Modes|Guidance|[^*|]+):\*\*\s*(.+)$", re.MULTILINE)
_GRADES = {"+1.0": Polarity.POSITIVE, "-1.0": Polarity.NEGATIVE}


def read_humanebench(path: Path) -> Adapted:
    """Read the rubric, and beside it, where there are such, the prompts that test each principle.

    Args:
        path: the rubric (.md), or a folder with one rubric*.md, and humane_bench.jsonl with prompts.

    Raises:
        ImportRefused: there is no rubric, or a principle lacks its best or its worst grade.
    """
    rubric = _rubric(path)
    text = read_text(rubric)
    headings = list(_HEADING.finditer(text))
    if not headings:
        raise ImportRefused(
            f"{rubric}: there is no principle here, which would be a heading '## **1. NAME**'"
        )
    prompts = _prompts(rubric.parent)
    candidates: list[Candidate] = []
    for position, heading in enumerate(headings):
        end = headings[position + 1].start() if position + 1 < len(headings) else len(text)
        body = text[heading.start() : end].partition("\n---")[0]
        name = _plain(heading.group(2))
        line = text.count("\n", 0, heading.start()) + 1
        candidates += _of_principle(
            rubric, name, body, where=f"line {line}, principle {name!r}", prompts=prompts
        )
    return Adapted(
        format="humanebench",
        source_file=rubric.name,
        title="HumaneBench",
        candidates=tuple(candidates),
        notes=(
            "not carried over: the rules for all principles at the head of the rubric (factual errors, length, safety)",
            "not carried over: four grades become present or absent, and the two in the middle fall away",
        ),
    )


def _of_principle(
    rubric: Path, name: str, body: str, *, where: str, prompts: Counter[str]
) -> list[Candidate]:
    grades = {_plain(score): _plain(said) for score, said in _GRADE.findall(body)}
    middle = "; ".join(f"{score}: {said}" for score, said in grades.items() if score not in _GRADES)
    remarks = "; ".join(f"{_plain(what)}: {_plain(said)}" for what, said in _REMARK.findall(body))
    tested = prompts.get(slug_of(name), 0)
    notes = [
        f"not carried over: the grades in between ({middle})",
        "a grade names several behaviours: split them, or keep one",
        *([f"the rubric adds: {remarks}"] if remarks else []),
        *([f"{tested} prompts of the benchmark test this principle"] if tested else []),
    ]
    candidates = []
    for score, polarity in _GRADES.items():
        if score not in grades:
            raise ImportRefused(f"{rubric}, {where}: there is no grade {score}")
        aspect = "well" if polarity is Polarity.POSITIVE else "badly"
        candidates.append(
            Candidate(
                benchmark="humanebench",
                slug=f"{slug_of(name)}-{aspect}",
                source_file=rubric.name,
                source_place=f"{where}, grade {score}",
                passage=body.strip(),
                definition=MetricDefinition(
                    name=f"{name}: {'at its best' if polarity is Polarity.POSITIVE else 'violated'}",
                    polarity=polarity,
                    definition=grades[score],
                ),
                notes=tuple(notes),
            )
        )
    return candidates


def _rubric(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(path.glob("rubric*.md"))
    if len(found) != 1:
        raise ImportRefused(
            f"{path}: there are {len(found)} files rubric*.md here, there must be one; name it"
        )
    return found[0]


def _prompts(folder: Path) -> Counter[str]:
    """How many prompts test each principle, by the file of them all beside the rubric; empty where there is none."""
    path = folder / "humane_bench.jsonl"
    counts: Counter[str] = Counter()
    for number, line in enumerate(read_text(path).splitlines() if path.exists() else (), start=1):
        try:
            entry: Mapping[str, object] = json.loads(line) if line.strip() else {}
        except json.JSONDecodeError as error:
            raise ImportRefused(f"{path}, line {number}: this is not valid JSON ({error.msg})") from error
        counts[str(entry.get("target", ""))] += 1
    return counts


def _plain(text: str) -> str:
    """Words without the marks of Markdown; a dash before a number is a minus."""
    return (
        re.sub(r"\\([-+.!=_*])", r"\1", text).replace("–1", "-1").replace("–0", "-0").replace("*", "").strip()
    )
