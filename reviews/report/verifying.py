"""Recomputing a report from its data, and naming every number that is not what the data give."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from reviews.report.gathering import ReportRefused
from reviews.report.package import DATA, read_files, read_package
from reviews.report.schema import CardRefused, require_valid
from reviews.report.writing import CARD, PAGE, render

TOLERANCE = 1e-9
_MOST_LINES = 5
_EMBEDDED = re.compile(r'<script type="application/json" id="judge-card">(.*?)</script>', re.DOTALL)
_DRAWING = re.compile(r"<svg .*?</svg>", re.DOTALL)
_DRAWN = re.compile(r'aria-label="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of recomputing a report."""

    numbers: int
    """Numbers of the card that were compared."""
    differences: tuple[str, ...]
    """One sentence each; empty where everything is as the data give it."""


def verify(folder: Path) -> Verified:
    """Recompute a report from its data and compare every number.

    Raises:
        ReportRefused: the folder holds no report.
        ImportRefused: its data cannot be read.
    """
    if not (folder / CARD).is_file() or not (folder / DATA).is_dir():
        raise ReportRefused(f"{folder} holds no report: it needs {CARD} and the folder {DATA}")
    rendered = render(read_package(folder / DATA), read_files(folder / DATA))
    right = rendered.document.card
    card = _json(folder / CARD)
    differences = [f"{CARD}, {found}" for found in _apart(card, right, "")]
    try:
        require_valid(card)
    except CardRefused as refused:
        differences.append(str(refused))
    for name, held in rendered.files.items():
        if name != CARD:
            differences += [f"{name}, {found}" for found in _shown_apart(folder / name, held, right)]
    return Verified(sum(1 for _ in _numbers(right)), tuple(differences))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ReportRefused(f"{path} is not JSON ({error})") from error


def _numbers(value: Any) -> Iterator[float]:
    match value:
        case dict():
            for one in value.values():
                yield from _numbers(one)
        case list():
            for one in value:
                yield from _numbers(one)
        case bool():
            return
        case int() | float():
            yield value


def _apart(said: Any, right: Any, place: str) -> Iterator[str]:
    """Every place at which two cards differ."""
    if isinstance(said, dict) and isinstance(right, dict):
        for name in dict.fromkeys((*right, *said)):
            here = f"{place}.{name}" if place else str(name)
            if name not in said:
                yield f"{here}: is missing, the data give {_short(right[name])}"
            elif name not in right:
                yield f"{here}: says {_short(said[name])}, the data give nothing of the kind"
            else:
                yield from _apart(said[name], right[name], here)
    elif isinstance(said, list) and isinstance(right, list):
        if len(said) != len(right):
            yield f"{place}: has {len(said)} entries, the data give {len(right)}"
        for number, (one, other) in enumerate(zip(said, right, strict=False)):
            yield from _apart(one, other, f"{place}[{number}]")
    elif not _alike(said, right):
        yield f"{place}: says {_short(said)}, the data give {_short(right)}"


def _alike(said: Any, right: Any) -> bool:
    numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (said, right))
    if numeric:
        return math.isclose(said, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(said) is type(right) and said == right


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _shown_apart(path: Path, held: bytes, card: Any) -> Iterator[str]:
    """Where a file that shows the report differs from the one that the data give; a drawing by what it draws."""
    if not path.is_file():
        yield "is missing"
        return
    said, right = path.read_bytes().decode("utf-8", "replace"), held.decode()
    if said == right:
        return
    if path.name == PAGE:
        embedded = _EMBEDDED.search(said)
        yield from _apart(json.loads(embedded[1]) if embedded else {}, card, "embedded card")
        said, right = _EMBEDDED.sub("", said), _EMBEDDED.sub("", right)
    if _DRAWN.findall(said) != _DRAWN.findall(right):
        drawn = next(
            (one, other)
            for one, other in zip_longest(_DRAWN.findall(said), _DRAWN.findall(right))
            if one != other
        )
        yield f"a picture shows {drawn[0]!r}, the data give {drawn[1]!r}"
    lines = zip_longest(_DRAWING.sub("", said).split("\n"), _DRAWING.sub("", right).split("\n"))
    apart = [(number, one, other) for number, (one, other) in enumerate(lines, start=1) if one != other]
    for number, one, other in apart[:_MOST_LINES]:
        yield f"line {number}: says {_part(one, other)}, the data give {_part(other, one)}"
    if len(apart) > _MOST_LINES:
        yield f"{len(apart) - _MOST_LINES} more lines differ"


def _part(line: str | None, other: str | None) -> str:
    """The words around the first character at which a line differs from another."""
    if line is None:
        return "nothing"
    first = next((at for at, (a, b) in enumerate(zip(line, other or "", strict=False)) if a != b), 0)
    return repr(line[max(0, first - 30) : first + 50].strip())
