"""Rank sets and the stability of an order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from tests.material import shared_json
from validation.ranking import rank_bounds, rank_sets
from validation.resampled_differences import max_t
from validation.results import Estimate
from validation.stability import expected_discordance, leave_one_out, reweightings, stability
from validation.strata import stratified_weights
from validation.tipping_point import tipping_point

VECTORS = shared_json("vectors.json") or {}
needs_vectors = pytest.mark.skipif(not VECTORS, reason="vectors.json is not there")


@needs_vectors
def test_the_worked_rank_sets_are_reproduced() -> None:
    expected = VECTORS["T11.1"]
    errors = np.full((4, 4), expected["se_other"])
    errors[0, 1] = errors[1, 0] = expected["se_pair_12"]
    found = rank_bounds(np.array(expected["means"]), errors, critical_value=expected["crit"])
    assert found.tolist() == expected["rank_intervals"]


def rates(seed: int, *, means: list[float], metrics: int = 60, noise: float = 0.1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return (
        np.array(means)
        + generator.normal(scale=0.2, size=(metrics, 1))
        + generator.normal(scale=noise, size=(metrics, len(means)))
    )


def test_clear_differences_give_single_ranks_and_near_ties_share_them() -> None:
    found = rank_sets(rates(0, means=[0.9, 0.6, 0.601, 0.3]), names=list("ABCD"), seed=0)
    by_name = {one.name: one for one in found.models}
    assert (by_name["A"].lowest, by_name["A"].highest) == (1, 1)
    assert (by_name["D"].lowest, by_name["D"].highest) == (4, 4)
    assert (by_name["B"].lowest, by_name["B"].highest) == (2, 3)
    assert found.models[0].name == "A"
    assert found.separated[0, 3]
    assert not found.separated[1, 2]
    assert not found.separated[2, 1]


def test_fewer_than_five_metrics_claim_no_order() -> None:
    found = rank_sets(rates(1, means=[0.9, 0.1], metrics=4), names=["A", "B"], seed=0)
    assert [(one.lowest, one.highest) for one in found.models] == [(1, 2), (1, 2)]
    assert found.critical_value is None
    assert not found.separated.any()
    assert "fewer than 5" in found.notes[0]


def test_a_difference_that_never_varies_is_not_infinitely_certain() -> None:
    same = np.tile([0.8, 0.7], (5, 1))
    found = rank_sets(same, names=["A", "B"], seed=0)
    assert found.errors[0, 1] > 0
    assert np.isfinite(found.differences / np.where(found.errors > 0, found.errors, 1)).all()
    assert found.models[0].rate.low is None
    equal = rank_sets(np.full((8, 3), 0.5), names=list("ABC"), seed=0)
    assert [(one.rank, one.lowest, one.highest) for one in equal.models] == [(1, 1, 3)] * 3


def test_models_without_data_are_named_and_not_ranked() -> None:
    values = rates(2, means=[0.9, 0.5, 0.2])
    values[:, 1] = np.nan
    found = rank_sets(values, names=list("ABC"), seed=0)
    assert found.not_ranked == ("B",)
    assert [one.name for one in found.models] == ["A", "C"]
    nothing = rank_sets(np.empty((0, 2)), names=["A", "B"], seed=0)
    assert nothing.not_ranked == ("A", "B")
    assert nothing.models == ()


def test_conversations_weigh_metrics() -> None:
    values = np.array([[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 5)
    weights = np.array([[9.0, 9.0]] * 5 + [[1.0, 1.0]] * 5)
    assert rank_sets(values, names=["A", "B"], seed=0, weights=weights).models[0].rate.value == pytest.approx(
        0.9
    )
    assert rank_sets(values, names=["A", "B"], seed=0).models[0].rate.value == pytest.approx(0.5)


def test_metrics_are_drawn_within_strata_and_lone_ones_together() -> None:
    strata = np.array([0, 0, 0, 1, 1, 2, 3])
    weights = stratified_weights(strata, resamples=200, seed=0)
    assert (weights[:3].sum(axis=0) == 3).all()
    assert (weights[3:5].sum(axis=0) == 2).all()
    assert (weights[5:].sum(axis=0) == 2).all()
    assert weights[5].std() > 0


def test_eighteen_metrics_cover_equal_models_as_often_as_claimed() -> None:
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(150):
        found = rank_sets(generator.normal(size=(18, 6)), names=list("ABCDEF"), seed=generator, resamples=400)
        covered += all((one.lowest, one.highest) == (1, 6) for one in found.models)
    assert covered / 150 >= 0.90


def test_errors_of_differences_are_the_textbook_ones() -> None:
    values = rates(8, means=[0.7, 0.5, 0.4], metrics=25)
    errors = rank_sets(values, names=list("ABC"), seed=0, resamples=50).errors
    apart = values[:, 0] - values[:, 2]
    assert errors[0, 2] == pytest.approx(apart.std(ddof=1) / 5)


def test_small_strata_are_pointed_out() -> None:
    found = rank_sets(rates(3, means=[0.6, 0.5], metrics=12), names=["A", "B"], seed=0)
    assert any("under 20" in note for note in found.notes)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 6))
def test_a_rank_set_holds_the_rank_and_does_not_depend_on_the_order_of_models(seed: int, models: int) -> None:
    values = np.random.default_rng(seed).random((10, models))
    names = list(range(models))
    found = rank_sets(values, names=names, seed=0, resamples=200)
    assert all(one.lowest <= one.rank <= one.highest for one in found.models)
    turned = rank_sets(values[:, ::-1], names=names[::-1], seed=0, resamples=200)
    assert {one.name: (one.rank, one.lowest, one.highest) for one in found.models} == {
        one.name: (one.rank, one.lowest, one.highest) for one in turned.models
    }


def test_the_critical_value_of_one_pair_is_the_plain_quantile() -> None:
    deviations = np.random.default_rng(0).normal(size=20_000)
    cube = np.zeros((20_000, 2, 2))
    cube[:, 0, 1], cube[:, 1, 0] = deviations, -deviations
    assert max_t(cube, np.array([[0, 1.0], [1.0, 0]])) == pytest.approx(1.96, abs=0.04)


def test_a_perturbation_is_compared_as_scipy_does() -> None:
    generator = np.random.default_rng(5)
    primary, other = generator.integers(0, 5, 9) / 5, generator.integers(0, 5, 9) / 5
    found = stability(primary, names=list(range(9)), perturbations={"judge B": other})
    assert found is not None
    (one,) = found.perturbations
    assert one.kendall.value == pytest.approx(kendalltau(primary, other).statistic)
    assert one.spearman.value == pytest.approx(spearmanr(primary, other).statistic)


def test_an_order_is_established_only_if_perturbations_agree() -> None:
    values = rates(6, means=[0.8, 0.5, 0.2])
    ranking = rank_sets(values, names=list("ABC"), seed=0)
    primary = values.mean(axis=0)
    swapped = {f"judge {k}": primary[[1, 0, 2]] if k < 2 else primary for k in range(10)}
    found = stability(primary, names=list("ABC"), perturbations=swapped)
    assert found is not None
    assert found.keeps_first == pytest.approx(0.8)
    assert found.keeps_first_three == 1
    established = found.established(ranking)
    assert established[1, 2]
    assert not established[0, 1]
    assert ranking.separated[0, 1]
    with pytest.raises(ValueError, match="ranking is of"):
        found.established(rank_sets(values, names=list("XYZ"), seed=0))


def test_weights_and_left_out_benchmarks_make_perturbations() -> None:
    benchmarks = np.array([[0.9, 0.1], [0.5, 0.6], [0.4, 0.5]])
    drawn = reweightings(benchmarks, draws=50, seed=0)
    assert len(drawn) == 50
    assert all(((rate >= 0) & (rate <= 1)).all() for rate in drawn.values())
    without = leave_one_out(benchmarks, names=["x", "y", "z"])
    assert without["without x"] == pytest.approx([0.45, 0.55])
    assert leave_one_out(benchmarks[:1], names=["x"]) == {}
    found = stability(benchmarks.mean(axis=0), names=["A", "B"], perturbations=drawn | without)
    assert found is not None
    assert 0 < found.keeps_first < 1


def test_nothing_to_compare_is_none_and_constant_rates_have_no_correlation() -> None:
    assert stability(np.array([0.5, 0.6]), names=["A", "B"], perturbations={}) is None
    assert stability(np.array([0.5]), names=["A"], perturbations={"x": np.array([0.1])}) is None
    found = stability(np.array([0.5, 0.6]), names=["A", "B"], perturbations={"x": np.array([0.1, 0.1])})
    assert found is not None
    assert found.perturbations[0].kendall.undefined_because == "no_variation"


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="2 names"):
        rank_sets(np.zeros((5, 3)), names=["A", "B"], seed=0)
    with pytest.raises(ValueError, match="'x'"):
        stability(np.zeros(2), names=["A", "B"], perturbations={"x": np.zeros(3)})
    with pytest.raises(ValueError, match="NaN"):
        stability(np.zeros(2), names=["A", "B"], perturbations={"x": np.array([np.nan, 1])})
    with pytest.raises(ValueError, match="spearman=2"):
        expected_discordance(2, models=3)


def test_a_spearman_of_sixty_one_hundredths_leaves_many_pairs_the_other_way_round() -> None:
    generator = np.random.default_rng(0)
    r = 2 * np.sin(np.pi * 0.61 / 6)
    x, y = generator.multivariate_normal([0, 0], [[1, r], [r, 1]], size=4000).T
    tau, pairs = expected_discordance(0.61, models=14)
    assert tau == pytest.approx(kendalltau(x, y).statistic, abs=0.02)
    assert pairs == pytest.approx((1 - tau) / 2 * 91)


def test_a_lead_holds_only_if_no_credible_bias_exceeds_it() -> None:
    bias = Estimate(value=0.0, low=-0.01, high=0.01, n=500)
    assert tipping_point(0.021, bias=bias).verdict == "holds"
    assert tipping_point(0.005, bias=bias).verdict == "cannot_tell"
    assert tipping_point(-0.02, bias=bias).verdict == "reversed"
    assert tipping_point(0.5, bias=Estimate.undefined("not_identified", n=0)).verdict == "cannot_tell"
