"""The verdicts of a study counted in the database: a row for each metric, model and age, whatever its size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Engine, case, func, select

from impactbench.domain import AgeVariant, Polarity
from impactbench.rates.metric_tally import AGES, MetricTally
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.frames import (
    benchmark,
    conversation,
    judge,
    judgment,
    metric,
    metric_version,
    model,
    run,
    scenario,
    study,
)

CELL = ["judge_id", "run_id", "model_id", "metric_version_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Verdicts of one judge on the newest version of each metric, from the newest run of each model on it."""

    judge_id: int | None
    """None where nothing was judged."""
    judge: str
    """The judge's model."""
    other_judges: tuple[str, ...]
    """Judges of the study whose verdicts are not in these counts: nothing is pooled across judges."""
    cells: pd.DataFrame
    """One row a metric, model and age: metric_version_id, benchmark, metric, polarity, model, family, provider, age,
    passed, scored, unscored."""
    without_age: int
    """Conversations whose simulated user has no age, which are not counted."""


def count_verdicts(rows: pd.DataFrame) -> Counted:
    """The counts of `all_counts` that one table of results may hold: those of the judge that has said most."""
    if rows.empty:
        return Counted(judge_id=None, judge="", other_judges=(), cells=_cells(rows), without_age=0)
    said = rows.groupby(["judge_id", "judge"])["n"].sum().sort_values(ascending=False, kind="stable")
    judge_id, name = said.index[0]
    rows = rows[rows["judge_id"] == judge_id]
    newest_version = rows.groupby(["benchmark", "metric"])["version"].transform("max")
    rows = rows[rows["version"] == newest_version]
    rows = rows[rows["run_id"] == rows.groupby(["model", "metric_version_id"])["run_id"].transform("max")]
    aged = rows["age"].isin(list(AGES))
    return Counted(
        judge_id=int(judge_id),
        judge=str(name),
        other_judges=tuple(dict.fromkeys(str(other) for _, other in said.index[1:])),
        cells=_cells(rows[aged]),
        without_age=int(rows.loc[~aged, "n"].sum()),
    )


def all_counts(engine: Engine, study_slug: str) -> pd.DataFrame:
    """A judge, run, model, metric version and age: judge_id, judge, run_id, run, run_made, model, family,
    provider, metric_version_id, benchmark, metric, version, polarity, age, n, present, unscored. First repeats only.
    """
    counts = (
        select(
            judgment.judge_id,
            conversation.run_id,
            conversation.model_id,
            judgment.metric_version_id,
            scenario.age,
            func.count().label("n"),
            func.sum(case((judgment.present, 1), else_=0)).label("present"),
            func.sum(case((judgment.present.is_(None), 1), else_=0)).label("unscored"),
        )
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .join(t.Scenario, scenario.id == conversation.scenario_id)
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .where(study.slug == study_slug, judgment.repeat == 0)
        .group_by(
            judgment.judge_id,
            conversation.run_id,
            conversation.model_id,
            judgment.metric_version_id,
            scenario.age,
        )
    )
    judges = select(judge.id.label("judge_id"), model.slug.label("judge")).join(
        t.Model, model.id == judge.model_id
    )
    runs = (
        select(run.id.label("run_id"), run.slug.label("run"), run.created_at.label("run_made"))
        .join(t.Study, study.id == run.study_id)
        .where(study.slug == study_slug)
    )
    models = select(model.id.label("model_id"), model.slug.label("model"), model.family, model.provider)
    versions = (
        select(
            metric_version.id.label("metric_version_id"),
            benchmark.slug.label("benchmark"),
            metric.slug.label("metric"),
            metric_version.version,
            metric_version.polarity,
        )
        .join(t.Metric, metric.id == metric_version.metric_id)
        .join(t.Benchmark, benchmark.id == metric.benchmark_id)
    )
    with reading(engine) as session:
        frame, *others = (
            _frame(session.connection().execute(query)) for query in (counts, judges, runs, models, versions)
        )
    for other, key in zip(others, CELL, strict=True):
        frame = frame.merge(other, on=key, how="left")
    for name in ("n", "present", "unscored"):
        frame[name] = frame[name].astype(np.int64)
    order = ["benchmark", "metric", "version", "model", "run_id", "judge_id", "age"]
    return frame.sort_values(order, kind="stable").reset_index(drop=True)


def _frame(result: Any) -> pd.DataFrame:
    return pd.DataFrame(result.mappings().all(), columns=list(result.keys()))


def _cells(rows: pd.DataFrame) -> pd.DataFrame:
    scored = rows["n"] - rows["unscored"]
    passed = rows["present"].where(rows["polarity"] == Polarity.POSITIVE, scored - rows["present"])
    kept = ["metric_version_id", "benchmark", "metric", "polarity", "model", "family", "provider", "age"]
    return rows[kept].assign(passed=passed, scored=scored, unscored=rows["unscored"]).reset_index(drop=True)


def tally_of(cells: pd.DataFrame) -> MetricTally:
    """The counts as the statistics take them."""
    table = (
        cells[["benchmark", "polarity", "metric"]]
        .astype(str)
        .drop_duplicates()
        .sort_values(["benchmark", "polarity", "metric"])
    )
    metrics = tuple(zip(table["benchmark"], table["metric"], strict=True))
    models = tuple(sorted(set(cells["model"])))
    benchmarks = tuple(sorted(set(table["benchmark"])))
    place = {name: k for k, name in enumerate(metrics)}
    column = {name: k for k, name in enumerate(models)}
    at = (
        np.array(
            [place[key] for key in zip(cells["benchmark"], cells["metric"], strict=True)], dtype=np.int64
        ),
        np.array([column[name] for name in cells["model"]], dtype=np.int64),
        np.array([int(age == AgeVariant.ADULT) for age in cells["age"]], dtype=np.int64),
    )

    def counted(name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        found = np.zeros((len(metrics), len(models), len(AGES)), dtype=np.int64)
        np.add.at(found, at, cells[name].to_numpy(dtype=np.int64))
        return found

    number = {name: k for k, name in enumerate(benchmarks)}
    return MetricTally(
        models=models,
        metrics=metrics,
        benchmarks=benchmarks,
        benchmark=np.array([number[name] for name in table["benchmark"]], dtype=np.int64),
        positive=(table["polarity"] == Polarity.POSITIVE).to_numpy(dtype=np.bool_),
        passed_by_age=counted("passed"),
        scored_by_age=counted("scored"),
        unscored_by_age=counted("unscored"),
    )
