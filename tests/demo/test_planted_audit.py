"""Over twenty seeds of one ground truth the audit finds what was planted, and hardly anything else.

What is true of each metric was computed from forty other seeds of the ground truth: the mean accuracy of the judge against
the experts is .63 on m03, .68 on m04, .73 on m05 and .77 or more elsewhere; the mean alpha .33, .34, .61 and, at the
threshold itself, .66 on m01; no metric has a fifth of borderline labels; the judge flips on .30 of m05 and .03 elsewhere.
"""

from collections import Counter

import pytest

from reviews.audit.items import judged_items, judges_of
from reviews.audit.raters import rater_audit
from reviews.contested.contest import metric_statuses
from reviews.evidence import StudyTables
from tests.demo.planted_study import study_of_seed
from validation.contested import Status
from validation.metric_evidence import Domain
from validation.self_preference import self_preference

SEEDS = range(20)
COMMITTED = 7589
TRUE = {
    Domain.EXPERT_DISAGREEMENT: {"m01", "m03", "m04", "m05"},
    Domain.JUDGE_AGAINST_EXPERTS: {"m03", "m04", "m05"},
    Domain.JUDGE_INSTABILITY: {"m05"},
}
PLANTED_GAP = 0.38 - 0.06
Q = 0.10


def flags_of(tables: StudyTables) -> tuple[list[tuple[Domain, str]], set[str]]:
    """The flags of a study, and its contested metrics."""
    names = dict(zip(tables.metrics["metric_version_id"], tables.metrics["metric"], strict=True))
    found = metric_statuses(tables)
    flags = [(domain, str(names[one.metric])) for one in found for domain in one.flagged]
    return flags, {str(names[one.metric]) for one in found if one.status is Status.CONTESTED}


def test_false_flags_stay_within_q_and_the_contested_metrics_are_found() -> None:
    flags: Counter[tuple[Domain, str]] = Counter()
    contested: Counter[str] = Counter()
    covered = 0
    for seed in SEEDS:
        tables = study_of_seed(seed)
        own, names = flags_of(tables)
        flags.update(own)
        contested.update(names)
        items = judged_items(tables, judges_of(tables)[0])
        gap = self_preference(
            judge=items["judge"].to_numpy(),
            human=items["reference"].to_numpy(),
            kinship=items["kinship"].tolist(),
            metric=items["metric_version_id"].tolist(),
        )["family"].false_pass_gap
        covered += gap.low is not None and gap.high is not None and gap.low <= PLANTED_GAP <= gap.high
    false = sum(number for (domain, name), number in flags.items() if name not in TRUE.get(domain, set()))
    assert false <= Q * flags.total(), flags
    assert min(contested["m03"], contested["m04"]) >= 0.8 * len(SEEDS), contested
    assert contested["m01"] + contested["m02"] + contested["m06"] == 0, contested
    assert covered >= 0.85 * len(SEEDS)


def test_the_committed_study_shows_each_thing_that_was_planted() -> None:
    tables = study_of_seed(COMMITTED)
    _, contested = flags_of(tables)
    assert contested == {"m03", "m04"}
    raters = rater_audit(tables)
    assert [str(row.rater) for row in raters.raters if row.flagged] == ["sim-external-3"]
    assert raters.sentence == "sim-external-3 clearly leans from the others."


@pytest.mark.parametrize("kept", [8, 2])
def test_thin_data_are_not_assessed_and_never_fine(kept: int) -> None:
    tables = study_of_seed(COMMITTED)
    first = tables.assignments.groupby("metric_version_id")["conversation_id"].transform("min")
    thin = tables.assignments[tables.assignments["conversation_id"] < first + kept]
    cut = StudyTables(tables.metrics, thin, tables.judgments.iloc[:0], tables.decisions, tables.conversations)
    found = metric_statuses(cut)
    assert len(found) == 6
    assert Status.NO_CONCERN_FOUND not in {one.status for one in found}
    assert not any(one.evidence.of(Domain.EXPERT_DISAGREEMENT).assessed for one in found)
