"""Finds what a table of labels is about: the conversation and the metric version of each row, or a place for them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlmodel import Session
from sqlmodel import select as select_rows

from impactbench.adapters import ImportRefused
from impactbench.adapters.ratings_table_reading import COLUMNS, RatingRow, RatingsTable
from impactbench.adapters.run_folder_content import keep_metric_names, version_row
from impactbench.adapters.run_folder_reading import UNKNOWN_FAMILY
from impactbench.domain import MetricDefinition, Polarity, content_hash
from impactbench.resources import family_of
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent
from impactbench.store.frames import (
    assignment,
    benchmark,
    conversation,
    judgment,
    metric,
    metric_version,
    run,
    scenario,
)

LABELS_ONLY = "labels_only"
UNNAMED_METRIC = "unnamed-metric"
UNNAMED_MODEL = "unnamed-model"
PLACEHOLDER_RUN = "labels-only"


@dataclass(frozen=True, slots=True)
class Item:
    """What a label is about."""

    conversation_id: int
    metric_version_id: int


@dataclass(frozen=True, slots=True)
class _Version:
    id: int
    benchmark: str
    metric: str
    number: int

    def is_called(self, name: str) -> bool:
        return name in (self.metric, f"{self.benchmark}/{self.metric}", f"{self.benchmark}__{self.metric}")


@dataclass(slots=True)
class _Known:
    """A conversation of the study, and the metric versions that it was made for, judged or rated on."""

    id: int
    key: str
    run: str
    status: str
    own: int
    versions: dict[int, _Version] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemFinder:
    """The items of a study, looked up by what a table calls them."""

    table: RatingsTable
    run: str
    by_key: Mapping[str, Sequence[_Known]]

    def find(self, row: RatingRow) -> Item | None:
        """The item of a row; None where the study has no such conversation.

        Raises:
            ImportRefused: there are several, or the conversation is not about this metric.
        """
        wanted = row.run or self.run
        found = [each for each in self.by_key.get(row.item, ()) if wanted in ("", each.run)]
        if not found:
            return None
        if len(found) > 1:
            runs = ", ".join(sorted(each.run for each in found))
            raise self.refuse(
                row,
                f"item {row.item!r} is in several runs ({runs}): name one with --run or in a column 'run'",
            )
        version = self._version(row, found[0])
        return None if version is None else Item(found[0].id, version)

    def _version(self, row: RatingRow, known: _Known) -> int | None:
        versions = [each for each in known.versions.values() if not row.metric or each.is_called(row.metric)]
        have = ", ".join(sorted({each.metric for each in known.versions.values()}))
        if not versions:
            if known.status == LABELS_ONLY:
                return None
            raise self.refuse(row, f"the metric is {row.metric!r}, but item {row.item!r} is about {have}")
        if row.metric_version is not None:
            numbers = ", ".join(str(each.number) for each in versions)
            versions = [each for each in versions if each.number == row.metric_version]
            if not versions:
                raise self.refuse(
                    row,
                    f"the metric version is {row.metric_version}, but item {row.item!r} is about version {numbers}",
                )
        if len({each.metric for each in versions}) > 1:
            raise self.refuse(
                row,
                f"item {row.item!r} has several metrics ({have}): name one in a column {COLUMNS['metric']!r}",
            )
        ids = [each.id for each in versions]
        if len(ids) > 1 and known.own not in ids:
            raise self.refuse(
                row,
                f"item {row.item!r} was judged on several versions of {row.metric!r}: name one in a column"
                f" {COLUMNS['metric_version']!r}",
            )
        return known.own if known.own in ids else ids[0]

    def refuse(self, row: RatingRow, what: str) -> ImportRefused:
        return ImportRefused(f"{self.table.path}, row {row.row}: {what}")


def finder(session: Session, table: RatingsTable, *, study_id: int, run_slug: str) -> ItemFinder:
    """All that the study holds so far."""
    versions = {
        key: _Version(key, *rest)
        for key, *rest in session.execute(
            select(metric_version.id, benchmark.slug, metric.slug, metric_version.version)
            .join(t.Metric, metric.id == metric_version.metric_id)
            .join(t.Benchmark, benchmark.id == metric.benchmark_id)
        )
    }
    found = (
        select(conversation.id, conversation.key, run.slug, conversation.status, scenario.metric_version_id)
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Scenario, scenario.id == conversation.scenario_id)
        .where(run.study_id == study_id)
    )
    known = {row[0]: _Known(*row) for row in session.execute(found)}
    for each in known.values():
        each.versions[each.own] = versions[each.own]
    judged = (
        select(judgment.conversation_id, judgment.metric_version_id)
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .join(t.Run, run.id == conversation.run_id)
        .where(run.study_id == study_id)
    )
    rated = select(assignment.conversation_id, assignment.metric_version_id).where(
        assignment.study_id == study_id
    )
    for query in (judged.distinct(), rated.distinct()):
        for conversation_id, version in session.execute(query):
            known[conversation_id].versions[version] = versions[version]
    by_key: dict[str, list[_Known]] = defaultdict(list)
    for each in known.values():
        by_key[each.key].append(each)
    return ItemFinder(table, run_slug, by_key)


def keep_placeholders(
    session: Session, rows: Iterable[RatingRow], *, study: t.Study, polarity: Polarity, finder: ItemFinder
) -> tuple[dict[int, Item], int]:
    """A place for items of which only labels are known: the item of each row, and how many conversations are new.

    Raises:
        ImportRefused: an item has two models, or a metric was imported with the other polarity.
    """
    rows = list(rows)
    insert_if_absent(
        session,
        t.Benchmark,
        [{"slug": study.slug, "name": study.title, "description": "Known by its labels only."}],
    )
    benchmark_id = session.execute(select(benchmark.id).where(benchmark.slug == study.slug)).scalar_one()
    names = keep_metric_names(session, benchmark_id, sorted({row.metric or UNNAMED_METRIC for row in rows}))
    versions: dict[str, int] = {}
    firsts: dict[tuple[str, str], RatingRow] = {}
    for row in rows:
        first = firsts.setdefault((row.run or finder.run or PLACEHOLDER_RUN, row.item), row)
        if row.model != first.model:
            raise finder.refuse(
                row,
                f"item {row.item!r} is by model {row.model!r} here and by {first.model!r} in row {first.row}",
            )
        name = row.metric or UNNAMED_METRIC
        if name not in versions:
            versions[name] = _version_of(session, name, names[name], polarity, refuse=finder.refuse, row=row)
    ids, added = _keep_conversations(session, firsts, versions, study_id=study.id or 0)
    return {
        row.row: Item(
            ids[row.run or finder.run or PLACEHOLDER_RUN, row.item], versions[row.metric or UNNAMED_METRIC]
        )
        for row in rows
    }, added


def _version_of(
    session: Session,
    name: str,
    metric_id: int,
    polarity: Polarity,
    *,
    refuse: Callable[[RatingRow, str], ImportRefused],
    row: RatingRow,
) -> int:
    found = select_rows(t.MetricVersion).where(t.MetricVersion.metric_id == metric_id)
    versions = sorted(session.exec(found).all(), key=lambda version: version.version)
    if versions:
        if versions[-1].polarity is not polarity:
            raise refuse(
                row,
                f"metric {name!r} was imported as {versions[-1].polarity}, and --polarity says {polarity}",
            )
        return versions[-1].id or 0
    definition = MetricDefinition(name=name, polarity=polarity, definition="")
    insert_if_absent(session, t.MetricVersion, [version_row(metric_id, definition, version=1, because="")])
    return session.exec(found).one().id or 0


def _keep_conversations(
    session: Session,
    firsts: Mapping[tuple[str, str], RatingRow],
    versions: Mapping[str, int],
    *,
    study_id: int,
) -> tuple[dict[tuple[str, str], int], int]:
    slugs = sorted({place[0] for place in firsts})
    insert_if_absent(
        session,
        t.Run,
        [{"study_id": study_id, "slug": slug, "manifest": {"layout": LABELS_ONLY}} for slug in slugs],
    )
    runs = session.execute(select(run.slug, run.id).where(run.study_id == study_id))
    run_ids = {slug: int(key) for slug, key in runs}
    models = {name: model_row(name) for name in {row.model or UNNAMED_MODEL for row in firsts.values()}}
    insert_if_absent(session, t.Model, list(models.values()))
    model_ids = {model.slug: model.id for model in session.exec(select_rows(t.Model)).all()}
    scenarios = {
        (versions[row.metric or UNNAMED_METRIC], row.item): row.base_scenario or row.item
        for row in firsts.values()
    }
    insert_if_absent(
        session,
        t.Scenario,
        [
            {
                "metric_version_id": version,
                "slug": slug,
                "base_scenario": base,
                "content_hash": content_hash([slug]),
            }
            for (version, slug), base in scenarios.items()
        ],
    )
    found = select(scenario.metric_version_id, scenario.slug, scenario.id)
    made = session.execute(found.where(scenario.metric_version_id.in_(set(versions.values()))))
    scenario_ids = {(version, slug): key for version, slug, key in made}
    rows = [
        {
            "run_id": run_ids[slug],
            "key": item,
            "scenario_id": scenario_ids[versions[row.metric or UNNAMED_METRIC], item],
            "model_id": model_ids[row.model or UNNAMED_MODEL],
            "content_hash": content_hash([]),
            "status": LABELS_ONLY,
        }
        for (slug, item), row in firsts.items()
    ]
    added = insert_if_absent(session, t.Conversation, rows)
    stored = session.execute(
        select(run.slug, conversation.key, conversation.id)
        .join(t.Run, run.id == conversation.run_id)
        .where(run.study_id == study_id)
    )
    return {(slug, key): ident for slug, key, ident in stored}, added


def model_row(name: str) -> dict[str, object]:
    """The row of a model, with what the table of families says of it."""
    known = family_of(name)
    if known is None:
        return {"slug": name, "family": UNKNOWN_FAMILY}
    return {
        "slug": name,
        "provider": known.provider,
        "family": known.family,
        "sibling_group": known.lineage,
        "open_weight": known.open_weight,
    }
