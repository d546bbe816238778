"""Pass rates, their intervals on the same resampled metrics, and the comparisons made of them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impactbench.aggregation import pass_rates
from impactbench.domain import Polarity
from impactbench.rates.age_comparison import compare_ages
from impactbench.rates.area_rates import area_rates
from impactbench.rates.metric_bootstrap import DRAWS_AT_A_TIME, multiplicities, percentiles, resampled_rates
from impactbench.rates.metric_tally import COLUMNS, MetricTally, tally_metrics
from impactbench.rates.rate_orders import benchmark_orders
from tests.impactbench.invented_rates import SEED, all_estimates, rates_of, studies, study
from validation.intervals import clopper_pearson, stratified_t
from validation.results import Estimate


def test_conversations_are_counted_by_metric_model_and_age() -> None:
    rows = [
        ("m", "b", "x", "positive", "teen", "s1", True),
        ("m", "b", "x", "positive", "teen", "s2", None),
        ("m", "b", "x", "positive", "adult", "s3", False),
        ("n", "b", "x", "positive", "adult", "s3", True),
    ]
    tally = tally_metrics(pd.DataFrame(rows, columns=list(COLUMNS)))
    assert (tally.models, tally.metrics, tally.benchmarks) == (("m", "n"), (("b", "x"),), ("b",))
    assert tally.passed_by_age.tolist() == [[[1, 0], [0, 1]]]
    assert tally.scored_by_age.tolist() == [[[1, 1], [0, 1]]]
    assert tally.unscored_by_age.tolist() == [[[1, 0], [0, 0]]]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("polarity", "neutral", "row 3 holds a polarity that is none of positive, negative"),
        ("age", "child", "row 3 holds a age that is none of teen, adult"),
        ("scenario", None, "row 3 has no scenario"),
        ("scenario", "s2-teen", "row 3 repeats the model, metric, age and scenario of a row above"),
        ("passed", "yes", "row 3 holds a `passed` that is no boolean"),
        (
            "polarity",
            "negative",
            "metric 'pos-0' of 'bench-0' is positive in one row and negative in another",
        ),
    ],
)
def test_a_wrong_row_is_refused_by_its_name(column: str, value: object, message: str) -> None:
    frame = study(models=1, benchmarks=1).astype(object)
    frame.loc[3, ["age", "scenario"]] = ["teen", "s3-teen"]
    frame.loc[3, column] = value
    with pytest.raises(ValueError, match=message):
        tally_metrics(frame)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="no column 'age'"):
        tally_metrics(study().drop(columns="age"))


def test_every_conversation_counts_alike_in_the_pooled_rate_and_every_benchmark_in_the_other() -> None:
    frame = study(unscored=0.1)
    found = rates_of(frame)
    scored = frame.dropna(subset="passed").astype({"passed": float})
    for model, rows in scored.groupby("model"):
        rates = found.models[str(model)]
        assert rates.pooled.value == pytest.approx(rows["passed"].mean())
        assert rates.pooled.n == len(rows)
        assert rates.pooled.n_clusters == 33
        by_benchmark = rows.groupby("benchmark")["passed"].mean()
        assert rates.equal_benchmark.value == pytest.approx(by_benchmark.mean())
        for benchmark, rate in by_benchmark.items():
            assert rates.by_benchmark[str(benchmark)].value == pytest.approx(rate)
            rest = rows[rows["benchmark"] != benchmark]["passed"].mean()
            assert rates.without_benchmark[str(benchmark)].value == pytest.approx(rest)
        for polarity in Polarity:
            expected = rows[rows["polarity"] == polarity]["passed"].mean()
            assert rates.by_polarity[polarity].value == pytest.approx(expected)


@given(studies)
@settings(max_examples=25, deadline=None)
def test_the_pooled_rate_is_the_mean_of_the_benchmark_rates_weighted_by_their_conversations(
    frame: pd.DataFrame,
) -> None:
    for rates in rates_of(frame, draws=20).models.values():
        parts = [rate for rate in rates.by_benchmark.values() if rate.value is not None]
        if rates.pooled.value is None:
            assert not parts
            continue
        weighted = sum(rate.value * rate.n for rate in parts if rate.value is not None)
        assert rates.pooled.value == pytest.approx(weighted / sum(rate.n for rate in parts))


@given(studies, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_order_of_the_rows_changes_nothing(frame: pd.DataFrame, shuffle: Any) -> None:
    order = list(range(len(frame)))
    shuffle.shuffle(order)
    assert repr(rates_of(frame, draws=50)) == repr(rates_of(frame.iloc[order], draws=50))


def test_other_names_of_models_change_only_the_names_and_turn_their_differences_around() -> None:
    frame = study(unscored=0.05)
    names = {"model-0": "z", "model-1": "y", "model-2": "x"}
    found, renamed = rates_of(frame), rates_of(frame.replace({"model": names}))
    for old, new in names.items():
        assert renamed.models[new].pooled == found.models[old].pooled
        assert renamed.models[new].without_benchmark == found.models[old].without_benchmark
    for a, b in found.differences:
        there, back = found.difference(a, b), renamed.difference(names[b], names[a])
        for one, other in ((there.pooled, back.pooled), (there.equal_benchmark, back.equal_benchmark)):
            assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))
        assert found.difference(b, a).pooled.value == -there.pooled.value


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_ends() -> None:
    tally = tally_metrics(study())
    first, again, other = (pass_rates(tally, draws=300, seed=seed) for seed in (1, 1, 2))
    assert repr(first) == repr(again)
    assert first.models["model-0"].pooled.low != other.models["model-0"].pooled.low


def test_a_difference_is_of_the_two_rates_and_narrower_than_if_they_were_apart() -> None:
    found = rates_of(study(benchmarks=6), draws=2000)
    a, b = found.models["model-0"].pooled, found.models["model-1"].pooled
    apart = found.difference("model-0", "model-1").pooled
    assert apart.value == pytest.approx(a.value - b.value)
    assert apart.half_width < np.hypot(a.half_width, b.half_width)
    assert len(found.differences) == 3


def test_the_only_benchmark_cannot_be_left_out_and_the_reason_is_given() -> None:
    rates = rates_of(study(benchmarks=1)).models["model-0"]
    assert rates.without_benchmark["bench-0"].undefined_because == "no_other_benchmark"
    assert rates.equal_benchmark.value == pytest.approx(rates.pooled.value)


def strata_and_sums(seed: int) -> tuple[MetricTally, np.ndarray]:
    tally = tally_metrics(study(seed=seed, unscored=0.3, metrics=(4, 3), scenarios=1))
    groups = np.concatenate([tally.of_polarities(), tally.of_benchmarks(), ~tally.of_benchmarks()])
    return tally, groups


@pytest.mark.parametrize("draws", [3, DRAWS_AT_A_TIME + 5])
def test_resampled_rates_are_those_of_the_metrics_that_were_drawn(draws: int) -> None:
    tally, groups = strata_and_sums(0)
    mixed = np.concatenate([groups, np.random.default_rng(1).random((4, len(tally.metrics))) < 0.4])
    found = resampled_rates(
        tally.passed, tally.scored, strata=tally.strata, groups=mixed, draws=draws, seed=SEED
    )
    times = np.empty((len(tally.metrics), draws))
    for start, drawn in multiplicities(tally.strata, draws=draws, seed=SEED):
        for stratum, weights in enumerate(drawn):
            times[tally.strata == stratum, start : start + weights.shape[1]] = weights
    for stratum in np.unique(tally.strata):
        assert (times[tally.strata == stratum].sum(axis=0) == (tally.strata == stratum).sum()).all()
    for draw in (0, draws - 1):
        rows = np.repeat(np.arange(len(tally.metrics)), times[:, draw].astype(int))
        for k, group in enumerate(mixed):
            chosen = rows[group[rows]]
            scored = tally.scored[chosen].sum(axis=0)
            expected = np.full(len(scored), np.nan)
            np.divide(tally.passed[chosen].sum(axis=0), scored, out=expected, where=scored > 0)
            np.testing.assert_allclose(found[k, :, draw], expected, atol=1e-6)


def test_metrics_are_drawn_alike_often() -> None:
    strata = np.repeat([0, 1], [3, 40])
    total = sum(
        np.concatenate([weights.sum(axis=1) for weights in drawn])
        for _, drawn in multiplicities(strata, draws=20_000, seed=SEED)
    )
    assert np.abs(total / 20_000 - 1).max() < 0.04


def test_the_mean_of_the_resamples_is_close_to_the_point() -> None:
    tally, groups = strata_and_sums(3)
    drawn = resampled_rates(
        tally.passed, tally.scored, strata=tally.strata, groups=groups, draws=4000, seed=1
    )
    points = (groups.astype(int) @ tally.passed) / (groups.astype(int) @ tally.scored)
    spread = np.nanstd(drawn, axis=-1)
    assert (np.abs(np.nanmean(drawn, axis=-1) - points) < 0.15 * spread).all()


def test_calls_with_one_seed_draw_the_same_metrics_whatever_they_ask_for() -> None:
    tally, groups = strata_and_sums(4)
    whole = resampled_rates(tally.passed, tally.scored, strata=tally.strata, groups=groups, draws=50, seed=1)
    scattered = np.random.default_rng(0).random((5, len(tally.metrics))) < 0.5
    part = resampled_rates(
        tally.passed[:, 1:],
        tally.scored[:, 1:],
        strata=tally.strata,
        groups=np.concatenate([scattered, groups[:1]]),
        draws=50,
        seed=1,
    )
    np.testing.assert_array_equal(part[-1], whole[0, 1:])


@given(
    st.integers(1, 3000),
    st.sampled_from([0.0, 0.01, 0.5]),
    st.integers(0, 50),
    st.sampled_from(["normal", "few values", "ascending"]),
)
@settings(max_examples=40, deadline=None)
def test_percentiles_are_those_of_numpy_over_the_defined_values(
    draws: int, missing: float, seed: int, shape: str
) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(2, draws))
    if shape == "few values":
        values = np.round(values)
    elif shape == "ascending":
        values = np.sort(values, axis=1)
    values[rng.random(values.shape) < missing] = np.nan
    low, high, undefined = percentiles(values)
    assert undefined.tolist() == np.isnan(values).sum(axis=1).tolist()
    for k, row in enumerate(values):
        left = row[~np.isnan(row)]
        expected = np.quantile(left, [0.025, 0.975]) if len(left) else [np.nan, np.nan]
        np.testing.assert_allclose([low[k], high[k]], expected, atol=1e-12)


def test_the_t_interval_beside_the_percentiles_is_that_of_the_statistics_library() -> None:
    frame = study(metrics=(7, 6), scenarios=2)
    tally = tally_metrics(frame)
    found = pass_rates(tally, draws=200, seed=1).models["model-1"].pooled
    expected = stratified_t(tally.passed[:, 1] / tally.scored[:, 1], strata=tally.strata.tolist())
    assert found.notes == (
        "a stratum of 6 metrics (below 20): this interval is too short;"
        f" {expected.method}: [{expected.low:.3f}, {expected.high:.3f}]",
    )


def test_strata_of_twenty_metrics_need_no_warning() -> None:
    found = rates_of(study(metrics=(20, 21), benchmarks=2, scenarios=1, models=2))
    assert found.models["model-0"].pooled.notes == ()
    assert found.models["model-0"].pooled.method.startswith("percentile bootstrap of metrics")


def test_a_rate_of_few_metrics_has_a_t_interval_of_their_means_and_one_of_fewer_than_five_has_none() -> None:
    rates = rates_of(study(metrics=(4, 3), scenarios=2)).models["model-0"]
    seven = rates.by_benchmark["bench-0"]
    assert (seven.n_clusters, seven.method, seven.notes) == (7, "t(6) of metric means", ("few metrics (7)",))
    four = rates_of(study(metrics=(2, 2), benchmarks=1)).models["model-0"].pooled
    assert (four.low, four.notes) == (None, ("fewer than 5 metrics (4): no interval",))


def test_where_all_pass_the_interval_is_exact_on_metrics_and_a_difference_has_none() -> None:
    frame = study(models=2)
    frame["passed"] = pd.array([True] * len(frame), dtype="boolean")
    found = rates_of(frame)
    rate, exact = found.models["model-0"].pooled, clopper_pearson(33, 33)
    assert (rate.value, rate.low, rate.high, rate.n_clusters) == (1.0, exact.low, exact.high, 33)
    assert rate.method == "Clopper-Pearson on metrics"
    apart = found.difference("model-0", "model-1").pooled
    assert (apart.value, apart.low) == (0.0, None)
    assert "all metrics are alike: no interval" in apart.notes


def test_unscored_conversations_are_counted_bounded_and_never_a_default() -> None:
    frame = study(models=2)
    frame.loc[(frame["model"] == "model-1") & (frame["scenario"] == "s0-teen"), "passed"] = pd.NA
    found = rates_of(frame)
    whole, holed = found.models["model-0"], found.models["model-1"]
    assert (whole.n_unscored, holed.n_unscored, holed.pooled.n) == (0, 33, 165)
    assert holed.if_scored.low.value == pytest.approx(holed.pooled.value * 165 / 198)
    assert holed.if_scored.high.value == pytest.approx((holed.pooled.value * 165 + 33) / 198)
    assert found.missing.groups == ("model-0", "model-1")
    assert found.missing.blocks_pooling
    assert any("not to be compared" in note for note in found.difference("model-0", "model-1").pooled.notes)


def test_a_model_that_was_never_scored_is_undefined_and_leaves_the_others_alone() -> None:
    frame = study(models=2)
    frame.loc[frame["model"] == "model-1", "passed"] = pd.NA
    found = rates_of(frame)
    assert found.models["model-1"].pooled == Estimate.undefined("no_ratings", n=0)
    assert found.models["model-1"].equal_benchmark == Estimate.undefined("no_ratings", n=0)
    assert found.models["model-0"].pooled.low is not None
    apart = found.difference("model-0", "model-1").pooled
    assert apart.undefined_because == "no_ratings"


def test_resamples_without_a_scored_conversation_are_left_out_and_counted() -> None:
    frame = study(models=2, benchmarks=2, metrics=(12, 0))
    only = (frame["benchmark"] == "bench-0") & frame["metric"].isin(["pos-0", "pos-1"])
    frame.loc[(frame["model"] == "model-1") & ~only & (frame["benchmark"] == "bench-0"), "passed"] = pd.NA
    found = rates_of(frame).models["model-1"]
    assert any("of 400 resamples undefined and left out" in note for note in found.equal_benchmark.notes)
    assert not any("undefined" in note for note in found.pooled.notes)


def test_metrics_scored_for_one_model_only_are_told_beside_the_difference() -> None:
    frame = study(models=2)
    frame = frame[~((frame["model"] == "model-0") & (frame["metric"] == "pos-0"))]
    notes = rates_of(frame).difference("model-0", "model-1").pooled.notes
    assert "3 metrics were scored for one of the two models only" in notes


def test_a_metric_alone_in_its_stratum_is_drawn_with_its_benchmark_and_lone_benchmarks_together() -> None:
    tally = tally_metrics(study(metrics=(5, 1), benchmarks=2))
    assert len(set(tally.strata.tolist())) == 2
    assert pass_rates(tally, draws=10, seed=1).notes == (
        "2 metrics alone in benchmark x polarity were drawn with the rest of their benchmark",
    )
    lone = tally_metrics(study(metrics=(1, 0), benchmarks=12))
    assert len(set(lone.strata.tolist())) == 1
    found = pass_rates(lone, draws=2000, seed=1)
    assert found.notes == ("12 benchmarks of one metric were drawn together",)
    rates = found.models["model-0"]
    assert rates.pooled.half_width == pytest.approx(rates.equal_benchmark.half_width)
    assert not any("undefined" in note for note in rates.equal_benchmark.notes)


def test_equal_benchmarks_weigh_alike_also_where_some_have_one_metric() -> None:
    frame = pd.concat(
        [
            study(metrics=(8, 8), benchmarks=1, unscored=0.2),
            study(seed=5, metrics=(1, 0), benchmarks=4, unscored=0.2).replace(
                {"benchmark": {f"bench-{b}": f"lone-{b}" for b in range(4)}}
            ),
        ]
    )
    rates = rates_of(frame).models["model-2"]
    values = [rate.value for rate in rates.by_benchmark.values()]
    assert len(values) == 5
    assert rates.equal_benchmark.value == pytest.approx(np.mean(values))
    assert rates.equal_benchmark.n == rates.pooled.n
    assert rates.equal_benchmark.low < rates.equal_benchmark.value < rates.equal_benchmark.high


@given(studies)
@settings(max_examples=25, deadline=None)
def test_whatever_is_missing_every_estimate_has_a_finite_value_or_a_reason(frame: pd.DataFrame) -> None:
    tally = tally_metrics(frame)
    places = frame[["benchmark", "metric"]].assign(area="a", subarea=frame["metric"])
    for found in (
        pass_rates(tally, draws=30, seed=1),
        compare_ages(tally, draws=30, seed=1),
        benchmark_orders(tally),
        area_rates(tally, places, draws=30, seed=1),
    ):
        for estimate in all_estimates(found):
            assert estimate.defined or estimate.undefined_because
            if estimate.low is not None and estimate.value is not None and not estimate.notes:
                assert estimate.low - 1e-6 <= estimate.value <= estimate.high + 1e-6


def test_an_empty_frame_gives_no_rates_and_no_error() -> None:
    tally = tally_metrics(study().iloc[:0])
    assert pass_rates(tally, seed=1).models == {}
    assert compare_ages(tally, seed=1).models == {}
    assert benchmark_orders(tally) == {}
    assert (
        area_rates(tally, pd.DataFrame(columns=["benchmark", "metric", "area", "subarea"]), seed=1).areas
        == {}
    )


@pytest.mark.parametrize("draws", [0, -1])
def test_fewer_than_one_resample_is_refused(draws: int) -> None:
    tally = tally_metrics(study(models=1))
    with pytest.raises(ValueError, match=f"draws={draws}"):
        pass_rates(tally, draws=draws, seed=1)
    with pytest.raises(ValueError, match=f"draws={draws}"):
        compare_ages(tally, draws=draws, seed=1)
