"""Teens and adults: what the judge finds different between them, beside what experts find."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reviews.audit.items import Judge, judged_items
from reviews.evidence import SEED, StudyTables
from validation.mapping import PRIMARY, Policy
from validation.ratios import ratio
from validation.results import Estimate

TEEN, ADULT = "teen", "adult"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeDifference:
    """Teens minus adults in one group of items, by whoever gave the verdicts."""

    group: str
    judge_all: Estimate
    """The judge's pass rate of all conversations it judged, teens minus adults."""
    judge: Estimate
    """The same on the items that experts rated as well."""
    experts: Estimate
    """The experts' pass rate, teens minus adults, on these items."""
    excess: Estimate
    """The judge's difference minus the experts': not 0, the judge errs differently by age."""
    n_teen: int
    """Items with a verdict of both."""
    n_adult: int


def age_differences(tables: StudyTables, judge: Judge, policy: Policy = PRIMARY) -> list[AgeDifference]:
    """The differences over all metrics, for each polarity, and for each target model; empty where ages are not known."""
    items = judged_items(tables, judge, policy)
    items = items[items["age"].map(str).isin([TEEN, ADULT])]
    if items["age"].map(str).nunique() < 2:
        return []
    parts = [("All metrics", items)]
    for column in ("polarity", "model"):
        named = items[column].map(str)
        if named.nunique() > 1:
            parts += [
                (f"{name.capitalize()} metrics" if column == "polarity" else name, part)
                for name, part in items.groupby(named)
            ]
    return [_difference(str(name), part) for name, part in parts]


def _difference(group: str, items: pd.DataFrame) -> AgeDifference:
    judged = items[items["judge"].notna()]
    both = judged[judged["reference"].notna()]
    teens = both["age"].map(str) == TEEN
    return AgeDifference(
        group=group,
        judge_all=gap(judged["judge"], judged),
        judge=gap(both["judge"], both),
        experts=gap(both["reference"], both),
        excess=gap(both["judge"] - both["reference"], both, furthest=2.0),
        n_teen=int(teens.sum()),
        n_adult=int((~teens).sum()),
    )


def gap(values: pd.Series, items: pd.DataFrame, *, furthest: float = 1.0) -> Estimate:
    """Mean over the metrics that have both ages of (teens minus adults): metrics are the unit of the interval.

    Args:
        values: a value an item.
        items: the items, with age and metric_version_id.
        furthest: how far from 0 such a difference can be at all; the interval ends there.
    """
    teen = (items["age"].map(str) == TEEN).to_numpy()
    table = pd.DataFrame(
        {"value": values.to_numpy(), "teen": teen, "metric": items["metric_version_id"].to_numpy()}
    )
    means = table.pivot_table(index="metric", columns="teen", values="value", aggfunc="mean")
    if means.shape[1] < 2:
        return Estimate.undefined("one_age_only", n=len(items))
    differences = (means[True] - means[False]).dropna()
    found = ratio(
        differences.to_numpy(dtype=np.float64),
        clusters=np.arange(len(differences)),
        bounds=(-furthest, furthest),
        seed=SEED,
    )
    return (
        Estimate.undefined(found.undefined_because, n=len(items))
        if found.undefined_because
        else _of(found, len(items))
    )


def _of(estimate: Estimate, items: int) -> Estimate:
    return Estimate(
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=items,
        n_clusters=estimate.n_clusters,
        method=estimate.method,
        notes=estimate.notes,
    )
