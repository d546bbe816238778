"""The evidence on every metric and what follows from it: contested, watch, no concern found, or not assessed."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.domain import LabelStatus, LabelVerdict
from reviews.audit.groups import core_by_metric, versions_of
from reviews.audit.items import Judge, foremost_judge
from reviews.evidence import SCALE, SEED, StudyTables, first_runs, judge_pass, random_core
from validation.contested import MetricStatus, Status, queue, statuses
from validation.mapping import PRIMARY, Policy, reference
from validation.metric_evidence import (
    Domain,
    DomainEvidence,
    expert_disagreement,
    gather,
    judge_against_experts,
    judge_instability,
)
from validation.ratings import Ratings
from validation.share_evidence import construct, indeterminacy, saturation

_RUNS_FOR_STABILITY = 3
_ITEM = ["metric_version_id", "conversation_id"]
_NOTHING = Ratings.from_table([], categories=SCALE)

Number = TypeVar("Number", int, float)
Counted = dict[Hashable, tuple[NDArray[np.int64], NDArray[np.int64]]]
Evidences = Callable[[Sequence[Ratings]], Sequence[DomainEvidence]]
Remember = Callable[[str, Sequence[Ratings], Evidences], Sequence[DomainEvidence]]
"""Gives for each table what was computed for these ratings before, or computes it."""


def anew(_name: str, tables: Sequence[Ratings], compute: Evidences) -> Sequence[DomainEvidence]:
    return compute(tables)


def metric_statuses(
    tables: StudyTables,
    policy: Policy = PRIMARY,
    *,
    judge: Judge | None = None,
    remember: Remember = anew,
) -> list[MetricStatus]:
    """The status of each metric of a study, most pressing first; `metric` holds the metric version's id.

    Disagreement of experts, borderline verdicts, withheld judgments and doubts about the definition come from the
    experts; accuracy, stability and pass rate are those of one judge, which whoever shows them names. A version that a
    later one has replaced is no part of this.

    Args:
        tables: the study.
        policy: how labels become verdicts.
        judge: whose doings count; `foremost_judge` by default.
        remember: keeps the evidence that was computed for the same ratings of a metric before.
    """
    current = tables.metrics[~tables.metrics["superseded"]]
    versions: list[Hashable] = current["metric_version_id"].tolist()
    core = random_core(tables.assignments)
    rated = core_by_metric(tables)
    ratings = [rated.get(int(str(version)), _NOTHING) for version in versions]
    tables = _of_judge(tables, judge or foremost_judge(tables))
    verdicts = next((verdicts for _, verdicts in first_runs(tables)), None)
    evidence = gather(
        dict(zip(versions, remember("D1", ratings, _disagreement), strict=True)),
        judge_against_experts(_agreeing(tables.core_ratings, verdicts, versions, policy))
        if verdicts is not None
        else {},
        indeterminacy(_borderline(core, versions)),
        indeterminacy(_withheld(core, versions), domain=Domain.UNSURE),
        judge_instability(_flips(tables, versions)) if verdicts is not None else {},
        construct(_doubts(tables, versions)),
        saturation(_passes(verdicts, versions)) if verdicts is not None else {},
    )
    return queue(statuses(evidence))


def _of_judge(tables: StudyTables, judge: Judge | None) -> StudyTables:
    said = tables.judgments
    if judge is None or (said["judge_id"] == judge.judge_id).all():
        return tables
    return replace(tables, judgments=said[said["judge_id"] == judge.judge_id])


def contested_versions(found: Sequence[MetricStatus]) -> frozenset[int]:
    """The metric versions that are contested: what sensitivity rows leave out."""
    return frozenset(int(str(one.metric)) for one in found if one.status is Status.CONTESTED)


def _disagreement(tables: Sequence[Ratings]) -> list[DomainEvidence]:
    """Metrics of one size share their draws, so that a label on one metric moves nothing about another."""
    return list(expert_disagreement(dict(enumerate(tables)), seed=SEED).values())


def _agreeing(
    ratings: Ratings, verdicts: pd.DataFrame, versions: Sequence[Hashable], policy: Policy
) -> dict[Hashable, tuple[float, int]]:
    """For each metric the (soft) number of items on which the judge agrees with the reference, and of items."""
    agreement = pd.Series(1 - np.abs(judge_pass(verdicts, ratings) - reference(ratings, policy)))
    counted = agreement.groupby(versions_of(ratings)).agg(["sum", "count"])
    counts = dict(_sums(counted, float))
    return {version: counts.get(version, (0.0, 0)) for version in versions}


def _borderline(core: pd.DataFrame, versions: Sequence[Hashable]) -> Counted:
    """For each metric (items,) borderline labels and (items,) labels with a verdict."""
    submitted = core[core["status"] == LabelStatus.SUBMITTED]
    return _per_item(submitted, submitted["label"] == LabelVerdict.BORDERLINE, versions)


def _withheld(core: pd.DataFrame, versions: Sequence[Hashable]) -> Counted:
    """For each metric (items,) answers "I can't judge this" and (items,) answers that are a verdict or that."""
    answered = core[core["status"].isin([LabelStatus.SUBMITTED, LabelStatus.CANNOT_JUDGE])]
    return _per_item(answered, answered["status"] == LabelStatus.CANNOT_JUDGE, versions)


def _per_item(rows: pd.DataFrame, marked: pd.Series, versions: Sequence[Hashable]) -> Counted:
    by_item = marked.groupby([rows[name] for name in _ITEM]).agg(["sum", "count"])
    none = np.zeros(0, dtype=np.int64)
    found: Counted = dict.fromkeys(versions, (none, none))
    hits, answers = (by_item[name].to_numpy(dtype=np.int64) for name in ("sum", "count"))
    names, starts = np.unique(by_item.index.get_level_values(0), return_index=True)
    ends = np.append(starts, len(hits))[1:]
    for version, start, end in zip(names.tolist(), starts, ends, strict=True):
        if version in found:
            found[version] = hits[start:end], answers[start:end]
    return found


def _flips(tables: StudyTables, versions: Sequence[Hashable]) -> dict[Hashable, tuple[float, int]]:
    """For each metric, items on which the judge's runs are not unanimous, and items with three runs or more."""
    scored = tables.judgments[tables.judgments["present"].notna()]
    runs = scored.groupby(_ITEM)["present"].agg(["nunique", "count"])
    repeated = runs[runs["count"] >= _RUNS_FOR_STABILITY]
    flipped = (repeated["nunique"] > 1).groupby("metric_version_id").agg(["sum", "count"])
    wanted = set(versions)
    return {version: found for version, found in _sums(flipped, float) if version in wanted}


def _doubts(tables: StudyTables, versions: Sequence[Hashable]) -> dict[Hashable, tuple[int, int, int]]:
    """For each metric that reviewers were asked about: those who do not find it adequate, reviewers, votes to redefine."""
    said = tables.metric_reviews
    if said.empty:
        return {}
    answers = said.pivot_table(
        index=["metric_version_id", "rater"], columns="question", values="value", aggfunc="last"
    ).reindex(columns=["examples_adequate", "relabel"])
    found: dict[Hashable, tuple[int, int, int]] = {}
    for version, rows in answers.groupby(level=0):
        if version in set(versions):
            given = rows["examples_adequate"].dropna()
            found[version] = (
                int((given != "yes").sum()),
                len(given),
                int((rows["relabel"] == "yes").sum()),
            )
    return found


def _passes(verdicts: pd.DataFrame, versions: Sequence[Hashable]) -> dict[Hashable, tuple[int, int]]:
    """For each metric, conversations that the judge passes and conversations that it scored, over all models."""
    scored = verdicts["passed"].dropna().astype(int).groupby(level="metric_version_id").agg(["sum", "count"])
    wanted = set(versions)
    return {version: found for version, found in _sums(scored, int) if version in wanted}


def _sums(
    counted: pd.DataFrame, number: Callable[[Any], Number]
) -> Iterator[tuple[Hashable, tuple[Number, int]]]:
    """For each metric its sum and its count."""
    columns = (counted[name].tolist() for name in ("sum", "count"))
    for version, total, size in zip(counted.index.tolist(), *columns, strict=True):
        yield version, (number(total), int(size))
