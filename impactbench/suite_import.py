"""Brings a suite into the database: what is there already stays, what was edited becomes another version."""

from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.adapters import ImportRefused
from impactbench.domain import MetricDefinition
from impactbench.metrics import Suite, SuiteBenchmark
from impactbench.resources import subareas
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent, writing


@dataclass(slots=True)
class SuiteImported:
    """What an import read and added, and what a person must be told."""

    read: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """Where a wording of a metric is kept."""

    id: int
    version: int
    newest: int
    added: bool
    changed: tuple[str, ...] = ()
    """The fields in which a new version differs from the one before."""


def import_suite(engine: Engine, suite: Suite, *, author: str = "", because: str = "") -> SuiteImported:
    """Keep every benchmark, metric, wording and placement of a suite. The same suite twice is the same as once.

    Args:
        author: who is named as the author of new versions.
        because: why metrics that were there have changed.

    Raises:
        ImportRefused: a metric stands in a subarea that does not exist.
    """
    known = {place.slug for place in subareas()}
    for benchmark in suite.benchmarks:
        for metric in benchmark.metrics:
            if unknown := sorted(set(metric.subareas) - known):
                raise ImportRefused(
                    f"{benchmark.file}: metric {metric.slug!r}: {unknown[0]!r} is no subarea; they are"
                    f" {', '.join(sorted(known))}"
                )
    imported = SuiteImported()
    with writing(engine) as session:
        for benchmark in suite.benchmarks:
            _keep_benchmark(session, benchmark, imported, author=author, because=because)
    return imported


def keep_metric(
    session: Session,
    benchmark_id: int,
    slug: str,
    definition: MetricDefinition,
    *,
    places: tuple[str, ...],
    author: str,
    because: str,
) -> KeptVersion:
    """Keep a metric with this wording and these placements; a wording that is new becomes the next version."""
    insert_if_absent(session, t.Metric, [{"benchmark_id": benchmark_id, "slug": slug}])
    metric = session.exec(
        select(t.Metric).where(t.Metric.benchmark_id == benchmark_id, t.Metric.slug == slug)
    ).one()
    kept = _keep_version(session, _id(metric.id), definition, author=author, because=because)
    _keep_places(session, _id(metric.id), places)
    return kept


def keep_benchmark(session: Session, slug: str, *, name: str, description: str) -> tuple[int, bool]:
    """The id of a benchmark, and whether it is new."""
    added = insert_if_absent(session, t.Benchmark, [{"slug": slug, "name": name, "description": description}])
    benchmark = session.exec(select(t.Benchmark).where(t.Benchmark.slug == slug)).one()
    return _id(benchmark.id), bool(added)


def _keep_benchmark(
    session: Session, benchmark: SuiteBenchmark, imported: SuiteImported, *, author: str, because: str
) -> None:
    key, added = keep_benchmark(
        session, benchmark.slug, name=benchmark.name, description=benchmark.description
    )
    imported.read["benchmarks"] += 1
    imported.added["benchmarks"] += added
    for metric in benchmark.metrics:
        kept = keep_metric(
            session,
            key,
            metric.slug,
            metric.definition,
            places=metric.subareas,
            author=author,
            because=because,
        )
        imported.read["metrics"] += 1
        imported.added["metrics"] += kept.added and kept.version == 1
        imported.read["versions"] += 1
        imported.added["versions"] += kept.added
        if kept.changed:
            imported.notes.append(
                f"{metric.key} has changed ({', '.join(kept.changed)}): version {kept.version} is added,"
                f" version {kept.version - 1} stays"
            )
        elif kept.version != kept.newest:
            imported.notes.append(
                f"{metric.key} is worded as in its version {kept.version}; the newest is {kept.newest}, and it stays"
                " the newest"
            )


def _keep_version(
    session: Session, metric_id: int, definition: MetricDefinition, *, author: str, because: str
) -> KeptVersion:
    versions = session.exec(
        select(t.MetricVersion)
        .where(t.MetricVersion.metric_id == metric_id)
        .order_by(col(t.MetricVersion.version))
    ).all()
    newest = versions[-1] if versions else None
    for one in versions:
        if one.content_hash == definition.content_hash and newest:
            return KeptVersion(_id(one.id), one.version, newest.version, added=False)
    changed = tuple(name for name, value in definition if newest and _differs(getattr(newest, name), value))
    number = newest.version + 1 if newest else 1
    said = because or (f"another {', '.join(changed).replace('_', ' ')}" if changed else "")
    row = {
        "metric_id": metric_id,
        "version": number,
        "content_hash": definition.content_hash,
        "author": author,
        "changed_because": said if newest else "",
        **definition.model_dump(),
        "examples_present": list(definition.examples_present),
        "examples_absent": list(definition.examples_absent),
    }
    insert_if_absent(session, t.MetricVersion, [row])
    made = session.exec(
        select(t.MetricVersion).where(
            t.MetricVersion.metric_id == metric_id, t.MetricVersion.content_hash == definition.content_hash
        )
    ).one()
    return KeptVersion(_id(made.id), made.version, number, added=True, changed=changed)


def _keep_places(session: Session, metric_id: int, places: tuple[str, ...]) -> None:
    rows = [{"slug": place.slug, "domain": place.domain, "name": place.name} for place in subareas()]
    insert_if_absent(session, t.Subarea, rows)
    found = session.exec(select(t.Subarea).where(col(t.Subarea.slug).in_(places))).all()
    insert_if_absent(
        session, t.Placement, [{"metric_id": metric_id, "subarea_id": _id(place.id)} for place in found]
    )


def _differs(before: object, after: object) -> bool:
    return before != (list(after) if isinstance(after, tuple) else after)


def _id(key: int | None) -> int:
    if key is None:
        raise RuntimeError("a row that was just kept has no id")
    return key
