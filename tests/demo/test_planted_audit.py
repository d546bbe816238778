"""Over twenty seeds of one ground truth the audit finds what was planted, and hardly anything else.

What is true of each metric (TRUE) was computed from forty other seeds of the ground truth, 200 to 239: the mean nominal alpha is
.26 on m03, .29 on m04 and .72 or more elsewhere; the mean accuracy of the judge .71 and .69 there and .78 elsewhere; no
metric has more than a tenth of borderline labels; the judge flips on .50 of m05 and on .02 or fewer elsewhere.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache

import pytest

from reviews.audit.items import judged_items, judges_of
from reviews.audit.raters import HARSH_OR_LENIENT, rater_audit
from reviews.contested.contest import metric_statuses
from reviews.evidence import SEED, StudyTables, expert_ratings, random_core
from tests.demo.planted_study import PLANTED, study_of_seed
from validation.contested import Status
from validation.metric_evidence import Domain
from validation.raters import severity
from validation.self_preference import Comparison, self_preference

SEEDS = range(100, 120)
CONTESTED, HARSH, UNSTABLE = {"m03", "m04"}, "sim-external-3", "m05"
TRUE = {
    Domain.EXPERT_DISAGREEMENT: {"m03", "m04"},
    Domain.JUDGE_AGAINST_EXPERTS: {"m03", "m04"},
    Domain.JUDGE_INSTABILITY: {UNSTABLE},
}
"""Domain -> the metrics beyond its threshold: .667, .75 and .20."""
PASSED = PLANTED["judge"]["false_pass"]
PLANTED_GAP = PASSED["own_family"] - PASSED["other_family"]
Q = 0.10
NEARLY_ALL = 18


@dataclass(frozen=True)
class Audited:
    """What the audit of one study says about what was planted."""

    flags: tuple[tuple[Domain, str], ...]
    contested: frozenset[str]
    raters: tuple[str, ...]
    """Those that are said to lean."""
    own_family: Comparison


def audit_of(tables: StudyTables) -> Audited:
    names = dict(zip(tables.metrics["metric_version_id"], tables.metrics["metric"], strict=True))
    found = metric_statuses(tables)
    items = judged_items(tables, judges_of(tables)[0])
    leans = severity(expert_ratings(random_core(tables.assignments)), seed=SEED)
    return Audited(
        flags=tuple((domain, str(names[one.metric])) for one in found for domain in one.flagged),
        contested=frozenset(str(names[one.metric]) for one in found if one.status is Status.CONTESTED),
        raters=tuple(
            str(one.rater)
            for one in leans
            if abs(one.lean.value or 0.0) >= HARSH_OR_LENIENT and (one.p_adjusted or 0.0) < 0.05
        ),
        own_family=self_preference(
            judge=items["judge"].to_numpy(),
            human=items["reference"].to_numpy(),
            kinship=items["kinship"].tolist(),
            metric=items["metric_version_id"].tolist(),
        )["family"],
    )


@cache
def audits() -> tuple[Audited, ...]:
    return tuple(audit_of(study_of_seed(seed)) for seed in SEEDS)


def test_each_thing_that_was_planted_is_found_in_nearly_every_study() -> None:
    found = Counter[str]()
    for one in audits():
        found["contested"] += one.contested >= CONTESTED
        found["harsh rater"] += HARSH in one.raters
        found["unstable"] += (Domain.JUDGE_INSTABILITY, UNSTABLE) in one.flags
        found["own family"] += one.own_family.verdict == "detected"
    assert len(found) == 4
    assert min(found.values()) >= NEARLY_ALL, found


def test_what_is_flagged_was_planted_but_for_a_share_within_q() -> None:
    flags = Counter(flag for one in audits() for flag in one.flags)
    false = sum(number for (domain, name), number in flags.items() if name not in TRUE.get(domain, set()))
    assert false <= Q * flags.total(), flags
    raters = Counter(rater for one in audits() for rater in one.raters)
    assert raters.total() - raters[HARSH] <= Q * raters.total(), raters
    others = Counter(name for one in audits() for name in one.contested - CONTESTED)
    assert others.total() <= Q * sum(len(one.contested) for one in audits()), others


def test_the_interval_of_the_self_preference_covers_what_was_planted() -> None:
    gaps = [one.own_family.false_pass_gap for one in audits()]
    covered = sum(
        gap.low is not None and gap.high is not None and gap.low <= PLANTED_GAP <= gap.high for gap in gaps
    )
    assert covered >= NEARLY_ALL


def test_the_committed_study_shows_each_thing_that_was_planted() -> None:
    tables = study_of_seed(PLANTED["seed"])
    found = audit_of(tables)
    assert found.contested == CONTESTED
    assert [domain for domain, name in found.flags if name == UNSTABLE] == [Domain.JUDGE_INSTABILITY]
    assert found.own_family.verdict == "detected"
    raters = rater_audit(tables)
    assert [str(row.rater) for row in raters.raters if row.flagged] == [HARSH]
    assert f"{HARSH} clearly leans away from the others" in raters.sentence


@pytest.mark.parametrize("kept", [8, 2])
def test_thin_data_are_not_assessed_and_never_fine(kept: int) -> None:
    tables = study_of_seed(PLANTED["seed"])
    first = tables.assignments.groupby("metric_version_id")["conversation_id"].transform("min")
    thin = tables.assignments[tables.assignments["conversation_id"] < first + kept]
    cut = StudyTables(tables.metrics, thin, tables.judgments.iloc[:0], tables.decisions, tables.conversations)
    found = metric_statuses(cut)
    assert len(found) == 6
    assert Status.NO_CONCERN_FOUND not in {one.status for one in found}
    assert not any(one.evidence.of(Domain.EXPERT_DISAGREEMENT).assessed for one in found)
