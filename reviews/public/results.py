"""The results of one study as the public may see them: read once, and everything public is computed from them."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd
from sqlalchemy import Engine, Select, func, inspect, select

from impactbench.rates.metric_tally import MetricName, MetricTally
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.frames import benchmark, metric, run
from impactbench.store.frames import study as of_study
from reviews.public.checks import Checked, Checks, read_checks
from reviews.public.counts import all_counts, count_verdicts, tally_of
from reviews.public.releasing import PublicStudy, public_study

_WORDING = (
    "benchmark",
    "benchmark_name",
    "metric",
    "metric_version_id",
    "version",
    "name",
    "polarity",
    "definition",
    "interpretive_clause",
    "question",
    "evidence",
    "author",
    "subareas",
)
_MOST_COMPUTED = 256
P = ParamSpec("P")
Result = TypeVar("Result")
SEED = 20_261_020
"""Of every resampling that a public number rests on."""

_category = inspect(t.Category).columns
_member = inspect(t.CategoryMetric).columns


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

    @property
    def word(self) -> str:
        """What it is called in addresses."""
        return in_addresses(self.key)


def in_addresses(key: MetricName) -> str:
    """A metric in one word.

    >>> in_addresses(("kindness", "m01"))
    'kindness__m01'
    """
    return "__".join(key)


@dataclass(frozen=True, kw_only=True, eq=False)
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
    """One row a model: model, name (what it is called where people read), family, provider."""
    places: pd.DataFrame
    """One row a metric and subarea: benchmark, metric, area (the domain), subarea."""
    categories: pd.DataFrame
    """One row a metric and heading of the label, in the order of the label: benchmark, metric, category."""
    checks: Checks
    counts: pd.DataFrame
    """Every count that the study has, as `all_counts` gives them: of other judges, wordings and runs too."""
    computed: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    """What was computed from these results, and goes when they go: see `remembered`."""

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What each model is called where people read; in addresses and files it keeps its slug."""
        return dict(zip(self.models["model"], self.models["name"], strict=True))

    @cached_property
    def by_word(self) -> Mapping[str, PublicMetric]:
        """The metrics by what they are called in addresses."""
        return {one.word: one for one in self.metrics.values()}


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
    counts = all_counts(engine, slug)
    counted = count_verdicts(counts)
    checks = read_checks(engine, slug, judge_id=counted.judge_id or 0)
    tally = tally_of(counted.cells)
    versions = {
        (str(of), str(name)): int(ident)
        for of, name, ident in counted.cells[["benchmark", "metric", "metric_version_id"]]
        .drop_duplicates()
        .itertuples(index=False)
    }
    places = frames.placements(engine)
    return PublicResults(
        study=study,
        judge_id=counted.judge_id,
        judge=counted.judge,
        other_judges=counted.other_judges,
        without_age=counted.without_age,
        tally=tally,
        metrics=_metrics(engine, tally, versions, checks),
        models=_models(counted.cells, _names(engine, slug)),
        places=_of(places, versions),
        categories=_of(_rows(engine, _CATEGORIES), versions),
        checks=checks,
        counts=counts,
    )


def remembered(
    compute: Callable[Concatenate[PublicResults, P], Result],
) -> Callable[Concatenate[PublicResults, P], Result]:
    """A computation whose outcome is kept with the results that it is about; of very many, the newest are kept."""

    @wraps(compute)
    def ask(results: PublicResults, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        key = compute.__qualname__, args, tuple(sorted(kwargs.items()))
        known = results.computed
        if (kept := known.get(key)) is None:
            for oldest in list(known)[: max(len(known) - _MOST_COMPUTED + 1, 0)]:
                known.pop(oldest, None)
            kept = known[key] = (compute(results, *args, **kwargs),)
        found: Result = kept[0]
        return found

    return ask


_KEPT: dict[tuple[str, str, bool], tuple[str, PublicResults]] = {}
_LOCK = Lock()


def kept_public(engine: Engine, slug: str, *, unreleased: bool = False) -> PublicResults:
    """The results of a study, read anew only where something that the public sees has changed.

    What is computed from the same results is computed once, so equal questions are answered at once.

    Args:
        engine: the database.
        slug: the study.
        unreleased: for members of the workbench only.

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
    with reading(engine) as session:
        added = session.execute(select(*map(_number, _BESIDES))).one()
    shown = study.released_at, study.transcripts, study.under_review, study.title, study.notice
    return "-".join(map(str, (frames.state(engine, slug), *shown, *added)))


def _number(table: type[t.Table]) -> Any:
    return select(func.count()).select_from(table).scalar_subquery()


_BESIDES: tuple[type[t.Table], ...] = (t.CategoryMetric, t.CaseMark, t.ChangeNote)
"""What the public sees and an audit does not read; of all of it rows are only ever added."""
_CATEGORIES = (
    select(benchmark.slug.label("benchmark"), metric.slug.label("metric"), _category.name.label("category"))
    .select_from(t.CategoryMetric)
    .join(t.Metric, metric.id == _member.metric_id)
    .join(t.Benchmark, benchmark.id == metric.benchmark_id)
    .join(t.Category, _category.id == _member.category_id)
    .order_by(_category.position, _category.id, benchmark.slug, metric.slug)
)


def _metrics(
    engine: Engine,
    tally: MetricTally,
    versions: Mapping[MetricName, int],
    checks: Checks,
) -> dict[MetricName, PublicMetric]:
    known = frames.metrics(engine).set_index("metric_version_id", drop=False)[list(_WORDING)]
    rows = known[~known.index.duplicated()].to_dict("index")
    found = {}
    for key in tally.metrics:
        row = {str(name): value for name, value in rows[versions[key]].items()}
        places = tuple(row.pop("subareas"))
        row["polarity"] = str(row["polarity"])
        found[key] = PublicMetric(**row, subareas=places, checked=checks.of([versions[key]]))
    return found


def _names(engine: Engine, slug: str) -> dict[str, str]:
    """What the runs of the study say that their models are called."""
    spoken = (run.manifest["model"].as_string(), run.manifest["model_name"].as_string())
    query = select(*spoken).join(t.Study, of_study.id == run.study_id).where(of_study.slug == slug)
    with reading(engine) as session:
        return {model: name for model, name in session.execute(query.order_by(run.id)) if model and name}


def _models(cells: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """A name that two models have says which is meant."""
    frame = cells[["model", "family", "provider"]].drop_duplicates("model").sort_values("model")
    called = [names.get(model, model) for model in frame["model"]]
    said = Counter(called)
    frame.insert(
        1,
        "name",
        [
            name if said[name] == 1 else f"{name} ({model})"
            for name, model in zip(called, frame["model"], strict=True)
        ],
    )
    return frame.reset_index(drop=True)


def _of(rows: pd.DataFrame, versions: Mapping[MetricName, int]) -> pd.DataFrame:
    """The rows about metrics that the study has."""
    kept = [key in versions for key in zip(rows["benchmark"], rows["metric"], strict=True)]
    return rows[np.array(kept, dtype=np.bool_)].reset_index(drop=True)


def _rows(engine: Engine, query: Select[*tuple[Any, ...]]) -> pd.DataFrame:
    with reading(engine) as session:
        result = session.connection().execute(query)
        return pd.DataFrame(result.mappings().all(), columns=list(result.keys()))
