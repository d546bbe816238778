"""The judge's agreement with itself and the ceilings that follow."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from validation.ceilings import accuracy_ceiling, correlation_ceiling, spearman_brown
from validation.ratings import Ratings
from validation.retest import flip_rates, retest, retest_by
from validation.variance_components import variance_components

VECTORS = shared_json("vectors.json") or {}
needs_vectors = pytest.mark.skipif(not VECTORS, reason="vectors.json is not there")


def three_runs(n3: int, n2: int, n1: int, n0: int) -> Ratings:
    rows = [[1, 1, 1]] * n3 + [[1, 1, 0]] * n2 + [[1, 0, 0]] * n1 + [[0, 0, 0]] * n0
    return Ratings.from_table(rows, categories=[0, 1])


@needs_vectors
@pytest.mark.parametrize("stratum", ["pos", "neg"])
def test_the_published_retest_figures_are_reproduced_from_the_split_counts(stratum: str) -> None:
    found = retest(three_runs(*VECTORS["T7.1"][stratum]))
    published = VECTORS["T7.1"][f"{stratum}_out"]
    assert [found.unanimous.value, found.pairwise.value, found.kappa.value] == pytest.approx(
        published, abs=1e-4
    )


@needs_vectors
def test_both_polarities_together_give_the_pooled_published_figures() -> None:
    both = np.add(VECTORS["T7.1"]["pos"], VECTORS["T7.1"]["neg"])
    found = retest(three_runs(*both))
    assert [found.unanimous.value, found.pairwise.value, found.kappa.value] == pytest.approx(
        VECTORS["T7.1"]["all_out"], abs=1e-4
    )
    assert found.kappa.value == pytest.approx(
        shared_json("oracles.json")["paper"]["all"]["fleiss"], abs=1e-12
    )


@needs_vectors
def test_the_ceilings_are_the_published_ones() -> None:
    expected = VECTORS["T7.2"]
    assert accuracy_ceiling(0.8833) == pytest.approx(expected["pairwise_.8833_max_acc"], abs=1e-4)
    assert correlation_ceiling(0.731) == pytest.approx(expected["sqrt_.731"], abs=1e-3)
    for alpha, name in ((0.121, ".121"), (0.538, ".538")):
        assert correlation_ceiling(0.731, human_alpha=alpha) == pytest.approx(
            expected[f"bound_single_{name}"], abs=1e-3
        )
        assert correlation_ceiling(0.731, human_alpha=alpha, raters=5) == pytest.approx(
            expected[f"bound_maj5_{name}"], abs=1e-3
        )


def test_pairwise_of_three_binary_runs_is_marked_as_restating_unanimity() -> None:
    found = retest(three_runs(5, 2, 2, 5))
    assert found.pairwise.value == pytest.approx(1 - 2 / 3 * (1 - found.unanimous.value))
    assert any("restates" in note for note in found.pairwise.notes)


def test_only_a_majority_against_the_first_run_is_a_decision_flip() -> None:
    table = Ratings.from_table([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, None]], categories=[0, 1])
    found = retest(table)
    assert found.decision_flips.value == pytest.approx(1 / 4)
    assert found.flip_rate.value == pytest.approx(3 / 4)


def test_unequal_runs_fall_back_to_nominal_alpha() -> None:
    found = retest(Ratings.from_table([[1, 0, 0], [1, 1, None], [0, 0, 0]], categories=[0, 1]))
    assert any("alpha" in note for note in found.kappa.notes)


@pytest.mark.parametrize(
    "table",
    [
        Ratings.from_table([], categories=[0, 1]),
        Ratings.from_table([[1], [0]], categories=[0, 1]),
        Ratings.from_table([[None, None]], categories=[0, 1]),
    ],
)
def test_without_a_second_run_nothing_is_estimated(table: Ratings) -> None:
    found = retest(table)
    assert not found.kappa.defined
    assert not found.unanimous.defined
    assert not found.decision_flips.defined
    assert not found.entropy.defined


def test_one_verdict_only_has_agreement_but_no_kappa() -> None:
    found = retest(three_runs(5, 0, 0, 0))
    assert found.unanimous.value == 1
    assert found.kappa.undefined_because == "no_variation"
    assert found.ac1.value == 1


def test_strata_are_tested_apart() -> None:
    table = Ratings.from_table([[1, 1, 1], [1, 0, 1], [0, 0, 0]], categories=[0, 1])
    found = retest_by(table, strata=["positive", "negative", "positive"])
    assert found["positive"].unanimous.value == 1
    assert found["negative"].unanimous.value == 0
    with pytest.raises(ValueError, match="2 strata"):
        retest_by(table, strata=["positive", "negative"])


def test_flip_rates_by_metric_are_drawn_together() -> None:
    rows = [
        {"unit": (m, i), "rater": run, "value": int(run == 0 and i < m), "cluster": m}
        for m in range(6)
        for i in range(10)
        for run in range(3)
    ]
    runs = Ratings.from_frame(pd.DataFrame(rows), categories=[0, 1], cluster="cluster")
    rates = [rate.value for rate in flip_rates(runs).rates]
    assert rates == sorted(rates)
    assert rates[0] > 0
    assert rates[5] < 0.5
    assert retest(runs).flip_rate.n_clusters == 6


def test_flip_rates_need_to_know_the_metrics() -> None:
    with pytest.raises(ValueError, match="clusters"):
        flip_rates(three_runs(1, 1, 1, 1))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0, 1]), min_size=3, max_size=3), min_size=1, max_size=12))
def test_retest_does_not_depend_on_the_order_of_the_later_runs(rows: list[list[int]]) -> None:
    found = retest(Ratings.from_table(rows, categories=[0, 1]))
    swapped = retest(Ratings.from_table([[a, c, b] for a, b, c in rows], categories=[0, 1]))
    assert found.kappa.value == pytest.approx(swapped.kappa.value)
    assert found.decision_flips.value == swapped.decision_flips.value
    assert found.entropy.value == pytest.approx(swapped.entropy.value)


def test_ceilings_of_impossible_reliabilities_are_none_and_of_wrong_arguments_an_error() -> None:
    assert correlation_ceiling(-0.1) is None
    assert correlation_ceiling(0.5, human_alpha=-0.1) is None
    assert spearman_brown(-0.5, raters=3) is None
    assert accuracy_ceiling(0.4) == 0.5
    with pytest.raises(ValueError, match="raters=0"):
        spearman_brown(0.5, raters=0)
    with pytest.raises(ValueError, match="pairwise=1"):
        accuracy_ceiling(1.2)


def test_components_of_a_balanced_one_way_design_are_the_textbook_ones() -> None:
    generator = np.random.default_rng(3)
    y = generator.normal(size=(6, 4)) + generator.normal(size=(6, 1))
    frame = pd.DataFrame({"m": np.repeat(np.arange(6), 4), "y": y.ravel()})
    within = y.var(axis=1, ddof=1).mean()
    between = y.mean(axis=1).var(ddof=1) - within / 4
    found = variance_components(frame, value="y", levels=["m"])
    assert found["residual"].value == pytest.approx(within)
    assert found["m"].value == pytest.approx(between)


def test_components_of_a_nested_design_are_recovered_from_unequal_groups() -> None:
    generator = np.random.default_rng(5)
    rows = []
    for m in range(400):
        metric = generator.normal(scale=2.0)
        for c in range(generator.integers(2, 5)):
            conversation = generator.normal(scale=1.0)
            rows += [
                {"m": m, "c": c, "y": metric + conversation + generator.normal(scale=0.5)}
                for _ in range(generator.integers(2, 4))
            ]
    found = variance_components(pd.DataFrame(rows), value="y", levels=["m", "c"])
    assert [found[name].value for name in ("m", "c", "residual")] == pytest.approx([4, 1, 0.25], rel=0.15)


def test_components_need_replication_and_data() -> None:
    frame = pd.DataFrame({"m": [1, 2, 3], "y": [0.0, 1.0, 1.0]})
    assert not variance_components(frame, value="y", levels=["m"])["m"].defined
    assert not variance_components(frame.iloc[:0], value="y", levels=["m"])["m"].defined
    with pytest.raises(ValueError, match="'z'"):
        variance_components(frame, value="z", levels=["m"])
