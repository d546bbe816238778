from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from tests.material import shared_json
from validation.confusion import Confusion, confusion, kappa_large_sample
from validation.judge_accuracy import JudgeAccuracy, judge_accuracy
from validation.missing_verdicts import missing_by_group, missing_verdicts
from validation.polarity import polarity_tripwire
from validation.ratios import ratio, share
from validation.results import Estimate

VECTORS = shared_json("vectors.json")
RATES = ("accuracy", "sensitivity", "specificity", "ppv", "npv", "balanced_accuracy")


def items(hits: int, false_fails: int, false_passes: int, true_fails: int):
    reference = [1] * (hits + false_fails) + [0] * (false_passes + true_fails)
    judge = [1] * hits + [0] * false_fails + [1] * false_passes + [0] * true_fails
    return np.array(reference, dtype=float), np.array(judge, dtype=float)


def estimates(found: JudgeAccuracy) -> dict[str, Estimate]:
    named = {field.name: getattr(found, field.name) for field in fields(found)}
    return {name: value for name, value in named.items() if isinstance(value, Estimate)}


def in_metrics(agreed, *, of):
    """Verdicts of one size a metric, all references pass."""
    judge = np.concatenate([np.repeat([1.0, 0.0], [k, of - k]) for k in agreed])
    return np.ones(len(judge)), judge, np.repeat(np.arange(len(agreed)), of)


def test_the_worked_table(shared):
    case = VECTORS["T3.1"]
    found = judge_accuracy(*items(*case["table_tp_fn_fp_tn"]))
    assert found.accuracy.value == pytest.approx(case["acc"], abs=1e-4)
    assert found.kappa.value == pytest.approx(case["kappa"], abs=1e-4)
    assert found.mcc.value == pytest.approx(case["mcc"], abs=1e-4)
    by_sample = found.kappa_large_sample
    assert (by_sample.low, by_sample.high) == pytest.approx(case["ci_kappa"], abs=1e-4)
    assert by_sample.half_width / 1.959964 == pytest.approx(case["se_kappa"], abs=1e-4)
    assert (found.sensitivity.low, found.sensitivity.high) == pytest.approx(
        case["wilson_sens_15_18"], abs=1e-4
    )
    assert found.false_fail_rate.value == pytest.approx(3 / 18)
    assert found.false_pass_rate.value == pytest.approx(3 / 18)


def test_the_worked_audit_of_four_metrics_says_almost_nothing_about_a_fifth(shared):
    case = VECTORS["T3.3_cluster"]
    reference, judge, metric = in_metrics(case["agree_by_metric"], of=case["n_each"])
    found = judge_accuracy(reference, judge, clusters=metric)
    assert found.accuracy.value == pytest.approx(case["acc"], abs=1e-4)
    assert found.design_effect.value == pytest.approx(case["deff"], abs=5e-3)
    assert found.accuracy.low is None
    assert "no pooled interval" in found.accuracy.notes[0]
    assert [rate.value for _, rate in found.by_cluster] == pytest.approx([1, 1, 7 / 9, 5 / 9])

    shown = ratio(reference == judge, clusters=metric, fewest_clusters=2)
    assert shown.low == pytest.approx(case["t3_ci"][0], abs=1e-3)
    assert shown.high == 1.0
    apart = ratio(reference == judge, clusters=np.arange(36))
    assert (apart.low, apart.high) == pytest.approx(case["iid_ci"], abs=1e-3)


def test_few_clusters_have_a_t_interval_that_says_so():
    reference, judge, metric = in_metrics([8, 8, 7, 8, 5, 6], of=9)
    found = judge_accuracy(reference, judge, clusters=metric).accuracy
    means = np.array([8, 8, 7, 8, 5, 6]) / 9
    reach = 2.570582 * means.std(ddof=1) / np.sqrt(6)
    assert (found.low, found.high) == pytest.approx((means.mean() - reach, means.mean() + reach), abs=1e-6)
    assert found.n_clusters == 6
    assert "few clusters" in found.notes[0]


def test_many_clusters_have_a_percentile_bootstrap_which_warns_under_twenty():
    rng = np.random.default_rng(3)
    reference, judge, metric = in_metrics(rng.binomial(9, 0.8, 12), of=9)
    found = judge_accuracy(reference, judge, clusters=metric, seed=5).accuracy
    assert "percentile bootstrap" in found.method
    assert "only 12 clusters" in found.notes[0]
    reference, judge, metric = in_metrics(rng.binomial(9, 0.8, 24), of=9)
    assert judge_accuracy(reference, judge, clusters=metric).accuracy.notes == ()


def test_clusters_are_drawn_within_strata():
    agreed = [9] * 12 + [3] * 12
    reference, judge, metric = in_metrics(agreed, of=9)
    judge[0] = 0
    stratum = np.repeat([0, 1], 108)
    free = judge_accuracy(reference, judge, clusters=metric).accuracy
    within = judge_accuracy(reference, judge, clusters=metric, strata=stratum).accuracy
    assert within.half_width < free.half_width / 5


def test_the_same_seed_gives_the_same_interval_and_mirrored_rates_mirrored_intervals():
    rng = np.random.default_rng(1)
    reference, judge = rng.integers(0, 2, (2, 300)).astype(float)
    metric = np.repeat(np.arange(30), 10)
    first, second = (judge_accuracy(reference, judge, clusters=metric, seed=7) for _ in range(2))
    assert first == second
    assert first.false_pass_rate.low == pytest.approx(1 - first.specificity.high)
    assert judge_accuracy(reference, judge, clusters=metric, seed=8).sensitivity != first.sensitivity


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(12), 3), np.repeat(np.arange(6), 6)])
def test_a_rate_of_one_never_has_an_interval_without_width(clusters):
    reference, judge = items(18, 0, 0, 18)
    found = judge_accuracy(reference, judge, clusters=clusters)
    assert found.accuracy.value == 1
    assert found.accuracy.low == pytest.approx(share(1.0, n=36).low)
    assert 0.5 < found.kappa.low < found.kappa.high == 1
    assert 0.5 < found.mcc.low < found.mcc.high == 1


def test_under_ten_items_the_interval_is_exact():
    found = judge_accuracy(*items(9, 0, 0, 0)).sensitivity
    assert found.method == "Clopper-Pearson"
    assert found.low == pytest.approx(0.025 ** (1 / 9))


def test_soft_references_make_fractional_cells_and_a_ceiling_under_one():
    reference, judge = [1, 0.5, 0, 1, 0.5, 1, 0, 0.5], [1, 1, 0, 1, 0, 1, 0, 0]
    table = confusion(reference, judge)
    assert table == Confusion(true_pass=3.5, false_fail=1.0, false_pass=0.5, true_fail=3.0, n=8)
    found = judge_accuracy(reference, judge, policy="p")
    assert found.accuracy.value == pytest.approx(6.5 / 8)
    assert found.kappa.value == pytest.approx(0.625)
    assert found.kappa_ceiling.value == pytest.approx(0.625)
    assert {rate.policy for rate in estimates(found).values()} == {"p"}
    assert judge_accuracy(*items(15, 3, 3, 15)).kappa_ceiling.value == 1


def test_weights_undo_a_review_that_was_balanced_by_verdict(shared):
    case = VECTORS["T4.3_by_verdict"]
    (pass_pass, pass_fail), (fail_pass, fail_fail) = case["reviewed_pass"], case["reviewed_fail"]
    reference, judge = items(pass_pass, fail_pass, pass_fail, fail_fail)
    raw = judge_accuracy(reference, judge)
    weight = np.where(judge == 1, case["x"] / 60, (case["N"] - case["x"]) / 60)
    weighted = judge_accuracy(reference, judge, weights=weight)
    assert [raw.sensitivity.value, raw.specificity.value] == pytest.approx(case["naive_sens_spec"], abs=1e-4)
    assert [weighted.sensitivity.value, weighted.specificity.value] == pytest.approx(
        case["weighted_sens_spec"], abs=1e-4
    )
    assert [raw.accuracy.value, weighted.accuracy.value] == pytest.approx(
        case["acc_naive_weighted"], abs=1e-4
    )
    assert "effective n" in weighted.accuracy.method


def test_constant_judges_have_kappa_zero_and_no_mcc():
    found = judge_accuracy(*items(20, 0, 20, 0))
    assert found.kappa.value == 0
    assert "never varies" in found.kappa.notes[-1]
    assert found.mcc.undefined_because == "no_variation"
    assert found.npv.undefined_because == "one_class_only"


def test_one_class_on_both_sides_leaves_kappa_undefined():
    found = judge_accuracy(*items(20, 0, 0, 0))
    assert found.kappa.undefined_because == "no_variation"
    assert found.kappa_large_sample.undefined_because == "no_variation"
    assert found.specificity.undefined_because == "one_class_only"
    assert found.accuracy.value == 1


@pytest.mark.parametrize(
    ("reference", "judge"), [([], []), ([np.nan, np.nan], [1, 0]), ([1, 0], [np.nan, np.nan])]
)
@pytest.mark.parametrize("clustered", [False, True])
def test_nothing_to_compare_gives_reasons_and_no_numbers(reference, judge, clustered):
    found = judge_accuracy(reference, judge, clusters=[0] * len(judge) if clustered else None)
    assert {rate.undefined_because for rate in estimates(found).values()} == {"no_items"}
    assert found.missing.n_missing == int(np.isnan(judge).sum())


@pytest.mark.parametrize("n_metrics", [1, 2, 5, 10])
def test_one_item_a_metric_is_no_trouble(n_metrics):
    reference = np.arange(n_metrics) % 2
    found = judge_accuracy(reference, reference, clusters=np.arange(n_metrics))
    assert found.accuracy.value == 1


def test_a_single_cluster_has_no_pooled_interval_at_all():
    found = judge_accuracy(*items(15, 3, 3, 15), clusters=["m"] * 36)
    for rate in (found.accuracy, found.kappa, found.mcc, found.balanced_accuracy, found.specificity):
        assert rate.low is None
        assert "no pooled interval" in " ".join(rate.notes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"judge_pass": [0.5, 1]},
        {"reference": [2, 1]},
        {"judge_pass": [1]},
        {"clusters": [1]},
        {"weights": [0, 1]},
        {"strata": [1, 2, 3]},
    ],
)
def test_arguments_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"item 0|one length"):
        judge_accuracy(**{"reference": [1, 0], "judge_pass": [1, 0], **wrong})


def test_missing_verdicts_are_counted_and_bounded():
    found = missing_verdicts([1, 1, 0, 0.5, np.nan], [1, np.nan, 0, np.nan, 1])
    assert found.n_missing == 2
    assert found.share.value == pytest.approx(0.4)
    assert (found.pass_rate.low.value, found.pass_rate.high.value) == pytest.approx((0.4, 0.8))
    assert (found.accuracy.low.value, found.accuracy.high.value) == pytest.approx((2.5 / 4, 3.5 / 4))


def test_models_that_lose_verdicts_at_different_rates_block_pooled_claims():
    judge = np.ones(2000)
    judge[:60] = np.nan
    model = np.repeat(["a", "b"], 1000)
    assert missing_by_group(judge, groups=model).blocks_pooling
    judge = np.ones(2000)
    judge[[0, 1000, 1001]] = np.nan
    assert not missing_by_group(judge, groups=model).blocks_pooling
    assert missing_by_group(np.ones(4), groups=list("aabb")).p_value.undefined_because == "one_class_only"
    assert missing_by_group([], groups=[]).shares == ()


def test_the_polarity_alarm_needs_both_contradiction_and_evidence():
    def alarm(agreed, n):
        return polarity_tripwire([1] * n, [1] * agreed + [0] * (n - agreed), clusters=["m"] * n)[0].raised

    assert alarm(0, 9)
    assert alarm(1, 9)
    assert not alarm(2, 9)
    assert not alarm(9, 9)
    assert polarity_tripwire([], [], clusters=[]) == ()


tables = st.tuples(*[st.integers(0, 12)] * 4).filter(lambda cells: sum(cells) > 0)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_coefficients_equal_those_of_scikit_learn(cells):
    reference, judge = items(*cells)
    found = judge_accuracy(reference, judge)
    if found.kappa.defined:
        assert found.kappa.value == pytest.approx(
            cohen_kappa_score(reference, judge, labels=[0, 1]), abs=1e-12
        )
    if found.mcc.defined:
        assert found.mcc.value == pytest.approx(matthews_corrcoef(reference, judge), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from([None, 3, 7, 12]))
def test_every_interval_holds_its_value_and_stays_within_its_range(cells, n_clusters):
    reference, judge = items(*cells)
    clusters = None if n_clusters is None else np.arange(len(judge)) % n_clusters
    found = judge_accuracy(reference, judge, clusters=clusters)
    for name, rate in estimates(found).items():
        if rate.low is not None:
            assert rate.low <= rate.value <= rate.high, name
            assert (0 if name in RATES else -1) <= rate.low
            assert rate.high <= 1


@settings(max_examples=30, deadline=None)
@given(tables)
def test_exchanging_the_classes_exchanges_the_rates(cells):
    reference, judge = items(*cells)
    found, turned = judge_accuracy(reference, judge), judge_accuracy(1 - reference, 1 - judge)
    assert found.sensitivity.value == turned.specificity.value
    assert found.ppv.value == turned.npv.value
    assert found.accuracy.value == turned.accuracy.value


def test_the_large_sample_interval_has_no_width_at_the_ends_and_says_so():
    table = confusion(*items(10, 0, 0, 10))
    assert kappa_large_sample(table).low is None
    assert "no width" in kappa_large_sample(table).notes[0]
    assert kappa_large_sample(confusion([], [])).undefined_because == "no_items"
