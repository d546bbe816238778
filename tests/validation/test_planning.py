"""Sample sizes and the overlap planner."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from validation.agreement import krippendorff_alpha
from validation.balanced_design import balanced_design
from validation.overlap import items_for_kappa, kappa_half_width, kappa_variance, overlap_plan, pass_count_pmf
from validation.planning import (
    chance_of_at_most,
    confirmations_needed,
    design_effect,
    detectable_difference,
    detectable_self_preference,
    honeypot_alert,
    items_for_difference,
    items_for_mean_difference,
    items_for_share,
    share_half_width,
    upper_bound_of_none,
)
from validation.ratings import Ratings

VECTORS = shared_json("vectors.json") or {}
needs_vectors = pytest.mark.skipif(not VECTORS, reason="vectors.json is not there")


@needs_vectors
@pytest.mark.parametrize(("kappa", "prevalence"), [(0.6, 0.5), (0.4, 0.5), (0.6, 0.2)])
def test_the_closed_form_for_two_raters_is_bloch_and_kraemers(kappa: float, prevalence: float) -> None:
    name = f"k{kappa:g}_pi{prevalence:g}".replace("0.", ".")
    assert kappa_variance(kappa, prevalence=prevalence) == pytest.approx(
        VECTORS["T10.2"]["BK_var"][name], abs=1e-3
    )
    assert (
        items_for_kappa(kappa, prevalence=prevalence, half_width=0.1) == VECTORS["T10.2"]["N_hw.1_m2"][name]
    )


def test_the_overlap_table_is_reproduced_and_three_or_four_raters_are_cheapest() -> None:
    plan = overlap_plan(0.6, prevalence=0.5, half_width=0.10, seed=1)
    published = {2: 261, 3: 145, 4: 106, 5: 98, 8: 75}
    for option in plan.options:
        assert option.items == pytest.approx(published[option.raters], rel=0.09)
        assert option.ratings == option.items * option.raters
    assert plan.cheapest.raters in (3, 4)


def test_with_weaker_agreement_four_or_five_raters_are_cheapest() -> None:
    assert overlap_plan(0.4, prevalence=0.5, half_width=0.10, seed=1).cheapest.raters in (4, 5)


def test_half_of_the_precision_needs_sixty_five_items_of_three_raters() -> None:
    (option,) = overlap_plan(0.6, prevalence=0.5, half_width=0.15, raters=[3], seed=1).options
    assert option.items == pytest.approx(65, rel=0.06)


def test_simulation_and_closed_form_agree_for_two_raters_and_many_items() -> None:
    half = kappa_half_width(0.6, prevalence=0.3, raters=2, items=1500, seed=0, resamples=20_000)
    assert half == pytest.approx(1.96 * (kappa_variance(0.6, prevalence=0.3) / 1500) ** 0.5, rel=0.03)


def test_too_few_items_to_show_both_classes_have_no_half_width() -> None:
    assert kappa_half_width(0.9, prevalence=0.02, raters=2, items=3, seed=0) is None


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 1), st.floats(0.05, 0.95), st.integers(2, 9))
def test_pass_counts_have_the_right_mean_and_agreement(kappa: float, prevalence: float, raters: int) -> None:
    pmf = pass_count_pmf(kappa, prevalence, raters)
    assert pmf.sum() == pytest.approx(1)
    assert sum(k * p for k, p in enumerate(pmf)) == pytest.approx(prevalence * raters, rel=1e-6)
    both = sum(k * (k - 1) * p for k, p in enumerate(pmf)) / (raters * (raters - 1))
    assert both == pytest.approx(prevalence**2 + kappa * prevalence * (1 - prevalence), rel=1e-4)


@needs_vectors
def test_a_balanced_design_is_recognised() -> None:
    expected = VECTORS["T10.1"]
    found = balanced_design(expected["fano_blocks"], raters=7)
    assert found is not None
    assert (found.items_per_pair, found.items_per_rater) == (expected["lambda"], expected["r"])
    assert balanced_design(expected["fano_blocks"][:-1], raters=7) is None
    assert balanced_design([[0, 0, 1]], raters=3) is None
    assert balanced_design([], raters=3) is None


@needs_vectors
def test_adaptive_overlap_needs_the_core_or_weights() -> None:
    expected = VECTORS["T10.3_adaptive"]
    generator = np.random.default_rng(1)
    items = 20_000
    passes = generator.random((items, 5)) < generator.beta(0.5, 0.5, items)[:, None]
    split = passes[:, 0] != passes[:, 1]
    pi = np.where(split, 1.0, 0.2)
    extra = generator.random(items) < pi
    everything = np.where(extra[:, None] | (np.arange(5) < 2), passes, -1)

    def alpha(codes: np.ndarray, weights: np.ndarray | None = None) -> float | None:
        table = Ratings(
            codes=codes.astype(np.int64),
            categories=(0, 1),
            units=tuple(range(len(codes))),
            raters=tuple(range(codes.shape[1])),
        )
        return krippendorff_alpha(table, unit_weights=weights).value

    assert alpha(everything) == pytest.approx(expected["naive_mixed"], abs=0.02)
    assert alpha(everything[:, :2]) == pytest.approx(expected["stage1_only"], abs=0.02)
    assert alpha(passes[extra], 1 / pi[extra]) == pytest.approx(expected["ipw_full5"], abs=0.02)
    assert alpha(passes[extra]) == pytest.approx(expected["unweighted_full5"], abs=0.02)


@needs_vectors
def test_sizes_for_self_preference_are_reproduced() -> None:
    expected = VECTORS["T6.2_power"]
    assert items_for_difference(0.25, 0.15)[0] == pytest.approx(
        expected["FPR_.15_vs_.25_n_per_arm"], abs=0.05
    )
    assert items_for_difference(0.25, 0.15, ratio=4) == pytest.approx(expected["ratio4_own_other"], abs=0.1)
    for items, name in ((162, "MDE_162items_20pct_own"), (1200, "MDE_1200")):
        assert detectable_self_preference(0.15, items=items, fail_share=0.4, own_share=0.2) == pytest.approx(
            expected[name], abs=1e-3
        )
    assert items_for_mean_difference(0.021, variance=0.15) == pytest.approx(
        expected["n_per_model_2.1pp"], abs=1
    )


@pytest.mark.parametrize(
    ("items", "effect"), [(162, 0.41), (297, 0.30), (600, 0.21), (1200, 0.14), (2400, 0.09)]
)
def test_the_detectable_false_pass_gap_shrinks_as_published(items: int, effect: float) -> None:
    found = detectable_self_preference(0.15, items=items, fail_share=0.4, own_share=0.2)
    assert found == pytest.approx(effect, abs=6e-3)


def test_nothing_is_detectable_with_no_or_too_few_items() -> None:
    assert detectable_difference(0.15, n_first=0, n_second=50) is None
    assert detectable_difference(0.9, n_first=2, n_second=50) is None
    assert detectable_self_preference(0.15, items=0, fail_share=0.4, own_share=0.2) is None


def test_clustering_asks_for_more_items() -> None:
    effect = design_effect(items_per_cluster=9, intraclass=0.1)
    plain = items_for_share(0.83, half_width=0.07)
    assert plain == pytest.approx(110, abs=2)
    assert items_for_share(0.83, half_width=0.07, effect=effect) == pytest.approx(plain * effect, abs=1)
    assert share_half_width(0.83, n=plain) == pytest.approx(0.07, abs=2e-3)
    assert share_half_width(0.83, n=plain, effect=2) > share_half_width(0.83, n=plain)


@needs_vectors
def test_nothing_seen_still_leaves_an_upper_bound() -> None:
    expected = VECTORS["T9.2"]
    assert upper_bound_of_none(60) == pytest.approx(expected["0/60_upper95"], abs=1e-4)
    assert upper_bound_of_none(10) == pytest.approx(expected["10/10_upper95"], abs=1e-4)
    assert upper_bound_of_none(0) == 1
    assert confirmations_needed(0.1) == expected["n_all_confirmed_for_<.1"]


def test_honeypots_catch_guessers_and_spare_careful_raters() -> None:
    assert chance_of_at_most(6, n=10, accuracy=0.9) == pytest.approx(0.013, abs=5e-4)
    assert chance_of_at_most(6, n=10, accuracy=0.6) == pytest.approx(0.62, abs=5e-3)
    assert honeypot_alert(3, n=10)
    assert not honeypot_alert(9, n=10)
    assert not honeypot_alert(0, n=0)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: kappa_variance(1.2, prevalence=0.5), "kappa=1"),
        (lambda: kappa_variance(0.5, prevalence=0), "prevalence=0"),
        (lambda: items_for_kappa(0.5, prevalence=0.5, half_width=0), "half_width=0"),
        (lambda: kappa_half_width(0.5, prevalence=0.5, raters=1, items=9, seed=0), "raters=1"),
        (lambda: overlap_plan(1, prevalence=0.5, half_width=0.1, seed=0), "kappa=1"),
        (lambda: overlap_plan(0.5, prevalence=0.5, half_width=0.1, raters=(), seed=0), "names no number"),
        (lambda: items_for_difference(0.2, 0.2), "no difference"),
        (lambda: items_for_mean_difference(0, variance=0.1), "no difference"),
        (lambda: honeypot_alert(11, n=10), "right=11"),
        (lambda: confirmations_needed(1), "below=1"),
    ],
)
def test_wrong_arguments_are_named(call, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        call()
