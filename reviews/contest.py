"""The evidence on every metric and what follows from it: contested, watch, no concern found, or not assessed."""

from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.domain import LabelStatus, LabelVerdict
from reviews.evidence import SEED, StudyTables, alone, expert_ratings, first_runs, judge_pass, random_core
from validation.contested import MetricStatus, queue, statuses
from validation.mapping import PRIMARY, Policy, reference
from validation.metric_evidence import (
    Domain,
    expert_disagreement,
    gather,
    judge_against_experts,
    judge_instability,
)
from validation.ratings import Ratings
from validation.share_evidence import indeterminacy

_RUNS_FOR_STABILITY = 3


def metric_statuses(tables: StudyTables, policy: Policy = PRIMARY) -> list[MetricStatus]:
    """The status of each metric of a study, most pressing first; `metric` holds the metric version's id.

    Disagreement of experts, borderline verdicts and withheld judgments come from the labels; where the study has one
    judge, its accuracy and its stability come in as well. With several judges none is picked in silence, and what
    concerns the judge is not assessed here.
    """
    core = random_core(tables.assignments)
    parts = {
        version: core[core["metric_version_id"] == version] for version in tables.metrics["metric_version_id"]
    }
    ratings = {version: alone(expert_ratings(part)) for version, part in parts.items()}
    judges = list(first_runs(tables))
    verdicts = judges[0][1] if len(judges) == 1 else None
    evidence = gather(
        expert_disagreement(ratings, seed=SEED),
        judge_against_experts(_agreeing(ratings, verdicts, policy)) if verdicts is not None else {},
        indeterminacy({version: _borderline(part) for version, part in parts.items()}),
        indeterminacy({version: _withheld(part) for version, part in parts.items()}, domain=Domain.UNSURE),
        judge_instability(_flips(tables)) if len(judges) == 1 else {},
    )
    return queue(statuses(evidence))


def _agreeing(
    ratings: Mapping[Hashable, Ratings], verdicts: pd.DataFrame, policy: Policy
) -> dict[Hashable, tuple[float, int]]:
    """For each metric the (soft) number of items on which the judge agrees with the reference, and of items."""
    counts: dict[Hashable, tuple[float, int]] = {}
    for version, table in ratings.items():
        agreement = 1 - np.abs(judge_pass(verdicts, table) - reference(table, policy))
        counts[version] = float(np.nansum(agreement)), int((~np.isnan(agreement)).sum())
    return counts


def _borderline(part: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(items,) borderline labels and (items,) labels with a verdict."""
    submitted = part[part["status"] == LabelStatus.SUBMITTED]
    return _per_item(submitted, submitted["label"] == LabelVerdict.BORDERLINE)


def _withheld(part: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(items,) answers "I can't judge this" and (items,) answers that are a verdict or that."""
    answered = part[part["status"].isin([LabelStatus.SUBMITTED, LabelStatus.CANNOT_JUDGE])]
    return _per_item(answered, answered["status"] == LabelStatus.CANNOT_JUDGE)


def _per_item(rows: pd.DataFrame, marked: pd.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    by_item = marked.groupby(rows["conversation_id"])
    return np.asarray(by_item.sum(), dtype=np.int64), np.asarray(by_item.count(), dtype=np.int64)


def _flips(tables: StudyTables) -> dict[Hashable, tuple[float, int]]:
    """For each metric, items on which the judge's runs are not unanimous, and items with three runs or more."""
    scored = tables.judgments[tables.judgments["present"].notna()]
    runs = scored.groupby(["metric_version_id", "conversation_id"])["present"].agg(["nunique", "count"])
    repeated = runs[runs["count"] >= _RUNS_FOR_STABILITY]
    flipped = (repeated["nunique"] > 1).groupby("metric_version_id").agg(["sum", "count"])
    return {version: (float(row["sum"]), int(row["count"])) for version, row in flipped.iterrows()}
