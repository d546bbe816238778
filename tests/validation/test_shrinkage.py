import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc

from tests.material import shared_json
from validation.shrinkage import maximum_likelihood, shrink

VECTORS = shared_json("vectors.json")
counts = st.lists(
    st.integers(0, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=8
).filter(lambda pairs: any(n for _, n in pairs))


def test_the_worked_example_of_eight_metrics(shared):
    case = VECTORS["T3.2_eb"]
    pooled = shrink(case["k"], trials=case["n"])
    assert [rate.value for rate in pooled.rates] == pytest.approx(case["post_mean"], abs=1e-3)
    assert [1 - p.value for p in pooled.below] == pytest.approx(case["P_gt_.75"], abs=1e-3)
    assert (pooled.rates[0].low, pooled.rates[0].high) == pytest.approx(case["post_ci_3of3"], abs=1e-3)


def test_the_likelihood_check_of_the_worked_example(shared):
    case = VECTORS["T3.2_eb"]
    mu, precision = maximum_likelihood(case["k"], trials=case["n"])
    assert mu.value == pytest.approx(case["mle_mu_M"][0], abs=1e-3)
    assert precision.value == pytest.approx(case["mle_mu_M"][1], abs=0.05)


def test_the_likelihood_check_runs_to_complete_pooling_where_metrics_look_alike():
    mu, precision = maximum_likelihood([8, 8, 7, 8], trials=[9] * 4)
    assert precision.value == pytest.approx(1e4, rel=1e-3)
    assert "complete pooling" in mu.notes[0]


def test_interval_ends_cut_two_and_a_half_percent_off_the_posterior_drawn_by_another_route():
    k, n = np.array([3, 2, 9, 5, 12]), np.array([3, 3, 9, 9, 80])
    pooled = shrink(k, trials=n)
    mu, size = np.meshgrid(np.linspace(0.005, 0.995, 199), np.geomspace(1, 200, 80), indexing="ij")
    a, b = (mu * size).ravel(), ((1 - mu) * size).ravel()
    from scipy.stats import betabinom

    weight = np.exp(betabinom.logpmf(k[:, None], n[:, None], a, b).sum(axis=0))
    weight /= weight.sum()
    for successes, trials, rate in zip(k, n, pooled.rates, strict=True):
        cdf = [betainc(a + successes, b + trials - successes, end) @ weight for end in (rate.low, rate.high)]
        assert cdf == pytest.approx([0.025, 0.975], abs=5e-4)


def test_a_metric_with_very_many_items_keeps_its_own_rate():
    big = shrink([99_000, 3, 0], trials=[100_000, 9, 9]).rates[0]
    assert big.value == pytest.approx(0.99, abs=1e-3)
    assert (big.low, big.high) == pytest.approx((0.98937, 0.99060), abs=5e-5)


def test_a_metric_that_nobody_reviewed_has_the_prior_predictive_and_says_so():
    pooled = shrink([9, 8, 0], trials=[9, 9, 0])
    unseen = pooled.rates[2]
    assert (unseen.value, unseen.low, unseen.high) == pytest.approx(
        (pooled.next_metric[0].value, pooled.next_metric[0].low, pooled.next_metric[0].high)
    )
    assert unseen.n == 0
    assert "not reviewed" in unseen.notes[0]


def test_groups_are_fitted_apart_only_with_six_metrics_each():
    high, low = [9] * 6, [2] * 6
    apart = shrink(high + low, trials=[9] * 12, groups=["+"] * 6 + ["-"] * 6)
    assert [rate.value for rate in apart.rates[:6]] == [
        rate.value for rate in shrink(high, trials=[9] * 6).rates
    ]
    assert len(apart.next_metric) == 2
    together = shrink(high + low[:5], trials=[9] * 11, groups=["+"] * 6 + ["-"] * 5)
    assert len(together.next_metric) == 1
    assert "fitted together" in together.rates[0].notes[0]


@pytest.mark.parametrize("counted", [([], []), ([0, 0], [0, 0])])
def test_without_any_review_there_is_a_reason_and_no_number(counted):
    pooled = shrink(counted[0], trials=counted[1])
    assert {rate.undefined_because for rate in (*pooled.rates, *pooled.next_metric)} == {"no_ratings"}
    assert maximum_likelihood(counted[0], trials=counted[1])[0].undefined_because == "too_few_clusters"


@pytest.mark.parametrize(
    ("k", "n", "threshold"),
    [([4], [3], 0.75), ([-1], [3], 0.75), ([1, 2], [3], 0.75), ([np.nan], [3], 0.75), ([1], [3], 1.0)],
)
def test_impossible_counts_and_thresholds_are_refused(k, n, threshold):
    with pytest.raises(ValueError, match=r"metric 0|lists|threshold"):
        shrink(k, trials=n, threshold=threshold)


@settings(max_examples=10, deadline=None)
@given(counts, st.randoms())
def test_shrunken_rates_keep_inside_their_intervals_and_do_not_depend_on_order(pairs, random):
    pooled = shrink([k for k, _ in pairs], trials=[n for _, n in pairs])
    for rate, below in zip(pooled.rates, pooled.below, strict=True):
        assert 0 <= rate.low <= rate.value <= rate.high <= 1
        assert 0 <= below.value <= 1
    order = list(range(len(pairs)))
    random.shuffle(order)
    again = shrink([pairs[i][0] for i in order], trials=[pairs[i][1] for i in order])
    assert [pooled.rates[i].value for i in order] == pytest.approx([rate.value for rate in again.rates])


@settings(max_examples=10, deadline=None)
@given(counts)
def test_counting_failures_instead_mirrors_every_rate(pairs):
    k, n = np.array(pairs).T
    passes, fails = shrink(k, trials=n), shrink(n - k, trials=n)
    assert [p.value for p in passes.rates] == pytest.approx([1 - f.value for f in fails.rates], abs=1e-9)
    assert [p.low for p in passes.rates] == pytest.approx([1 - f.high for f in fails.rates], abs=2e-3)
