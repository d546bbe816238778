"""The judge beside the experts: where they differ, under every reading of the labels, and beside the human ceiling."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reviews.audit.agreement import binary
from reviews.audit.groups import Kind, groups, of_group
from reviews.audit.items import ITEM, Judge, judged_items, verdicts_on, without_replaced
from reviews.evidence import SEED, StudyTables
from reviews.references import settled_verdicts
from validation.bounds import Bounds
from validation.human_ceiling import HumanCeiling, human_ceiling
from validation.judge_accuracy import JudgeAccuracy, judge_accuracy
from validation.mapping import PRIMARY, Borderline, Policy, admissible_policies
from validation.multiverse import Multiverse, multiverse
from validation.polarity import PolarityAlarm, polarity_tripwire
from validation.policy_bounds import accuracy_bounds
from validation.ratings import MISSING
from validation.ratios import ratios_of_groups
from validation.results import Estimate
from validation.shrinkage import shrink

BY = ("polarity", "benchmark", "subarea", "age", "family", "model")
"""The kinds of groups besides all metrics."""
CLAIMED_ACCURACY = 0.75
"""The accuracy under which a judge is of concern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeGroup:
    """A judge against the experts in one group of items."""

    group: str
    kind: str
    """all metrics, polarity, benchmark, subarea, age, family or model."""
    found: JudgeAccuracy
    three_way: NDArray[np.float64]
    """(3, 2): items by the experts' verdict (fail, undecided, pass) and the judge's (fail, pass)."""


def judge_by_group(
    tables: StudyTables, judge: Judge, policy: Policy = PRIMARY, *, by: str | None = None
) -> list[JudgeGroup]:
    """Accuracy of a judge over all metrics, by polarity, benchmark, subarea, age, family and model of the target.

    Args:
        tables: the study.
        judge: one of its judges.
        policy: how labels become verdicts.
        by: one of `BY`, to have the groups of that kind alone after all metrics; every kind by default.
    """
    items = judged_items(tables, judge, policy)
    items = items[items["reference"].notna()]
    parts = [
        (group.name, group.kind.value, items["metric_version_id"].isin(group.versions))
        for group in groups(tables, [Kind.ALL, Kind.POLARITY, Kind.BENCHMARK, Kind.SUBAREA])
    ]
    for column in ("age", "family", "model"):
        names = items[column].dropna().map(str)
        if names.nunique() > 1:
            parts += [(name, column, names.reindex(items.index) == name) for name in sorted(names.unique())]
    return [
        _judge_group(name, kind, items[rows.to_numpy(dtype=bool)], policy)
        for name, kind, rows in parts
        if by is None or kind in (Kind.ALL, by)
    ]


def _judge_group(name: str, kind: str, items: pd.DataFrame, policy: Policy) -> JudgeGroup:
    truth, judged = items["reference"].to_numpy(dtype=np.float64), items["judge"].to_numpy(dtype=np.float64)
    several = items["metric_version_id"].nunique() != 1
    return JudgeGroup(
        group=name,
        kind=kind,
        found=judge_accuracy(
            truth,
            judged,
            clusters=items["metric_version_id"].to_numpy() if several else None,
            policy=policy.name,
            seed=SEED,
        ),
        three_way=three_way(truth, judged),
    )


def three_way(truth: NDArray[np.float64], judged: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3, 2): items by the experts' verdict (fail, undecided, pass) and the judge's (fail, pass)."""
    both = ~np.isnan(truth) & ~np.isnan(judged)
    row = np.sign(truth[both] - 0.5).astype(int) + 1
    table = np.zeros((3, 2))
    np.add.at(table, (row, judged[both].astype(int)), 1)
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOnMetric:
    """A judge on one metric: what was counted, and the same drawn towards the other metrics."""

    metric_version_id: int
    title: str
    polarity: str
    agreeing: float
    """Items on which judge and experts agree; an undecided one counts half."""
    raw: Estimate
    """The accuracy as counted."""
    shrunken: Estimate
    """The accuracy by partial pooling over the metrics."""
    below: Estimate
    """Posterior probability that the accuracy is under the claim."""
    alarm: PolarityAlarm | None
    """Whether the metric looks turned round; None where judge and experts agree on half of the items or more."""


def judge_by_metric(
    tables: StudyTables, judge: Judge, policy: Policy = PRIMARY, *, claim: float = CLAIMED_ACCURACY
) -> list[JudgeOnMetric]:
    """A judge on each metric, the least accurate first."""
    items = judged_items(tables, judge, policy)
    items = items[items["reference"].notna() & items["judge"].notna()]
    if items.empty:
        return []
    agreement = 1 - (items["judge"] - items["reference"]).abs()
    about = items.assign(agreement=agreement).groupby("metric_version_id", sort=False)
    counted = about.agg(
        title=("title", "first"),
        polarity=("polarity", "first"),
        agreeing=("agreement", "sum"),
        n=("agreement", "size"),
    )
    rows = counted.reset_index().to_dict("records")
    pooled = shrink(
        counted["agreeing"].to_numpy(),
        trials=counted["n"].to_numpy(),
        threshold=claim,
        groups=counted["polarity"].map(str).tolist(),
    )
    alarms = _alarms(items, [row["metric_version_id"] for row in rows if 2 * row["agreeing"] < row["n"]])
    raw = ratios_of_groups(agreement.to_numpy(), np.ones(len(items)), items["metric_version_id"].to_numpy())
    found = [
        JudgeOnMetric(
            metric_version_id=int(row["metric_version_id"]),
            title=str(row["title"]),
            polarity=str(row["polarity"]),
            agreeing=float(row["agreeing"]),
            raw=as_counted,
            shrunken=rate,
            below=below,
            alarm=alarms.get(row["metric_version_id"]),
        )
        for row, (_, as_counted), rate, below in zip(rows, raw, pooled.rates, pooled.below, strict=True)
    ]
    return sorted(found, key=lambda one: one.shrunken.value or 0.0)


def _alarms(items: pd.DataFrame, versions: Sequence[int]) -> dict[Hashable, PolarityAlarm]:
    """The alarms of the metrics on which judge and experts mostly differ."""
    suspect = items[items["metric_version_id"].isin(versions)]
    if suspect.empty:
        return {}
    found = polarity_tripwire(
        suspect["reference"].to_numpy(),
        suspect["judge"].to_numpy(),
        clusters=suspect["metric_version_id"].to_numpy(),
    )
    return {alarm.cluster: alarm for alarm in found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The judge's accuracy under every admissible reading of the labels, and what no reading can exceed."""

    curve: Multiverse
    bounds: Bounds
    half: Estimate
    """Accuracy where a borderline label counts half."""
    dropped: Estimate
    """Accuracy where borderline labels are left out, which flatters the judge."""
    admissible_hash: str
    """SHA-256 of the file that names the admissible readings."""


def readings(tables: StudyTables, judge: Judge, *, policies: Sequence[Policy] | None = None) -> Readings:
    """A judge under every admissible policy."""
    study = without_replaced(tables)
    ratings = study.core_ratings
    verdicts = verdicts_on(judged_items(tables, judge), ratings)
    admissible = admissible_policies()
    chosen = admissible.policies if policies is None else tuple(policies)
    settled = settled_verdicts(study.decisions, ratings)
    found = multiverse(ratings, verdicts, policies=chosen, adjudicated=settled, seed=SEED)
    half, dropped = Policy(), Policy(borderline="drop", tie="drop")
    pair = multiverse(ratings, verdicts, policies=(half, dropped), seed=SEED, fewest_items=0).cells
    return Readings(
        curve=found,
        bounds=accuracy_bounds(ratings, verdicts, policies=chosen, adjudicated=settled),
        half=pair[0].accuracy,
        dropped=pair[1].accuracy,
        admissible_hash=admissible.sha256,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Judge and experts against the same references: the majority of the other experts."""

    borderline: Borderline
    """What a borderline label counted as: the judge has no such verdict."""
    found: HumanCeiling


def ceilings(tables: StudyTables, judge: Judge) -> list[Ceiling]:
    """The human ceiling beside the judge, with borderline as a fail, as a pass, and left out."""
    ratings = of_group(tables.core_ratings, groups(tables, [Kind.ALL])[0])
    said = verdicts_on(judged_items(tables, judge), ratings)
    codes = np.where(np.isnan(said), MISSING, np.nan_to_num(said)).astype(np.int64)
    hard: tuple[Borderline, ...] = ("fail", "pass", "drop")
    return [
        Ceiling(borderline=reading, found=human_ceiling(binary(ratings, reading), judge=codes))
        for reading in hard
    ]


def differing_items(tables: StudyTables, judge: Judge) -> pd.DataFrame:
    """The items on which the judge differs from every expert, most experts first: the columns of `judged_items`, and
    `experts` (how many).
    """
    study = without_replaced(tables)
    ratings = study.core_ratings
    items = judged_items(tables, judge)
    said = verdicts_on(items, ratings)
    counts, total = ratings.counts, ratings.ratings_per_unit
    place = np.where(np.isnan(said), 0, 2 * np.nan_to_num(1 - said)).astype(int)
    against = ~np.isnan(said) & (counts[np.arange(len(said)), place] == total) & (total > 0)
    chosen = pd.DataFrame(list(ratings.units), columns=ITEM).assign(experts=total)[against]
    found: pd.DataFrame = chosen.merge(items, on=ITEM)
    return found.sort_values("experts", ascending=False, kind="stable").reset_index(drop=True)
