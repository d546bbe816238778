"""Brings a suite into the database: what is there already stays, what was edited becomes another version."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from impactbench.adapters import ImportRefused
from impactbench.domain import MetricDefinition
from impactbench.metrics import Suite, SuiteBenchmark, SuiteMetric
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


def keep_metrics(
    session: Session, metrics: Sequence[SuiteMetric], *, benchmarks: Mapping[str, SuiteBenchmark]
) -> None:
    """`keep_metric` for many: those of which nothing is there yet in a few queries, whatever their number.

    Args:
        session: a session that writes.
        metrics: wordings that may be new.
        benchmarks: by slug, for those that are new.
    """
    slugs = sorted({metric.benchmark for metric in metrics})
    ids = {
        slug: keep_benchmark(
            session, slug, name=benchmarks[slug].name, description=benchmarks[slug].description
        )[0]
        for slug in slugs
    }
    there = select(t.Metric.benchmark_id, t.Metric.slug).where(col(t.Metric.benchmark_id).in_(ids.values()))
    worded = set(session.exec(there.join(t.MetricVersion)).all())
    new = []
    for metric in metrics:
        if (ids[metric.benchmark], metric.slug) not in worded:
            new.append(metric)
            continue
        keep_metric(
            session,
            ids[metric.benchmark],
            metric.slug,
            metric.definition,
            places=metric.subareas,
            author="",
            because="",
        )
    if new:
        _keep_first_versions(session, new, ids)


def _keep_first_versions(session: Session, metrics: Sequence[SuiteMetric], ids: Mapping[str, int]) -> None:
    rows = [{"benchmark_id": ids[metric.benchmark], "slug": metric.slug} for metric in metrics]
    insert_if_absent(session, t.Metric, rows)
    of_these = select(t.Metric).where(col(t.Metric.benchmark_id).in_(ids.values()))
    kept = {(row.benchmark_id, row.slug): _id(row.id) for row in session.exec(of_these).all()}
    keys = [kept[ids[metric.benchmark], metric.slug] for metric in metrics]
    versions = [_first_version(key, metric.definition) for key, metric in zip(keys, metrics, strict=True)]
    insert_if_absent(session, t.MetricVersion, versions)
    known = _keep_subareas(session)
    placements = [
        {"metric_id": key, "subarea_id": known[place]}
        for key, metric in zip(keys, metrics, strict=True)
        for place in metric.subareas
        if place in known
    ]
    insert_if_absent(session, t.Placement, placements)


def _first_version(metric_id: int, definition: MetricDefinition) -> dict[str, Any]:
    return {
        "metric_id": metric_id,
        "version": 1,
        "content_hash": definition.content_hash,
        "author": "",
        "changed_because": "",
        **definition.model_dump(),
        "examples_present": list(definition.examples_present),
        "examples_absent": list(definition.examples_absent),
    }


def _keep_subareas(session: Session) -> dict[str, int]:
    """The id of every subarea, by slug."""
    rows = [{"slug": place.slug, "domain": place.domain, "name": place.name} for place in subareas()]
    insert_if_absent(session, t.Subarea, rows)
    return {row.slug: _id(row.id) for row in session.exec(select(t.Subarea)).all()}


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
    known = _keep_subareas(session)
    rows = [{"metric_id": metric_id, "subarea_id": known[place]} for place in places if place in known]
    insert_if_absent(session, t.Placement, rows)


def _differs(before: object, after: object) -> bool:
    return before != (list(after) if isinstance(after, tuple) else after)


def _id(key: int | None) -> int:
    if key is None:
        raise RuntimeError("a row that was just kept has no id")
    return key
