import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from validation.borrowed_rates import borrowed_rates
from validation.clustered_rate import clustered_rate, rate_from_rectifiers
from validation.corrected_rates import choose_estimator, corrected_rates
from validation.judge_accuracy import judge_accuracy
from validation.ppi import ppi_mean, stratified_ppi
from validation.prevalence import post_stratified
from validation.rogan_gladen import ErrorCounts, lang_reiczigel, rate_bounds, rogan_gladen
from validation.sampling_weights import hajek, horvitz_thompson, verdict_weights

VECTORS = shared_json("vectors.json")
Y, F = np.repeat([1, 0], [50, 40]), np.repeat([1, 0, 0, 1], [45, 5, 34, 6])
UNLABELLED = np.repeat([1, 0], [650, 350])


def by_verdict():
    """The labels of T4.3: 60 reviewed under each verdict."""
    return np.repeat([1, 0, 1, 0], [54, 6, 12, 48]).astype(float), np.repeat([1, 0], 60).astype(float)


def test_the_worked_rogan_gladen_and_lang_reiczigel(shared):
    case = VECTORS["T4.1_RG"]
    errors = ErrorCounts(true_pass=case["tp"], passes=case["nse"], true_fail=case["tn"], fails=case["nsp"])
    found = rogan_gladen(case["x"], judged=case["N"], errors=errors)
    assert found.value == pytest.approx(case["rg"], abs=1e-5)
    assert (found.low, found.high) == pytest.approx(case["lang_reiczigel"], abs=1e-4)
    assert lang_reiczigel(26, judged=40, errors=errors) == pytest.approx(case["N40_x26_LR"], abs=1e-4)
    assert "transport" in found.notes[0]


def test_the_worked_prediction_powered_means(shared):
    case = VECTORS["T4.2_ppi"]
    for lam, key in ((None, "ppi_pp"), (1.0, "ppi_lam1")):
        found = ppi_mean(Y, predictions=F, unlabelled=UNLABELLED, lam=lam)
        got = [found.rate.value, found.rate.low, found.rate.high]
        assert got == pytest.approx([case[key][0], *case[key][-2:]], abs=1e-6)
    assert ppi_mean(Y, predictions=F, unlabelled=UNLABELLED).lam.value == pytest.approx(
        case["ppi_pp"][1], abs=1e-5
    )


def test_the_worked_verdict_balanced_review(shared):
    case = VECTORS["T4.3_by_verdict"]
    labels, verdicts = by_verdict()
    x, N = case["x"], case["N"]
    found = post_stratified(x, judged=N, reviewed_pass=(54, 60), reviewed_fail=(12, 60))
    assert found.rate.value == pytest.approx(case["poststrat"], abs=1e-9)
    assert found.standard_error.value == pytest.approx(case["poststrat_se"], abs=1e-4)
    assert (found.rate.low, found.rate.high) == pytest.approx((0.587, 0.710), abs=2e-3)

    raw = rogan_gladen(x, judged=N, errors=ErrorCounts(true_pass=54, passes=66, true_fail=48, fails=54))
    assert raw.value == pytest.approx(case["naive_RG"], abs=1e-4)
    weights = verdict_weights(verdicts, judge_passes=x, judged=N)
    unlabelled = np.repeat([1, 0], [x, N - x])
    means = [
        ppi_mean(labels, predictions=verdicts, unlabelled=unlabelled, weights=w).rate.value
        for w in (None, weights)
    ]
    assert means == pytest.approx(case["ppi_unweighted_weighted"], abs=1e-4)

    errors = judge_accuracy(labels, verdicts, weights=weights)
    youden = errors.sensitivity.value + errors.specificity.value - 1
    assert (x / N + errors.specificity.value - 1) / youden == pytest.approx(case["poststrat"], abs=1e-9)


def test_the_worked_rectifiers_of_four_metrics(shared):
    case = VECTORS["T4.4_cluster_ppi"]
    found = rate_from_rectifiers(
        case["rectifier_by_metric"], judge_rate=case["judge_rate"], n=36, fewest_clusters=2
    )
    assert found.rate.value == pytest.approx(case["theta"], abs=1e-4)
    assert found.standard_error.value == pytest.approx(case["se"], abs=1e-4)
    assert (found.rate.low, found.rate.high) == pytest.approx(case["t3_ci"], abs=1e-3)
    withheld = rate_from_rectifiers(case["rectifier_by_metric"], judge_rate=0.687, n=36).rate
    assert withheld.low is None
    assert "no pooled interval" in withheld.notes[0]


def test_items_and_their_rectifiers_give_one_clustered_rate():
    rng = np.random.default_rng(4)
    metric = np.repeat(np.arange(6), 40)
    judge = rng.integers(0, 2, 240).astype(float)
    reference = np.where(rng.random(240) < 0.3, np.round(rng.random(240)), np.nan)
    found = clustered_rate(reference, judge, clusters=metric)
    means = [np.nanmean((reference - judge)[metric == m]) for m in range(6)]
    by_hand = rate_from_rectifiers(means, judge_rate=judge.mean(), n=found.rate.n)
    assert found.rate.value == pytest.approx(by_hand.rate.value)
    assert found.standard_error.value == pytest.approx(by_hand.standard_error.value)
    ratio = found.standard_error.value / found.item_standard_error.value
    assert found.inflation.value == pytest.approx(ratio)


def test_post_stratification_is_stratified_ppi_by_verdict():
    labels, verdicts = by_verdict()
    stratified = stratified_ppi(
        labels,
        predictions=verdicts,
        unlabelled=UNLABELLED,
        strata=verdicts,
        unlabelled_strata=UNLABELLED,
    )
    found = post_stratified(650, judged=1000, reviewed_pass=(54, 60), reviewed_fail=(12, 60))
    assert stratified.rate.value == pytest.approx(found.rate.value)
    assert stratified.standard_error.value == pytest.approx(found.standard_error.value)


def test_ppi_that_does_not_listen_to_the_judge_is_hajek():
    rng = np.random.default_rng(0)
    pi = rng.uniform(0.1, 0.9, len(Y))
    found = ppi_mean(Y, predictions=F, unlabelled=UNLABELLED, weights=1 / pi, lam=0.0)
    assert found.rate.value == pytest.approx(hajek(Y, inclusion=pi).value)


def test_a_super_population_widens_the_interval():
    fixed, sample = (
        post_stratified(65, judged=100, reviewed_pass=(54, 60), reviewed_fail=(12, 60), superpopulation=s)
        for s in (False, True)
    )
    assert sample.rate.half_width > fixed.rate.half_width
    assert sample.standard_error.value > fixed.standard_error.value


def test_weights_of_equal_inclusion_change_nothing():
    assert hajek(Y, inclusion=np.full(90, 0.3)).value == pytest.approx(Y.mean())
    assert horvitz_thompson(Y, inclusion=np.full(90, 0.3), judged=300).value == pytest.approx(Y.mean())
    assert "cut to 1" in horvitz_thompson([1, 1], inclusion=[0.1, 0.1], judged=10).notes[0]


def test_rogan_gladen_is_refused_where_the_judge_may_be_at_chance():
    weak = ErrorCounts(true_pass=6, passes=10, true_fail=6, fails=10)
    assert rogan_gladen(5, judged=10, errors=weak).undefined_because == "judge_may_be_no_better_than_chance"
    one_class = ErrorCounts(true_pass=6, passes=10, true_fail=0, fails=0)
    assert rogan_gladen(5, judged=10, errors=one_class).undefined_because == "one_class_only"
    inverted = ErrorCounts(true_pass=0, passes=10, true_fail=0, fails=10)
    assert lang_reiczigel(5, judged=10, errors=inverted) is None
    with pytest.raises(ValueError, match="impossible"):
        ErrorCounts(true_pass=2, passes=1, true_fail=0, fails=0)


def test_boxes_of_error_rates_bound_the_rate_that_point_rates_give():
    errors = ErrorCounts(true_pass=45, passes=50, true_fail=34, fails=40)
    exact = rate_bounds(650, judged=1000, sensitivity=(0.9, 0.9), specificity=(0.85, 0.85))
    assert (
        exact.low.value
        == exact.high.value
        == pytest.approx(rogan_gladen(650, judged=1000, errors=errors).value)
    )
    wide = rate_bounds(650, judged=1000, sensitivity=(0.4, 0.9), specificity=(0.5, 0.9))
    assert (wide.low.value, wide.high.value) == (0, 1)
    with pytest.raises(ValueError, match="sensitivity"):
        rate_bounds(1, judged=2, sensitivity=(0.9, 0.8), specificity=(0.8, 0.9))


@pytest.mark.parametrize(
    ("situation", "estimator"),
    [
        ({"labels_from": "group", "reviewed_pass": 20, "reviewed_fail": 20}, "post_stratified"),
        ({"labels_from": "group", "reviewed_pass": 100, "reviewed_fail": 120}, "ppi"),
        ({"labels_from": "group", "reviewed_pass": 20, "reviewed_fail": 20, "soft_scores": True}, "ppi"),
        ({"labels_from": "group", "reviewed_pass": 20, "reviewed_fail": 0}, "borrowed"),
        ({"labels_from": "group", "reviewed_pass": 4, "reviewed_fail": 3}, "borrowed"),
        ({"labels_from": "elsewhere", "reviewed_pass": 0, "reviewed_fail": 0}, "rogan_gladen"),
        ({"labels_from": "hand_picked", "reviewed_pass": 99, "reviewed_fail": 99}, "bounds"),
    ],
)
def test_the_choice_of_an_estimator_follows_the_table_and_says_why(situation, estimator):
    choice = choose_estimator(**situation)
    assert choice.estimator == estimator
    assert choice.because
    assert (choice.flag is None) == (estimator in ("post_stratified", "ppi"))


def test_an_unknown_source_of_labels_is_refused():
    with pytest.raises(ValueError, match="nowhere"):
        choose_estimator(labels_from="nowhere", reviewed_pass=1, reviewed_fail=1)


def study(seed=0, groups=5, each=200, share=0.2):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), each)
    truth = rng.random(len(group)) < 0.4 + 0.1 * group
    judge = np.where(rng.random(len(group)) < 0.85, truth, ~truth).astype(float)
    return np.where(rng.random(len(group)) < share, truth, np.nan), judge, group, truth


def test_each_group_gets_the_estimator_its_labels_allow():
    reference, judge, group, _ = study()
    reference[group == 1] = np.nan
    judge[:3] = np.nan
    found = corrected_rates(reference, judge, groups=group)
    assert [rate.choice.estimator for rate in found] == ["post_stratified", "borrowed"] + [
        "post_stratified"
    ] * 3
    assert all(0 <= rate.rate.low <= rate.rate.value <= rate.rate.high <= 1 for rate in found)
    assert "borrowed" in found[1].rate.notes[-1]
    assert found[0].rate.n == int((~np.isnan(reference) & ~np.isnan(judge) & (group == 0)).sum())


def test_many_labels_go_to_ppi_and_agree_with_post_stratification():
    reference, judge, group, truth = study(groups=1, each=2000)
    (found,) = corrected_rates(reference, judge, groups=group)
    assert found.choice.estimator == "ppi"
    n1, n0 = (~np.isnan(reference) & (judge == v) for v in (1, 0))
    direct = post_stratified(
        int(judge.sum()),
        judged=2000,
        reviewed_pass=(reference[n1].sum(), n1.sum()),
        reviewed_fail=(reference[n0].sum(), n0.sum()),
    )
    assert found.rate.value == pytest.approx(direct.rate.value, abs=1e-9)
    assert found.rate.low < truth.mean() < found.rate.high


def test_known_inclusion_probabilities_undo_a_lopsided_sample():
    rng = np.random.default_rng(5)
    truth = np.repeat([1.0, 0.0], 500)
    judge = np.ones(1000)
    judge[::10] = 0
    pi = np.where(truth == 1, 0.2, 0.05)
    reference = np.where(rng.random(1000) < pi, truth, np.nan)
    (weighted,) = corrected_rates(reference, judge, groups=np.zeros(1000), inclusion=pi)
    (plain,) = corrected_rates(reference, judge, groups=np.zeros(1000))
    assert abs(weighted.rate.value - 0.5) < abs(plain.rate.value - 0.5)


def test_nothing_reviewed_or_judged_gives_reasons():
    nothing = post_stratified(5, judged=10, reviewed_pass=(0, 0), reviewed_fail=(0, 0))
    assert nothing.rate.undefined_because == "no_ratings"
    assert nothing.judge_rate.value == 0.5
    assert (
        post_stratified(0, judged=0, reviewed_pass=(0, 0), reviewed_fail=(0, 0)).rate.undefined_because
        == "no_items"
    )
    empty = post_stratified(5, judged=10, reviewed_pass=(1, 3), reviewed_fail=(0, 0)).rate
    assert empty.undefined_because == "empty_verdict_stratum"
    assert post_stratified(10, judged=10, reviewed_pass=(3, 3), reviewed_fail=(0, 0)).rate.value == 1
    assert ppi_mean([], predictions=[], unlabelled=[1]).rate.undefined_because == "no_ratings"
    assert ppi_mean([1], predictions=[1], unlabelled=[1]).rate.undefined_because == "too_few_items"
    assert ppi_mean([1, 1], predictions=[1, 1], unlabelled=[1]).rate.low is None
    strata = {"strata": [0, 0], "unlabelled_strata": [1]}
    assert (
        stratified_ppi([1, 0], predictions=[1, 0], unlabelled=[1], **strata).rate.undefined_because
        == "empty_stratum"
    )
    assert hajek([], inclusion=[]).undefined_because == "no_items"
    assert horvitz_thompson([], inclusion=[], judged=5).undefined_because == "no_ratings"
    assert clustered_rate([np.nan], [1], clusters=["m"]).rate.undefined_because == "no_ratings"
    assert clustered_rate([1.0], [1], clusters=["m"]).rate.low is None
    assert rate_from_rectifiers([], judge_rate=0.5, n=0).rate.undefined_because == "no_ratings"
    assert corrected_rates([], [], groups=[]) == ()
    assert borrowed_rates([[5, 10, 0, 0, 0, 0]])[0].undefined_because == "no_ratings"
    (unjudged,) = corrected_rates([1], [np.nan], groups=["g"])
    assert unjudged.rate.undefined_because == "no_items"
    assert (
        rogan_gladen(0, judged=0, errors=ErrorCounts(true_pass=1, passes=1, true_fail=1, fails=1)).value
        is None
    )
    assert (
        rate_bounds(0, judged=0, sensitivity=(1, 1), specificity=(1, 1)).low.undefined_because == "no_items"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: post_stratified(2, judged=1, reviewed_pass=(0, 0), reviewed_fail=(0, 0)),
        lambda: verdict_weights([0.5], judge_passes=1, judged=2),
        lambda: hajek([1], inclusion=[0]),
        lambda: rate_from_rectifiers([0.1], judge_rate=1.1, n=1),
        lambda: corrected_rates([1], [0.5], groups=[1]),
        lambda: ppi_mean([1], predictions=[1, 0], unlabelled=[1]),
        lambda: ppi_mean([1, 0], predictions=[1, 0], unlabelled=[1], weights=[0, 1]),
        lambda: rogan_gladen(3, judged=2, errors=ErrorCounts(true_pass=1, passes=1, true_fail=1, fails=1)),
        lambda: rate_bounds(3, judged=2, sensitivity=(1, 1), specificity=(1, 1)),
    ],
)
def test_impossible_arguments_are_refused(call):
    with pytest.raises(ValueError, match=r"cannot be|0 or 1|probability|judge_rate|one length|above 0"):
        call()


reviewed = st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=40, deadline=None)
@given(reviewed, reviewed, st.integers(0, 100))
def test_post_stratified_intervals_hold_their_value_and_mirror(passed, failed, x):
    found = post_stratified(x, judged=100, reviewed_pass=passed, reviewed_fail=failed, draws=2000).rate
    assert 0 <= found.low <= found.value <= found.high <= 1
    turned = post_stratified(
        x,
        judged=100,
        reviewed_pass=(passed[1] - passed[0], passed[1]),
        reviewed_fail=(failed[1] - failed[0], failed[1]),
        draws=2000,
    ).rate
    assert turned.value == pytest.approx(1 - found.value)
