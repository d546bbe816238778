"""Conversations counted by metric: what every pass rate is a ratio of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.domain import AgeVariant, Polarity

Counts = NDArray[np.int64]
MetricName = tuple[str, str]
"""Benchmark and metric: the name of a metric is its own only within its benchmark."""

COLUMNS = ("model", "benchmark", "metric", "polarity", "age", "scenario", "passed")
AGES = (AgeVariant.TEEN, AgeVariant.ADULT)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricTally:
    """Passed, scored and unscored conversations of each metric, model and age."""

    models: tuple[str, ...]
    """In alphabetical order."""
    metrics: tuple[MetricName, ...]
    """In order of benchmark, polarity and name."""
    benchmarks: tuple[str, ...]
    """In alphabetical order."""
    benchmark: NDArray[np.int64]
    """(metrics,): the number of each metric's benchmark."""
    positive: NDArray[np.bool_]
    """(metrics,): whether the behaviour is wanted."""
    passed_by_age: Counts
    """(metrics, models, ages): conversations that passed; ages are teen and adult."""
    scored_by_age: Counts
    """(metrics, models, ages): conversations that have a verdict."""
    unscored_by_age: Counts
    """(metrics, models, ages): conversations that have none, which no rate counts."""

    @property
    def passed(self) -> Counts:
        """(metrics, models): both ages."""
        return np.asarray(self.passed_by_age.sum(axis=2))

    @property
    def scored(self) -> Counts:
        """(metrics, models): both ages."""
        return np.asarray(self.scored_by_age.sum(axis=2))

    @property
    def unscored(self) -> Counts:
        """(metrics, models): both ages."""
        return np.asarray(self.unscored_by_age.sum(axis=2))

    @property
    def strata(self) -> NDArray[np.int64]:
        """(metrics,): what metrics are drawn within: benchmark x polarity.

        A metric without another one there joins the rest of its benchmark, and benchmarks of one metric are put
        together: alone they would never vary.
        """
        cell = 2 * self.benchmark + self.positive
        alone = np.bincount(cell, minlength=2 * len(self.benchmarks))[cell] == 1
        broken = np.bincount(self.benchmark, alone) > 0
        whole = np.where(self.single, 2 * len(self.benchmarks), 2 * self.benchmark)
        return np.unique(np.where(broken[self.benchmark], whole, cell), return_inverse=True)[1].astype(
            np.int64
        )

    @property
    def single(self) -> NDArray[np.bool_]:
        """(metrics,): whether the metric is the only one of its benchmark."""
        return np.asarray(np.bincount(self.benchmark)[self.benchmark] == 1)

    def of_benchmarks(self) -> NDArray[np.bool_]:
        """(benchmarks, metrics): which metrics are in each benchmark."""
        return np.asarray(np.arange(len(self.benchmarks))[:, None] == self.benchmark)

    def of_polarities(self) -> NDArray[np.bool_]:
        """(3, metrics): all metrics, the positive, the negative."""
        return np.stack([np.ones_like(self.positive), self.positive, ~self.positive])


def tally_metrics(conversations: pd.DataFrame) -> MetricTally:
    """Count a frame of one row a conversation and metric: model, benchmark, metric, polarity, age, scenario, passed.

    `passed` is a nullable boolean; rows without a verdict are counted as unscored and never as anything else. One
    judge and one run at a time: a second row of the same model, metric, age and scenario is refused.

    Raises:
        ValueError: a column is missing, or a row repeats another, contradicts another about the polarity of the
            metric, or holds a value that is none of its column's.
    """
    if missing := [name for name in COLUMNS if name not in conversations.columns]:
        raise ValueError(f"the frame has no column {missing[0]!r}; it needs {', '.join(COLUMNS)}")
    frame = conversations[list(COLUMNS)]
    _require_values(frame, "polarity", list(Polarity))
    _require_values(frame, "age", list(AGES))
    passed = _verdicts(frame)
    for name in ("model", "benchmark", "metric", "scenario"):
        _require_rows(frame, frame[name].notna(), f"has no {name}")
    key = ["model", "benchmark", "metric", "age", "scenario"]
    _require_rows(frame, ~frame.duplicated(key), "repeats the model, metric, age and scenario of a row above")
    named = frame[["benchmark", "polarity", "metric"]].astype(str)
    table = named.drop_duplicates().sort_values(["benchmark", "polarity", "metric"])
    twice = table[table.duplicated(["benchmark", "metric"])]
    if len(twice):
        raise ValueError(
            f"metric {twice['metric'].iloc[0]!r} of {twice['benchmark'].iloc[0]!r} is positive in one row"
            " and negative in another"
        )
    metrics = tuple(zip(table["benchmark"], table["metric"], strict=True))
    models, model = np.unique(frame["model"].astype(str).to_numpy(dtype=object), return_inverse=True)
    benchmarks, benchmark = np.unique(table["benchmark"].to_numpy(dtype=object), return_inverse=True)
    metric = (
        pd.MultiIndex.from_tuples(metrics, names=["benchmark", "metric"]).get_indexer(
            pd.MultiIndex.from_frame(named[["benchmark", "metric"]])
        )
        if metrics
        else np.zeros(0, dtype=np.int64)
    )
    age = (frame["age"].astype(str) == AGES[1]).to_numpy(dtype=np.int64)
    shape = (len(metrics), len(models), len(AGES))
    cell = (metric * len(models) + model) * len(AGES) + age

    def counted(rows: NDArray[np.bool_]) -> Counts:
        return np.bincount(cell[rows], minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)

    has_verdict = ~np.isnan(passed)
    return MetricTally(
        models=tuple(models.tolist()),
        metrics=metrics,
        benchmarks=tuple(benchmarks.tolist()),
        benchmark=benchmark.astype(np.int64),
        positive=(table["polarity"] == Polarity.POSITIVE).to_numpy(dtype=np.bool_),
        passed_by_age=counted(passed == 1),
        scored_by_age=counted(has_verdict),
        unscored_by_age=counted(~has_verdict),
    )


def _verdicts(frame: pd.DataFrame) -> NDArray[np.float64]:
    """(rows,): 1 passed, 0 not, NaN without a verdict."""
    column = frame["passed"]
    if not pd.api.types.is_bool_dtype(column):
        _require_rows(
            frame, column.isna() | column.isin([True, False]), "holds a `passed` that is no boolean"
        )
        column = column.astype("boolean")
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _require_values(frame: pd.DataFrame, name: str, allowed: Sequence[str]) -> None:
    _require_rows(
        frame, frame[name].isin(list(allowed)), f"holds a {name} that is none of {', '.join(allowed)}"
    )


def _require_rows(frame: pd.DataFrame, right: "pd.Series[Any]", wrong: str) -> None:
    wrong_rows = np.flatnonzero(~right.to_numpy(dtype=np.bool_))
    if len(wrong_rows):
        row = frame.iloc[int(wrong_rows[0])]
        raise ValueError(f"row {row.name!r} {wrong}: {row.to_dict()}")
