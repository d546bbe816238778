"""The judge beside itself: how often its runs differ, and the ceilings that follow for any comparison with experts."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reviews.audit.agreement import binary
from reviews.audit.groups import Kind, groups, of_group
from reviews.audit.items import ITEM, Judge, without_replaced
from reviews.evidence import StudyTables
from validation.agreement import krippendorff_alpha
from validation.ceilings import accuracy_ceiling, correlation_ceiling
from validation.ratings import Ratings
from validation.results import Estimate
from validation.retest import Retest, flip_rates, retest

VERDICTS = ("fail", "pass")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRetest:
    """How a judge agrees with itself."""

    judge: str
    runs: int
    """Most runs of any item; with one there is no retest."""
    whole: Retest
    by: Mapping[str, Mapping[str, Retest]]
    """polarity, age, family, model -> name -> the retest of these items."""
    flips: Mapping[int, Estimate]
    """Metric version -> its flip rate, partially pooled over the metrics."""
    unstable: Mapping[int, float]
    """Metric version -> probability that more than 20% of its items flip."""
    ceilings: "Ceilings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """What the judge's disagreement with itself, and the experts' with each other, caps."""

    accuracy: float | None
    """The accuracy against any fixed labels that can at most be expected."""
    with_truth: float | None
    """About the highest correlation with a faultless reference."""
    with_one_expert: float | None
    """About the highest correlation with a single expert."""
    with_panel: float | None
    """About the highest correlation with the mean of as many experts as rate an item here."""
    experts: int
    """Experts of an item, the median."""
    human_alpha: Estimate
    """Nominal alpha of the experts with borderline counted as a fail."""


def judge_runs(tables: StudyTables, judge: Judge) -> Ratings:
    """The verdicts of a judge: units (conversation, metric version), raters its runs, clusters metric versions."""
    own = without_replaced(tables).judgments
    own = own[(own["judge_id"] == judge.judge_id) & own["passed"].notna()].sort_values(
        "repeat", kind="stable"
    )
    long = pd.DataFrame(
        {
            "unit": list(zip(own["conversation_id"], own["metric_version_id"], strict=True)),
            "rater": own["repeat"],
            "value": np.where(own["passed"].astype(bool), *reversed(VERDICTS)),
            "metric": own["metric_version_id"],
        }
    ).astype({"unit": object, "rater": object, "value": object})
    return Ratings.from_frame(long, categories=VERDICTS, cluster="metric")


def judge_retest(tables: StudyTables, judge: Judge) -> JudgeRetest:
    """The retest of a judge as a whole, by what could move it, and by metric."""
    runs = judge_runs(tables, judge)
    about = pd.DataFrame(list(runs.units), columns=ITEM)
    about = about.merge(
        tables.conversations[["conversation_id", "age", "family", "model"]], how="left"
    ).merge(tables.metrics[["metric_version_id", "polarity"]], how="left")
    whole = retest(runs)
    by = {
        column: {
            name: retest(runs.select((about[column].map(str) == name).to_numpy(dtype=np.bool_)))
            for name in sorted(about[column].dropna().map(str).unique())
        }
        for column in ("polarity", "age", "family", "model")
    }
    pooled = flip_rates(runs)
    versions = _versions(runs)
    return JudgeRetest(
        judge=judge.name,
        runs=runs.codes.shape[1],
        whole=whole,
        by=by,
        flips=dict(zip(versions, pooled.rates, strict=True)),
        unstable={
            version: 1 - under.value
            for version, under in zip(versions, pooled.below, strict=True)
            if under.value is not None
        },
        ceilings=_ceilings(tables, whole),
    )


def _versions(runs: Ratings) -> list[int]:
    """The metric version of each cluster, in the order of their numbers."""
    named: dict[int, Hashable] = {}
    for unit, cluster in zip(runs.units, runs.clusters if runs.clusters is not None else (), strict=True):
        named.setdefault(int(cluster), unit[1])  # type: ignore[index]
    return [int(str(named[cluster])) for cluster in sorted(named)]


def _ceilings(tables: StudyTables, whole: Retest) -> Ceilings:
    labels = of_group(tables.core_ratings, groups(tables, [Kind.ALL])[0])
    alpha = krippendorff_alpha(binary(labels, "fail"), level="nominal")
    rated = labels.ratings_per_unit[labels.ratings_per_unit > 0]
    experts = int(np.median(rated)) if len(rated) else 0
    pairwise, kappa = whole.pairwise.value, whole.kappa.value

    def cap(human_alpha: float | None, raters: int = 1) -> float | None:
        if kappa is None or human_alpha is None or raters < 1:
            return None
        return correlation_ceiling(kappa, human_alpha=human_alpha, raters=raters)

    return Ceilings(
        accuracy=None if pairwise is None else accuracy_ceiling(pairwise),
        with_truth=cap(1.0),
        with_one_expert=cap(alpha.value),
        with_panel=cap(alpha.value, experts),
        experts=experts,
        human_alpha=alpha,
    )


def flipped_items(tables: StudyTables, judge: Judge) -> pd.DataFrame:
    """The items on which the runs of a judge differ: conversation_id, metric_version_id, conversation, model, title,
    fail, pass (runs), in the order of metrics.
    """
    runs = judge_runs(tables, judge)
    split = (runs.counts > 0).sum(axis=1) > 1
    rows = pd.DataFrame(list(runs.units), columns=ITEM).assign(
        **{name: runs.counts[:, k] for k, name in enumerate(VERDICTS)}
    )[split]
    conversations = tables.conversations[["conversation_id", "conversation", "model"]]
    titles = tables.metrics[["metric_version_id", "title"]]
    found: pd.DataFrame = rows.merge(conversations, how="left").merge(titles, how="left")
    return found
