"""The results of one study as the public may see them: read once, and everything public is computed from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Engine, Select, inspect, select

from impactbench.rates.metric_tally import MetricName, MetricTally
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.frames import benchmark, metric, metric_version, placement, subarea
from reviews.public.checks import Checked, Checks, read_checks
from reviews.public.counts import count_verdicts, tally_of
from reviews.public.releasing import PublicStudy, public_study

SEED = 20_261_020
"""Of every resampling that a public number rests on."""

_category = inspect(t.Category).columns
_member = inspect(t.CategoryMetric).columns
_mark = inspect(t.CaseMark).columns


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicMetric:
    """A metric in the wording that the verdicts are about."""

    benchmark: str
    benchmark_name: str
    metric: str
    metric_version_id: int
    version: int
    name: str
    polarity: str
    definition: str
    interpretive_clause: str
    question: str
    evidence: str
    """Why it matters and what that rests on."""
    author: str
    subareas: tuple[str, ...]
    checked: Checked

    @property
    def key(self) -> MetricName:
        return self.benchmark, self.metric


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicResults:
    """A study's results. Nothing here names a rater, quotes a conversation or comes from an unreported review set."""

    study: PublicStudy
    judge_id: int | None
    """None where nothing was judged."""
    judge: str
    """The model whose verdicts these are."""
    other_judges: tuple[str, ...]
    """Judges whose verdicts are not in these numbers: nothing is pooled across judges."""
    without_age: int
    """Conversations left out because their simulated user has no age."""
    tally: MetricTally
    metrics: Mapping[MetricName, PublicMetric]
    """In the order of the tally."""
    models: pd.DataFrame
    """One row a model: model, family, provider."""
    places: pd.DataFrame
    """One row a metric and subarea: benchmark, metric, area (the domain), subarea."""
    categories: pd.DataFrame
    """One row a metric and heading of the label, in the order of the label: benchmark, metric, category."""
    checks: Checks


def read_public(engine: Engine, slug: str, *, unreleased: bool = False) -> PublicResults:
    """The results of a study.

    Args:
        engine: the database.
        slug: the study.
        unreleased: for members of the workbench only.

    Raises:
        NotReleased: the public does not see it.
    """
    study = public_study(engine, slug, unreleased=unreleased)
    counted = count_verdicts(engine, slug)
    checks = read_checks(engine, slug, judge_id=counted.judge_id or 0)
    tally = tally_of(counted.cells)
    versions = {
        (str(of), str(name)): int(ident)
        for of, name, ident in counted.cells[["benchmark", "metric", "metric_version_id"]]
        .drop_duplicates()
        .itertuples(index=False)
    }
    places = _rows(engine, _PLACES)
    return PublicResults(
        study=study,
        judge_id=counted.judge_id,
        judge=counted.judge,
        other_judges=counted.other_judges,
        without_age=counted.without_age,
        tally=tally,
        metrics=_metrics(engine, tally, versions, places, checks),
        models=counted.cells[["model", "family", "provider"]]
        .drop_duplicates()
        .sort_values("model")
        .reset_index(drop=True),
        places=_of(places, versions),
        categories=_of(_rows(engine, _CATEGORIES), versions),
        checks=checks,
    )


_KEPT: dict[tuple[str, str, bool], tuple[str, PublicResults]] = {}
_LOCK = Lock()


def kept_public(engine: Engine, slug: str, *, unreleased: bool = False) -> PublicResults:
    """The results of a study, read anew only where something that the public sees has changed.

    What is computed from the same results is computed once, so equal questions are answered at once.

    Raises:
        NotReleased: the public does not see it.
    """
    public_study(engine, slug, unreleased=unreleased)
    key, state = (str(engine.url), slug, unreleased), public_state(engine, slug)
    with _LOCK:
        before = _KEPT.get(key)
        if before is None or before[0] != state:
            before = _KEPT[key] = state, read_public(engine, slug, unreleased=unreleased)
    return before[1]


def public_state(engine: Engine, slug: str) -> str:
    """A word that changes whenever anything that the public sees of a study has changed."""
    study = public_study(engine, slug, unreleased=True)
    headings = len(_rows(engine, select(_member.metric_id)))
    marks = len(_rows(engine, select(_mark.id)))
    return "-".join(
        [
            frames.state(engine, slug),
            str(study.released_at),
            str(study.transcripts),
            str(study.under_review),
            str(headings),
            str(marks),
        ]
    )


_PLACES = (
    select(
        benchmark.slug.label("benchmark"),
        metric.slug.label("metric"),
        subarea.domain.label("area"),
        subarea.name.label("subarea"),
    )
    .select_from(t.Placement)
    .join(t.Metric, metric.id == placement.metric_id)
    .join(t.Benchmark, benchmark.id == metric.benchmark_id)
    .join(t.Subarea, subarea.id == placement.subarea_id)
    .order_by(subarea.domain, subarea.name, benchmark.slug, metric.slug)
)
_CATEGORIES = (
    select(benchmark.slug.label("benchmark"), metric.slug.label("metric"), _category.name.label("category"))
    .select_from(t.CategoryMetric)
    .join(t.Metric, metric.id == _member.metric_id)
    .join(t.Benchmark, benchmark.id == metric.benchmark_id)
    .join(t.Category, _category.id == _member.category_id)
    .order_by(_category.position, _category.id, benchmark.slug, metric.slug)
)
_VERSIONS = (
    select(
        metric_version.id.label("metric_version_id"),
        benchmark.slug.label("benchmark"),
        benchmark.name.label("benchmark_name"),
        metric.slug.label("metric"),
        metric_version.version,
        metric_version.name,
        metric_version.polarity,
        metric_version.definition,
        metric_version.interpretive_clause,
        metric_version.question,
        metric_version.evidence,
        metric_version.author,
    )
    .join(t.Metric, metric.id == metric_version.metric_id)
    .join(t.Benchmark, benchmark.id == metric.benchmark_id)
)


def _metrics(
    engine: Engine,
    tally: MetricTally,
    versions: Mapping[MetricName, int],
    places: pd.DataFrame,
    checks: Checks,
) -> dict[MetricName, PublicMetric]:
    rows = {row["metric_version_id"]: row for row in _rows(engine, _VERSIONS).to_dict("records")}
    stands = places.groupby(["benchmark", "metric"])["subarea"].agg(tuple).to_dict()
    found = {}
    for key in tally.metrics:
        row = {str(name): value for name, value in rows[versions[key]].items()}
        row["polarity"] = str(row["polarity"])
        found[key] = PublicMetric(
            **row, subareas=tuple(stands.get(key, ())), checked=checks.of([versions[key]])
        )
    return found


def _of(rows: pd.DataFrame, versions: Mapping[MetricName, int]) -> pd.DataFrame:
    """The rows about metrics that the study has."""
    kept = [key in versions for key in zip(rows["benchmark"], rows["metric"], strict=True)]
    return rows[np.array(kept, dtype=np.bool_)].reset_index(drop=True)


def _rows(engine: Engine, query: Select[*tuple[Any, ...]]) -> pd.DataFrame:
    with reading(engine) as session:
        result = session.connection().execute(query)
        return pd.DataFrame(result.mappings().all(), columns=list(result.keys()))
