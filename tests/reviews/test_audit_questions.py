"""The questions of an audit on a small study: what is computed anew, what is not identified, and what is never pooled."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Engine

from impactbench.domain import LabelVerdict, Role
from impactbench.store import frames
from reviews import evidence
from reviews.audit import agreement, corrected, items, judge, missing, own_family, panel, raters, retest
from reviews.audit.groups import Kind, groups
from reviews.audit.memory import Memory
from reviews.blindness.visibility import Seen, Stage, Viewer
from reviews.evidence import StudyTables
from reviews.item_in_full import item_in_full
from tests.demo.planted_study import study_of_seed
from tests.reviews.invented_study import add_judge, add_raters, add_study
from tests.reviews.test_extension import MIXED, answer_all, open_set

SEED = 7589


@pytest.fixture(scope="module")
def demo() -> StudyTables:
    return study_of_seed(SEED)


def test_one_label_computes_one_metric_and_its_pools_anew(demo: StudyTables) -> None:
    memory = Memory()
    before = agreement.agreement_by_group(demo, "agreement", remember=memory)
    first = memory.computed
    agreement.agreement_by_group(demo, "agreement", remember=memory)
    assert memory.computed == first
    changed = demo.assignments.copy()
    changed.loc[changed.index[0], "label"] = "borderline"
    after = agreement.agreement_by_group(replace(demo, assignments=changed), "agreement", remember=memory)
    touched = {row.group.kind for row, old in zip(after, before, strict=True) if row.estimate != old.estimate}
    assert touched == {Kind.ALL, Kind.POLARITY, Kind.METRIC}
    assert memory.computed == first + 3


def test_agreement_by_group_is_what_the_report_of_agreement_says(demo: StudyTables) -> None:
    reported = {row.group: row.found for row in evidence.agreement(demo)}
    for name in ("alpha_ordinal", "alpha_nominal", "ac1", "bp", "fleiss", "agreement"):
        for row in agreement.agreement_by_group(demo, name):
            assert row.estimate == getattr(reported[row.group.name], name)


def test_the_judge_by_one_kind_of_groups_is_what_it_is_among_all_kinds(demo: StudyTables) -> None:
    (one,) = items.judges_of(demo)
    every = judge.judge_by_group(demo, one)
    alone = judge.judge_by_group(demo, one, by="model")
    assert {row.kind for row in alone} == {"all metrics", "model"}
    kept = [row for row in every if row.kind in ("all metrics", "model")]
    assert [(row.group, row.found) for row in alone] == [(row.group, row.found) for row in kept]


def test_a_lopsided_table_is_no_evidence_of_bad_raters(demo: StudyTables) -> None:
    whole = groups(demo, [Kind.ALL])[0]
    lopsided = demo.assignments.copy()
    submitted = lopsided["status"] == "submitted"
    lopsided.loc[submitted, "label"] = "pass"
    lopsided.loc[lopsided.index[submitted][::40], "label"] = "fail"
    found = agreement.paradox_panel(replace(demo, assignments=lopsided), whole)
    assert found.coefficients["alpha_ordinal"].value is not None
    assert found.coefficients["alpha_ordinal"].value < 0.2
    assert found.sentence.startswith("Limited by prevalence")


def test_no_own_family_item_is_not_identified_and_never_no_preference(demo: StudyTables) -> None:
    others = demo.conversations.assign(family="corvid", model="corvid-7")
    (one,) = items.judges_of(demo)
    found = own_family.own_family(replace(demo, conversations=others), one)
    assert found.sentence == "no own-family items with human labels: not identified"
    assert found.permutation.p_family is None


def test_a_family_is_never_claimed_from_three_models(demo: StudyTables) -> None:
    (one,) = items.judges_of(demo)
    found = own_family.own_family(demo, one)
    assert found.levels["family"].verdict == "detected"
    assert "for these models only" in found.sentence


def test_a_second_judge_is_compared_on_what_both_judged_and_the_nearest_is_chosen(demo: StudyTables) -> None:
    first = demo.judgments[demo.judgments["repeat"] == 0]
    (one,) = items.judges_of(demo)
    truth = items.judged_items(demo, one).set_index(items.ITEM)["reference"]
    right = [truth.get(key, 0.0) >= 0.5 for key in zip(*(first[name] for name in items.ITEM), strict=True)]
    better = first.assign(judge_id=2, judge="sage-judge", judge_family="sage", passed=np.array(right))
    both = replace(
        demo, judgments=pd.concat([demo.judgments, better.astype({"passed": "boolean"})], ignore_index=True)
    )
    found = panel.compare_judges(both)
    assert [choice.judge.name for choice in found.choices] == ["sage-judge", "tansy-judge"]
    assert all(choice.mse.n == 72 for choice in found.choices)
    assert set(found.between) == {("tansy-judge", "sage-judge")}
    preference = own_family.panel(both)
    assert preference is not None
    effect = preference.effects["tansy-judge"].value
    assert effect is not None
    assert effect > 0
    names = [one.name for order in found.orders.values() if order for one in order.perturbations]
    assert "judge sage-judge" in names


def test_the_retest_finds_the_unstable_metric_and_caps_accuracy(demo: StudyTables) -> None:
    (one,) = items.judges_of(demo)
    found = retest.judge_retest(demo, one)
    assert max(found.unstable, key=lambda version: found.unstable[version]) == 5
    assert found.ceilings.accuracy is not None
    assert 0.9 < found.ceilings.accuracy < 1
    assert len(retest.flipped_items(demo, one)) == round((found.whole.flip_rate.value or 0) * 72)


def test_readings_contain_the_primary_one_and_dropping_flatters(demo: StudyTables) -> None:
    (one,) = items.judges_of(demo)
    found = judge.readings(demo, one)
    low, high = found.bounds.low.value, found.bounds.high.value
    half, dropped = found.half.value, found.dropped.value
    assert None not in (low, high, half, dropped)
    assert low < half < dropped < high  # type: ignore[operator]


def test_rates_of_hand_picked_labels_are_not_corrected(demo: StudyTables) -> None:
    (one,) = items.judges_of(demo)
    some = demo.assignments[demo.assignments["conversation_id"] % 2 == 0]
    for board in corrected.boards(replace(demo, assignments=some), one):
        assert {rate.rate.undefined_because for rate in board.rates} == {"no_probability_sample"}
    for board in corrected.boards(demo, one):
        assert all(rate.rate.defined for rate in board.rates)


def test_what_is_missing_is_counted_and_bounded(demo: StudyTables) -> None:
    gone = demo.judgments.copy()
    rows = gone.index[(gone["repeat"] == 0)][:6]
    gone.loc[rows, ["present", "passed"]] = None
    gone.loc[rows, "unscored_because"] = "refused"
    found = missing.missing(replace(demo, judgments=gone))
    (one,) = found.judges
    assert (one.found.n_missing, dict(one.reasons)) == (6, {"refused": 6})
    low, high = one.found.pass_rate.low.value or 0, one.found.pass_rate.high.value or 0
    assert high - low == pytest.approx(6 / 72)
    assert found.labels.by_status == {"submitted": 351, "cannot_judge": 7, "skip": 2}


def test_raters_without_a_shared_item_are_not_compared(demo: StudyTables) -> None:
    alone = demo.assignments[demo.assignments["rater"] == "sim-external-3"]
    found = raters.rater_audit(replace(demo, assignments=alone))
    assert [row.words for row in found.raters] == ["shares no item with others: cannot be compared"]
    assert not found.raters[0].flagged


def test_an_item_holds_nothing_that_its_viewer_may_not_see(sqlite_engine: Engine) -> None:
    add_study(sqlite_engine)
    add_judge(sqlite_engine)
    open_set(sqlite_engine, raters=MIXED)
    answer_all(sqlite_engine, LabelVerdict.FAIL)
    add_raters(sqlite_engine, "Max", role=Role.MAINTAINER)
    tables = evidence.read_tables(sqlite_engine, "winter")
    first = frames.assignments(sqlite_engine, "winter").iloc[0]
    key = {
        "conversation_id": int(first["conversation_id"]),
        "metric_version_id": int(first["metric_version_id"]),
    }
    seen = item_in_full(
        sqlite_engine, "winter", tables, **key, viewer=Viewer.METHODOLOGIST, stage=Stage.LOCKED
    )
    assert {"rater", "label", "reason given"} <= set(seen.labels.columns)
    assert len(seen.verdicts) == 1
    public = item_in_full(sqlite_engine, "winter", tables, **key, viewer=Viewer.PUBLIC, stage=Stage.LOCKED)
    assert public.labels.empty
    assert public.verdicts.empty
    assert (public.turns, public.model) == ((), None)
    assert Seen.TRANSCRIPT in public.hidden
