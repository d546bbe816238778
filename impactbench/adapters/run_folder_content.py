"""Keeps what people wrote: the study, the metrics and their versions, the scenarios; and the models' lineages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlmodel import Session
from sqlmodel import select as select_rows

from impactbench.adapters import ImportRefused
from impactbench.adapters.run_folder_reading import (
    UNKNOWN_FAMILY,
    FolderMetric,
    FolderModel,
    RunFolder,
    ScenarioContent,
)
from impactbench.domain import MetricDefinition
from impactbench.resources import subareas
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent
from impactbench.store.frames import metric as metric_columns
from impactbench.store.frames import scenario as scenario_columns


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of a kind a file held, and how many of them are new."""

    read: int = 0
    added: int = 0

    @property
    def already_there(self) -> int:
        return self.read - self.added


@dataclass(slots=True)
class Ledger:
    """What an import has done so far: counts by kind, and what a person must be told."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    filled_in: int = 0
    notes: list[str] = field(default_factory=list)

    def count(self, kind: str, *, read: int, added: int) -> None:
        before = self.tallies.get(kind, Tally())
        self.tallies[kind] = Tally(before.read + read, before.added + added)


def keep_study(session: Session, slug: str, *, title: str, notice: str, ledger: Ledger) -> int:
    """The id of a study, which is made where there is none."""
    added = insert_if_absent(session, t.Study, [{"slug": slug, "title": title, "notice": notice}])
    study = session.exec(select_rows(t.Study).where(t.Study.slug == slug)).one()
    if not added and notice and study.notice != notice:
        ledger.notes.append(f"study {slug} was there and keeps its notice; the one in this folder differs")
    return _id(study.id)


def keep_metrics(session: Session, folder: RunFolder, *, ledger: Ledger) -> dict[str, int]:
    """The id of the version of each metric that this folder holds."""
    insert_if_absent(
        session, t.Benchmark, [{"slug": folder.slug, "name": folder.name, "description": folder.description}]
    )
    benchmark = session.exec(select_rows(t.Benchmark).where(t.Benchmark.slug == folder.slug)).one()
    ids = keep_metric_names(session, _id(benchmark.id), [metric.slug for metric in folder.metrics])
    added = 0
    versions = {}
    for metric in folder.metrics:
        versions[metric.slug], new = _keep_version(session, ids[metric.slug], metric, ledger=ledger)
        added += new
    ledger.count("metrics", read=len(folder.metrics), added=added)
    _keep_placements(session, folder.metrics, ids=ids)
    return versions


def keep_metric_names(session: Session, benchmark_id: int, slugs: Sequence[str]) -> dict[str, int]:
    """The id of each metric of a benchmark; new ones are added."""
    insert_if_absent(session, t.Metric, [{"benchmark_id": benchmark_id, "slug": slug} for slug in slugs])
    found = select(metric_columns.slug, metric_columns.id).where(metric_columns.benchmark_id == benchmark_id)
    return {slug: int(key) for slug, key in session.execute(found)}


def version_row(
    metric_id: int, definition: MetricDefinition, *, version: int, because: str
) -> dict[str, object]:
    """The row of a metric's version."""
    content = definition.model_dump()
    return {
        "metric_id": metric_id,
        "version": version,
        "content_hash": definition.content_hash,
        "changed_because": because,
        **content,
        "examples_present": list(definition.examples_present),
        "examples_absent": list(definition.examples_absent),
    }


def _keep_version(
    session: Session, metric_id: int, metric: FolderMetric, *, ledger: Ledger
) -> tuple[int, int]:
    """The id of the version with this content, and whether it is new (1 or 0)."""
    found = select_rows(t.MetricVersion).where(t.MetricVersion.metric_id == metric_id)
    versions = sorted(session.exec(found).all(), key=lambda version: version.version)
    newest = versions[-1] if versions else None
    for version in versions:
        if version.content_hash == metric.definition.content_hash:
            if version is not newest:
                ledger.notes.append(
                    f"metric {metric.slug} is worded as in its version {version.version}; the newest is"
                    f" {versions[-1].version}"
                )
            return _id(version.id), 0
    because = ""
    if newest:
        changed = [name for name, value in metric.definition if _differs(getattr(newest, name), value)]
        because = f"imported with another {', '.join(changed)}"
        ledger.notes.append(
            f"metric {metric.slug} has changed ({', '.join(changed)}): version {newest.version + 1} is added,"
            f" version {newest.version} stays"
        )
    number = newest.version + 1 if newest else 1
    added = insert_if_absent(
        session, t.MetricVersion, [version_row(metric_id, metric.definition, version=number, because=because)]
    )
    made = session.exec(found.where(t.MetricVersion.content_hash == metric.definition.content_hash)).one()
    return _id(made.id), added


def _differs(before: object, after: object) -> bool:
    return before != (list(after) if isinstance(after, tuple) else after)


def _keep_placements(session: Session, metrics: Sequence[FolderMetric], *, ids: Mapping[str, int]) -> None:
    rows = [{"slug": place.slug, "domain": place.domain, "name": place.name} for place in subareas()]
    insert_if_absent(session, t.Subarea, rows)
    subarea_ids = {subarea.slug: _id(subarea.id) for subarea in session.exec(select_rows(t.Subarea)).all()}
    placements = [
        {"metric_id": ids[metric.slug], "subarea_id": subarea_ids[slug]}
        for metric in metrics
        for slug in metric.subareas
    ]
    insert_if_absent(session, t.Placement, placements)


def keep_scenarios(
    session: Session, scenarios: Sequence[ScenarioContent], *, versions: Mapping[str, int], ledger: Ledger
) -> dict[str, int]:
    """The id of each scenario. One whose id is taken by another text gets a numbered slug (`s001_v01@2`)."""
    found = select(
        scenario_columns.id,
        scenario_columns.metric_version_id,
        scenario_columns.slug,
        scenario_columns.content_hash,
    ).where(scenario_columns.metric_version_id.in_(set(versions.values())))
    stored: dict[tuple[int, str], tuple[int, str]] = {
        (version, slug): (key, content) for key, version, slug, content in session.execute(found)
    }
    slugs: dict[str, tuple[int, str]] = {}
    rows = []
    for scenario in scenarios:
        version = versions[scenario.metric]
        slug, content, number = scenario.slug, scenario.content_hash, 1
        while (version, slug) in stored and stored[version, slug][1] != content:
            number += 1
            slug = f"{scenario.slug}@{number}"
        if (version, slug) not in stored:
            rows.append(_scenario_row(scenario, version=version, slug=slug))
            if number > 1:
                ledger.notes.append(f"scenario {scenario.slug} has changed: it is added as {slug}")
        slugs[scenario.slug] = (version, slug)
    ledger.count("scenarios", read=len(scenarios), added=insert_if_absent(session, t.Scenario, rows))
    ids = {(version, slug): key for key, version, slug, _ in session.execute(found)}
    return {name: ids[place] for name, place in slugs.items()}


def _scenario_row(scenario: ScenarioContent, *, version: int, slug: str) -> dict[str, object]:
    return {
        "metric_version_id": version,
        "slug": slug,
        "content_hash": scenario.content_hash,
        "anchors": [anchor.model_dump() for anchor in scenario.anchors],
        **scenario.model_dump(exclude={"slug", "metric", "anchors"}),
    }


def keep_models(session: Session, models: Sequence[FolderModel], *, ledger: Ledger) -> dict[str, int]:
    """The id of each model. What was unknown about one is filled in; what was known is never changed.

    Raises:
        ImportRefused: a folder states another family than an earlier one.
    """
    ids = {}
    for model in models:
        row = {
            name: getattr(model, name)
            for name in ("slug", "provider", "family", "sibling_group", "open_weight")
        }
        insert_if_absent(session, t.Model, [row])
        stored = session.exec(select_rows(t.Model).where(t.Model.slug == model.slug)).one()
        if stored.family in ("", UNKNOWN_FAMILY) and model.family != UNKNOWN_FAMILY:
            stored.family, stored.provider = model.family, model.provider
            stored.sibling_group, stored.open_weight = model.sibling_group, model.open_weight
            ledger.filled_in += 1
            ledger.notes.append(f"the family of model {model.slug}, unknown until now, is {model.family}")
        elif model.stated and stored.family != model.family:
            raise ImportRefused(
                f"model {model.slug!r} is stated to be of the family {model.family!r}, but it was imported as of"
                f" {stored.family!r}: give it another name (--judge for a judge), or correct the family"
            )
        if stored.family == UNKNOWN_FAMILY:
            ledger.notes.append(
                f"the family of model {model.slug} is unknown: without it nothing can be said about self-preference"
            )
        ids[model.slug] = _id(stored.id)
    return ids


def _id(key: int | None) -> int:
    if key is None:
        raise RuntimeError("a stored row has no id")
    return key
