"""The change log: decisions about metrics that were made known, with what was reworded and the figures before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.domain import MetricDefinition, Role
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import (
    Benchmark,
    ChangeNote,
    Disposition,
    Metric,
    MetricVersion,
    Rater,
    Study,
)
from reviews.contested.dispositions import DispositionRefused
from reviews.contested.revisions import Difference, differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    """A metric version that follows from a decision."""

    name: str
    version: int
    changed_because: str
    differences: tuple[Difference, ...]
    """To the version that was decided about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One decision that was made known."""

    metric: str
    """benchmark/metric."""
    name: str
    version: int
    decision: str
    because: str
    dissent: tuple[str, ...]
    status: str
    """Where the metric stood when it was decided."""
    followers: tuple[Follower, ...]
    note: str
    figures: Mapping[str, Any]
    """As `BeforeAfter.record` gave them when it was made known; empty where there are none."""
    decided_at: datetime
    published_at: datetime


_FIGURES = {
    "alpha": "ordinal α among experts",
    "agreement": "raw agreement among experts",
    "borderline": "share of borderline labels",
}


def publish(
    engine: Engine,
    study: str,
    disposition_id: int,
    *,
    published_by: int,
    note: str = "",
    figures: Mapping[str, Any] | None = None,
) -> bool:
    """Make a decision known; whether it was not yet. What was made known stays as it was.

    Raises:
        DispositionRefused: there is no such decision in the study, or the person is no active maintainer.
    """
    with writing(engine) as session:
        decided = session.exec(
            select(Disposition)
            .join(Study, col(Study.id) == Disposition.study_id)
            .where(Study.slug == study, Disposition.id == disposition_id)
        ).one_or_none()
        if decided is None:
            raise DispositionRefused(f"the study {study!r} has no decision {disposition_id}")
        person = session.get(Rater, published_by)
        if person is None or person.role is not Role.MAINTAINER or not person.active:
            raise DispositionRefused("only an active maintainer makes a decision known")
        row = {
            "disposition_id": disposition_id,
            "note": note.strip(),
            "figures": dict(figures or {}),
            "published_by": published_by,
        }
        return bool(insert_if_absent(session, ChangeNote, [row]))


def made_known(engine: Engine, study: str) -> dict[int, datetime]:
    """Decision -> since when everybody can read it in the change log."""
    query = (
        select(ChangeNote.disposition_id, ChangeNote.created_at)
        .join(Disposition, col(Disposition.id) == ChangeNote.disposition_id)
        .join(Study, col(Study.id) == Disposition.study_id)
        .where(Study.slug == study)
    )
    with reading(engine) as session:
        return {int(decided): since for decided, since in session.exec(query).all()}


def change_log(engine: Engine, study: str) -> list[Entry]:
    """What was made known of a study, newest first."""
    query = (
        select(ChangeNote, Disposition)
        .join(Disposition, col(Disposition.id) == ChangeNote.disposition_id)
        .join(Study, col(Study.id) == Disposition.study_id)
        .where(Study.slug == study)
        .order_by(col(ChangeNote.id).desc())
    )
    with reading(engine) as session:
        entries = []
        for note, decided in session.exec(query).all():
            old = session.get_one(MetricVersion, decided.metric_version_id)
            metric = session.get_one(Metric, old.metric_id)
            benchmark = session.get_one(Benchmark, metric.benchmark_id)
            followers = [session.get_one(MetricVersion, version) for version in decided.becomes]
            entries.append(
                Entry(
                    metric=f"{benchmark.slug}/{metric.slug}",
                    name=old.name,
                    version=old.version,
                    decision=str(decided.decision),
                    because=decided.because,
                    dissent=tuple(decided.dissent),
                    status=decided.status,
                    followers=tuple(_follower(old, new) for new in followers),
                    note=note.note,
                    figures=note.figures,
                    decided_at=decided.created_at,
                    published_at=note.created_at,
                )
            )
    return entries


def as_markdown(study: str, entries: Sequence[Entry]) -> str:
    """The change log as a file; what people wrote stands in it word for word, indented so that it formats nothing."""
    lines = [f"# Changes of the metrics of {study}", ""]
    if not entries:
        lines += ["No decision has been made known yet.", ""]
    for entry in entries:
        lines += [
            f"## {entry.published_at:%Y-%m-%d}: {entry.metric} version {entry.version}: {entry.decision}",
            "",
            f"It stood at: {entry.status.replace('_', ' ')}. Why it was decided:",
            "",
            *_verbatim(entry.because),
        ]
        for text in entry.dissent:
            lines += ["Dissent:", "", *_verbatim(text)]
        for follower in entry.followers:
            lines += [f"It becomes version {follower.version}. What was changed and why:", ""]
            lines += _verbatim(follower.changed_because)
            for difference in follower.differences:
                lines += [f"{difference.part.replace('_', ' ')} ([-gone-] and {{+new+}}):", ""]
                lines += _verbatim("".join(_marked(piece.text, piece.change) for piece in difference.pieces))
        if entry.figures:
            lines += ["Before and after:", "", *_figures(entry.figures)]
        if entry.note:
            lines += ["Note:", "", *_verbatim(entry.note)]
    return "\n".join(lines).rstrip() + "\n"


def _follower(old: MetricVersion, new: MetricVersion) -> Follower:
    return Follower(
        name=new.name,
        version=new.version,
        changed_because=new.changed_because,
        differences=tuple(differences(_wording(old), _wording(new))),
    )


def _wording(version: MetricVersion) -> MetricDefinition:
    return MetricDefinition.model_validate(
        {name: getattr(version, name) for name in MetricDefinition.model_fields}
    )


def _verbatim(text: str) -> list[str]:
    return [*(f"    {line}" for line in text.splitlines()), ""]


def _marked(text: str, change: str) -> str:
    return {"gone": f"[-{text}-]", "new": f"{{+{text}+}}"}.get(change, text)


def figure_rows(figures: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """(figure, before, after, change) of a record of `BeforeAfter`, in words."""
    named = {word: figures[name] for name, word in _FIGURES.items() if name in figures}
    named |= {f"judge {name} against experts": change for name, change in figures.get("judges", {}).items()}
    return [
        (name, *(_shown(change[side]) for side in ("before", "after", "change")))
        for name, change in named.items()
    ]


def _figures(figures: Mapping[str, Any]) -> list[str]:
    rows = ["| figure | before | after | change, on the same items |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in figure_rows(figures)]
    return [*rows, "", f"{figures['sentence']} {figures['items']} items were rated under both versions.", ""]


def _shown(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return f"not defined ({estimate['undefined_because']}), n = {estimate['n']}"
    interval = "" if estimate["low"] is None else f" [{estimate['low']:.2f}, {estimate['high']:.2f}]"
    return f"{estimate['value']:.2f}{interval}, n = {estimate['n']}"
