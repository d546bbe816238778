"""The log of versions of metrics: every version with what differs from the one before, and why it was made."""

import difflib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from impactbench.store.run_frames import changes

_FIELDS = (
    "name",
    "polarity",
    "definition",
    "interpretive_clause",
    "question",
    "examples_present",
    "examples_absent",
    "evidence",
)
_JUDGED_AGAIN = {"definition", "interpretive_clause"}
_SIMULATED_AGAIN = {"name", "definition", "polarity"}


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs between two versions: the words that were there, and those that are."""

    field: str
    before: str
    after: str

    @property
    def removed_and_added(self) -> tuple[str, str]:
        """The words that went and those that came, with three dots where words in between stayed."""
        old, new = self.before.split(), self.after.split()
        blocks = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
        removed = [" ".join(old[a:b]) for kind, a, b, _, _ in blocks if kind in ("replace", "delete")]
        added = [" ".join(new[a:b]) for kind, _, _, a, b in blocks if kind in ("replace", "insert")]
        return " … ".join(removed), " … ".join(added)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A version of a metric. The first has no differences."""

    metric: str
    """benchmark/metric"""
    name: str
    version: int
    at: datetime
    author: str
    because: str
    differences: tuple[Difference, ...]

    @property
    def due_again(self) -> str:
        """What a run makes anew because of it, in words; nothing for a first version."""
        fields = {difference.field for difference in self.differences}
        if not fields:
            return ""
        if fields & _SIMULATED_AGAIN:
            return "scenarios, conversations and judgments are due again"
        if fields & _JUDGED_AGAIN:
            return "judgments are due again; conversations are carried over"
        return "nothing is due again; results are carried over"


def version_log(engine: Engine) -> list[Change]:
    """Every version of every metric, the latest first; first versions of metrics that never changed are left out."""
    log: list[Change] = []
    for _, versions in changes(engine).groupby(["benchmark", "metric"], sort=True):
        rows = versions.to_dict("records")
        if len(rows) < 2:
            continue
        log += [_change(row, rows[place - 1] if place else None) for place, row in enumerate(rows)]
    return sorted(log, key=lambda change: (change.at, change.metric, change.version), reverse=True)


def write_version_log(engine: Engine) -> str:
    """The log as Markdown, for a file CHANGES.md. Words of metrics are quoted, line by line."""
    lines = ["# Versions of metrics", ""]
    log = version_log(engine)
    if not log:
        lines += ["No metric has changed since it was first kept.", ""]
    for change in log:
        lines += [f"## {change.metric}, version {change.version} ({change.at:%Y-%m-%d})", ""]
        lines += [*_quoted(change.name), ""]
        if change.because:
            lines += ["Why:", "", *_quoted(change.because), ""]
        if change.author:
            lines += ["Author:", "", *_quoted(change.author), ""]
        for difference in change.differences:
            removed, added = difference.removed_and_added
            lines += [f"- {difference.field.replace('_', ' ')}"]
            lines += [*(f"  {line}" for line in _quoted(f"was: {removed or '(nothing)'}"))]
            lines += ["", *(f"  {line}" for line in _quoted(f"is: {added or '(nothing)'}")), ""]
        lines += [f"{change.due_again or 'The first version'}.".capitalize(), ""]
    return "\n".join(lines)


def _change(row: dict[Any, Any], before: dict[Any, Any] | None) -> Change:
    differences = (
        tuple(
            Difference(field=name, before=_text(before[name]), after=_text(row[name]))
            for name in _FIELDS
            if before[name] != row[name]
        )
        if before
        else ()
    )
    return Change(
        metric=f"{row['benchmark']}/{row['metric']}",
        name=str(row["name"]),
        version=int(row["version"]),
        at=row["created_at"],
        author=str(row["author"]),
        because=str(row["changed_because"]),
        differences=differences,
    )


def _text(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list) else str(value)


def _quoted(text: str) -> list[str]:
    """Text that people or models wrote, as an indented block, in which Markdown means nothing."""
    return [f"    {line}" for line in text.splitlines() or [""]]
