"""Every figure of an audit, from the tables of a study or of plain files: nothing here knows where they come from."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from impactbench.domain import AssignmentReason
from reviews.audit.ages import AgeDifference, age_differences
from reviews.audit.agreement import GroupAgreement, ParadoxPanel, agreement_by_group, paradox_panel
from reviews.audit.corrected import Board, boards
from reviews.audit.groups import Kind, groups
from reviews.audit.indeterminacy import Indeterminacy, JudgeIndeterminacy, indeterminacy
from reviews.audit.items import Judge, foremost_judge, judged_items, judges_of, verdicts_on, without_replaced
from reviews.audit.judge import (
    CLAIMED_ACCURACY,
    Ceiling,
    JudgeGroup,
    JudgeOnMetric,
    Readings,
    ceilings,
    judge_by_group,
    judge_by_metric,
    readings,
)
from reviews.audit.missing import JudgeGaps, Missing, missing
from reviews.audit.own_family import OwnFamily, own_family, panel, roles_and_families
from reviews.audit.panel import PanelOfJudges, compare_judges, orders
from reviews.audit.raters import RaterAudit, rater_audit
from reviews.audit.retest import JudgeRetest, judge_retest
from reviews.contested.contest import metric_statuses
from reviews.evidence import (
    ALL,
    SEED,
    Coverage,
    StudyTables,
    coverage,
    expert_ratings,
    random_core,
    weighted_alpha,
)
from validation.alternative import AlternativeTest, alternative_annotator_test, on_judge_scale
from validation.contested import MetricStatus
from validation.integrity import Finding, inverted_metrics
from validation.judge_accuracy import judge_accuracy
from validation.mapping import PRIMARY, Policy
from validation.multiverse import Claim
from validation.panel_judges import PanelPreference
from validation.results import Estimate
from validation.self_preference import Kinship
from validation.stability import Stability

FEWEST_FOR_ALARM = 6
"""Items that a metric needs before it is said to be turned around: as many as for its accuracy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """All that is said of one judge."""

    judge: Judge
    groups: tuple[JudgeGroup, ...]
    """Against the experts: all metrics first."""
    metrics: tuple[JudgeOnMetric, ...]
    """The least accurate first."""
    readings: Readings
    claim: Claim
    """Whether the accuracy that is asked for is reached under every reading of the labels."""
    ceilings: tuple[Ceiling, ...]
    alternative: AlternativeTest
    """Whether it may take the place of an expert; borderline labels count as fails."""
    alarms: tuple[Finding, ...]
    """Metrics that look as if they were turned around."""
    own_family: OwnFamily
    n_own: int
    """Items of its own family with a label and a verdict."""
    ages: tuple[AgeDifference, ...]
    retest: JudgeRetest | None
    """None where it ran once."""
    boards: tuple[Board, ...]
    mse: Estimate
    """Distance from what experts find defensible: the score to choose judges by."""
    gaps: JudgeGaps
    """What it left without a verdict."""
    weighted: Estimate
    """Accuracy with every item weighing one over its chance of being drawn; undefined where no chances are on record."""
    decisions: JudgeIndeterminacy
    """Its decisions at every threshold of what experts find defensible, consistency and bias."""
    order: Mapping[str, Stability | None]
    """Polarity -> how its order of models holds under every other choice."""
    targets: tuple[str, ...]
    """The targets that it judged."""

    @property
    def whole(self) -> JudgeGroup:
        return self.groups[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All that an audit says."""

    policy: Policy
    coverage: tuple[Coverage, ...]
    agreement: tuple[GroupAgreement, ...]
    """Ordinal alpha in every group."""
    paradox: tuple[ParadoxPanel, ...]
    """All coefficients side by side: all metrics, then each polarity."""
    weighted: Estimate
    """Ordinal alpha with extra raters weighed in: a check."""
    raters: RaterAudit
    indeterminacy: Indeterminacy
    """With the share of defensible passes that forced choices would have to hide before the order of judges turns."""
    judges: tuple[JudgeFigures, ...]
    panel: PanelOfJudges
    double_difference: PanelPreference | None
    """What several judges say of each other's preference; None with fewer than two."""
    missing: Missing
    statuses: tuple[MetricStatus, ...]
    foremost: Judge | None
    """The judge whose doings count for a status: the one with most verdicts."""
    titles: dict[int, str]
    """Metric version -> what people call it."""
    roles: pd.DataFrame
    """Which family plays which role."""

    def title(self, one: MetricStatus) -> str:
        return self.titles[int(str(one.metric))]


def compute(tables: StudyTables, policy: Policy = PRIMARY) -> Figures:
    """Compute an audit.

    Args:
        tables: of a study or of files.
        policy: the primary reading of the labels.
    """
    kinds = (Kind.ALL, Kind.POLARITY)
    extra = tables.assignments["reason"] == AssignmentReason.ADAPTIVE
    foremost = foremost_judge(tables)
    statuses = tuple(metric_statuses(tables, policy, judge=foremost))
    defensible, gaps = indeterminacy(tables), missing(tables, policy)
    contested = [int(str(one.metric)) for one in statuses if one.status == "contested"]
    return Figures(
        policy=policy,
        coverage=tuple(coverage(tables)),
        agreement=tuple(agreement_by_group(tables)),
        paradox=tuple(paradox_panel(tables, group) for group in groups(tables, kinds)),
        weighted=weighted_alpha(tables.assignments)
        if extra.any()
        else Estimate.undefined("no_extra_raters", n=0),
        raters=rater_audit(tables),
        indeterminacy=defensible,
        judges=tuple(
            _judge(tables, judge, policy, defensible, gaps, contested) for judge in judges_of(tables)
        ),
        panel=compare_judges(tables, policy, contested=contested),
        double_difference=panel(tables),
        missing=gaps,
        statuses=statuses,
        foremost=foremost,
        titles=dict(
            zip(map(int, tables.metrics["metric_version_id"]), map(str, tables.metrics["title"]), strict=True)
        ),
        roles=roles_and_families(tables),
    )


def _judge(
    tables: StudyTables,
    judge: Judge,
    policy: Policy,
    defensible: Indeterminacy,
    gaps: Missing,
    contested: Collection[int],
) -> JudgeFigures:
    items = judged_items(tables, judge, policy)
    both = items[items["reference"].notna() & items["judge"].notna()]
    own = int(both["kinship"].isin([Kinship.SELF, Kinship.SIBLING]).sum())
    whole = judge_by_group(tables, judge, policy)
    several = readings(tables, judge)
    decisions = next(one for one in defensible.judges if one.judge == judge)
    return JudgeFigures(
        judge=judge,
        groups=tuple(whole),
        metrics=tuple(judge_by_metric(tables, judge, policy)),
        readings=several,
        claim=several.curve.claim("accuracy", at_least=CLAIMED_ACCURACY),
        ceilings=tuple(ceilings(tables, judge)),
        alternative=_alternative(tables, items),
        alarms=polarity_alarms(both),
        own_family=own_family(tables, judge, policy),
        n_own=own,
        ages=tuple(age_differences(tables, judge, policy)),
        retest=_retest(tables, judge),
        boards=tuple(boards(tables, judge, policy)),
        mse=decisions.mse,
        gaps=next(one for one in gaps.judges if one.judge == judge),
        weighted=_weighted(both, policy),
        decisions=decisions,
        order=orders(tables, judge, policy, contested=contested),
        targets=tuple(sorted({str(name) for name in items["model"].dropna() if name})),
    )


def _weighted(both: pd.DataFrame, policy: Policy) -> Estimate:
    chances = both["inclusion_probability"]
    if both.empty or chances.isna().any():
        return Estimate.undefined("no_inclusion_probabilities", n=len(both))
    return judge_accuracy(
        both["reference"].to_numpy(dtype=np.float64),
        both["judge"].to_numpy(dtype=np.float64),
        weights=1 / chances.to_numpy(dtype=np.float64),
        clusters=both["metric_version_id"].to_numpy(),
        policy=policy.name,
        seed=SEED,
    ).accuracy


def polarity_alarms(both: pd.DataFrame) -> tuple[Finding, ...]:
    """The tripwire over all metrics at once, then on each that has enough items to say anything.

    Args:
        both: items with a reference and a verdict, as `reviews.audit.items.judged_items` gives them.
    """
    enough = both[both.groupby("title")["title"].transform("size") >= FEWEST_FOR_ALARM]
    several = both["title"].nunique() > 1
    whole = inverted_metrics(both["reference"], both["judge"], clusters=[ALL] * len(both)) if several else ()
    return whole + inverted_metrics(enough["reference"], enough["judge"], clusters=enough["title"].tolist())


def _alternative(tables: StudyTables, items: pd.DataFrame) -> AlternativeTest:
    ratings = on_judge_scale(
        expert_ratings(random_core(without_replaced(tables).assignments)), borderline="fail"
    )
    said = verdicts_on(items, ratings)
    words = [None if np.isnan(one) else ("fail", "pass")[int(one)] for one in said]
    return alternative_annotator_test(ratings, words, seed=SEED)


def _retest(tables: StudyTables, judge: Judge) -> JudgeRetest | None:
    found = judge_retest(tables, judge)
    return found if found.runs > 1 else None
