"""The groups of items that figures are made of: all metrics, each polarity, benchmark and subarea, and each metric."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from operator import itemgetter
from typing import Any, cast

import numpy as np
import pandas as pd

from reviews.evidence import ALL, StudyTables
from validation.ratings import Ratings


class Kind(StrEnum):
    """What the metrics of a group have in common."""

    ALL = "all metrics"
    POLARITY = "polarity"
    BENCHMARK = "benchmark"
    SUBAREA = "subarea"
    METRIC = "metric"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Metric versions that one figure is about."""

    kind: Kind
    name: str
    versions: frozenset[int]

    @property
    def pooled(self) -> bool:
        """Whether metrics are the unit: an interval then deletes metrics, not items."""
        return self.kind is not Kind.METRIC


def groups(tables: StudyTables, kinds: Sequence[Kind] = tuple(Kind)) -> list[Group]:
    """The groups of a study by kind; of kinds other than `metric` only those that split the whole.

    A version that a later one has replaced is in no pooled group.
    """
    metrics = tables.metrics
    current = metrics[~metrics["superseded"]]
    whole = Group(kind=Kind.ALL, name=ALL, versions=_versions(current))
    found = [whole] if Kind.ALL in kinds else []
    for kind, column in ((Kind.POLARITY, "polarity"), (Kind.BENCHMARK, "benchmark")):
        if kind in kinds:
            found += _split(current, kind, current[column].astype(str))
    if Kind.SUBAREA in kinds:
        placed = current.explode("subareas").dropna(subset=["subareas"])
        found += _split(placed, Kind.SUBAREA, placed["subareas"].astype(str))
    if Kind.METRIC in kinds:
        found += [
            Group(kind=Kind.METRIC, name=str(title), versions=frozenset({int(version)}))
            for title, version in zip(metrics["title"], metrics["metric_version_id"], strict=True)
        ]
    return found


def _split(metrics: pd.DataFrame, kind: Kind, names: pd.Series) -> list[Group]:
    if names.nunique() < 2:
        return []
    named = (lambda name: f"{name.capitalize()} metrics") if kind is Kind.POLARITY else str
    return [
        Group(kind=kind, name=named(str(name)), versions=_versions(part))
        for name, part in metrics.groupby(names)
    ]


def _versions(metrics: pd.DataFrame) -> frozenset[int]:
    return frozenset(int(version) for version in metrics["metric_version_id"])


def of_group(ratings: Ratings, group: Group) -> Ratings:
    """The ratings of a group; those of one metric have no clusters, for items are the unit there.

    Args:
        ratings: as `reviews.evidence.expert_ratings` gives them; units are (conversation, metric version).
        group: the group.
    """
    kept = np.isin(versions_of(ratings), sorted(group.versions))
    part = ratings.select(kept)
    if group.pooled and part.n_clusters != 1:
        return part
    return _rows(ratings, np.flatnonzero(kept))


def core_by_metric(tables: StudyTables) -> dict[int, Ratings]:
    """The ratings of the random core of each metric version: figures of single metrics are made of the same ones."""
    if "core by metric" not in tables.made:
        tables.made["core by metric"] = by_metric(tables.core_ratings)
    found: dict[int, Ratings] = tables.made["core by metric"]
    return found


def by_metric(ratings: Ratings) -> dict[int, Ratings]:
    """The ratings of each metric version, without clusters and without raters who have no part in it."""
    if not ratings.units:
        return {}
    versions = versions_of(ratings)
    order = np.argsort(versions, kind="stable")
    names, starts = np.unique(versions[order], return_index=True)
    return {
        int(name): _rows(ratings, rows) for name, rows in zip(names, np.split(order, starts[1:]), strict=True)
    }


def _rows(ratings: Ratings, rows: np.ndarray) -> Ratings:
    codes = ratings.codes[rows]
    there = (codes >= 0).any(axis=0)
    units = ratings.units
    return Ratings(
        codes[:, there],
        ratings.categories,
        tuple(map(units.__getitem__, rows.tolist())),
        tuple(compress(ratings.raters, there.tolist())),
    )


def versions_of(ratings: Ratings) -> np.ndarray:
    """(units,): the metric version of each item."""
    of_unit: Iterator[Any] = map(itemgetter(1), cast(tuple[tuple[int, int], ...], ratings.units))
    return np.fromiter(of_unit, dtype=np.int64, count=len(ratings.units))
