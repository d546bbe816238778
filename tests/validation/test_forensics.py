"""What published figures imply."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from validation.forensics import compatible_sizes, compatible_tables, implied_test, review_designs
from validation.published_retest import implied_prevalence, minority_ratings, pairwise_from_unanimous

VECTORS = shared_json("vectors.json") or {}
needs_vectors = pytest.mark.skipif(not VECTORS, reason="vectors.json is not there")


@needs_vectors
@pytest.mark.parametrize("n", [36, 162])
def test_published_accuracy_and_kappa_leave_the_error_rates_open(n: int) -> None:
    expected = VECTORS["T1.3_forensic"]
    found = compatible_tables(n=n, agreement=expected["acc_pct"] / 100, kappa=expected["kappa"])
    assert len(found.tables) == expected[f"n{n}_tables"]
    assert found.sensitivity == pytest.approx(expected["sens_range"], abs=1e-4)
    assert found.specificity == pytest.approx(expected["spec_range"], abs=1e-4)
    assert [found.agreement.low, found.agreement.high] == pytest.approx(expected[f"wilson{n}"], abs=1e-4)
    assert found.expected_agreement == pytest.approx((0.5, 0.5), abs=2e-3)


def test_the_published_pair_is_possible_only_for_multiples_of_six() -> None:
    assert compatible_sizes(agreement=0.833, kappa=0.667, largest=180) == list(range(6, 181, 6))


def test_the_published_kappa_has_the_large_sample_interval() -> None:
    found = compatible_tables(n=36, agreement=0.833, kappa=0.667).kappa
    assert [found.low, found.high] == pytest.approx([0.42, 0.91], abs=5e-3)


def test_an_impossible_pair_has_no_table_and_no_interval_of_kappa() -> None:
    found = compatible_tables(n=36, agreement=0.833, kappa=0.95)
    assert not found.possible
    assert found.sensitivity is None
    assert found.kappa.undefined_because == "no_compatible_table"


def test_the_published_review_has_one_design_with_eighteen_components() -> None:
    overlap = review_designs(ratings=171, items=36, items_per_metric=9, most_raters=5, fewest_raters=2)
    single = review_designs(ratings=126, items=126, items_per_metric=9, most_raters=1)
    assert [one.raters_per_metric for one in overlap] == [(5, 5, 5, 4)]
    assert [one.raters_per_metric for one in single] == [(1,) * 14]
    assert overlap[0].n_components + single[0].n_components == 18
    assert sum(overlap[0].raters_per_metric) + sum(single[0].raters_per_metric) == 33
    assert review_designs(ratings=170, items=36, items_per_metric=9, most_raters=5) == []


@pytest.mark.parametrize(("unanimous", "pairwise"), [(0.825, 0.883), (0.75, 0.833), (0.90, 0.933)])
def test_two_of_the_three_retest_figures_are_one(unanimous: float, pairwise: float) -> None:
    assert pairwise_from_unanimous(unanimous) == pytest.approx(pairwise, abs=5e-4)
    assert pairwise_from_unanimous(unanimous, runs=2) == unanimous


def test_kappa_pins_the_present_rate() -> None:
    assert implied_prevalence(agreement=5 / 6, kappa=0.6528) == pytest.approx((0.4, 0.6), abs=1e-3)
    assert implied_prevalence(agreement=14 / 15, kappa=0.8152) == pytest.approx((0.236, 0.764), abs=1e-3)
    assert implied_prevalence(agreement=0.5, kappa=0.9) is None
    assert implied_prevalence(agreement=1.0, kappa=1.0) is None


def test_the_strata_of_the_published_retest_add_up() -> None:
    paper = (shared_json("oracles.json") or {"paper": None})["paper"]
    if paper is None:
        pytest.skip("oracles.json is not there")
    counts = {
        name: minority_ratings(
            items=paper[name]["n"],
            unanimous=paper[name]["n"] - paper[name]["split_items"],
            kappa=round(paper[name]["fleiss"], 3),
        )
        for name in ("all", "positive", "negative")
    }
    assert counts["positive"] == [paper["positive"]["minority_ratings"]]
    assert counts["negative"] == [paper["negative"]["minority_ratings"]]
    assert counts["all"] == [counts["positive"][0] + counts["negative"][0]]


@needs_vectors
def test_an_unadjusted_difference_does_not_survive_its_comparisons() -> None:
    expected = VECTORS["T11.2"]["TerraLuna_neg"]
    z, p, adjusted = implied_test(
        difference=expected["diff"], low=expected["ci"][0], high=expected["ci"][1], comparisons=45
    )
    assert z == pytest.approx(expected["z"], abs=5e-3)
    assert p == pytest.approx(expected["p"], abs=1e-4)
    assert adjusted == pytest.approx(expected["p_x45"], abs=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 40), st.data())
def test_a_real_table_is_always_among_those_compatible_with_its_own_figures(
    n: int, data: st.DataObject
) -> None:
    tp = data.draw(st.integers(0, n))
    fn = data.draw(st.integers(0, n - tp))
    fp = data.draw(st.integers(0, n - tp - fn))
    tn = n - tp - fn - fp
    expected = ((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn)) / n**2
    if expected == 1:
        return
    agreement = (tp + tn) / n
    found = compatible_tables(
        n=n, agreement=round(agreement, 3), kappa=round((agreement - expected) / (1 - expected), 3)
    )
    assert [tp, fn, fp, tn] in found.tables.tolist()


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="n=0"):
        compatible_tables(n=0, agreement=0.5, kappa=0)
    with pytest.raises(ValueError, match="agreement=83"):
        compatible_tables(n=36, agreement=83.3, kappa=0.667)
    with pytest.raises(ValueError, match="runs=4"):
        pairwise_from_unanimous(0.8, runs=4)
    with pytest.raises(ValueError, match="no width"):
        implied_test(difference=1, low=1, high=1)
    with pytest.raises(ValueError, match="items_per_metric=0"):
        review_designs(ratings=1, items=1, items_per_metric=0, most_raters=1)
