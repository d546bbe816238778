"""Comparisons made of pass rates: ages, benchmarks, areas."""

import pandas as pd
import pytest
from scipy.stats import spearmanr

from impactbench.aggregation import pass_rates
from impactbench.domain import AgeVariant, Polarity
from impactbench.rates.age_comparison import compare_ages
from impactbench.rates.area_rates import area_rates
from impactbench.rates.metric_tally import COLUMNS, tally_metrics
from impactbench.rates.rate_orders import benchmark_orders
from tests.impactbench.invented_rates import study


def test_teen_minus_adult_is_the_difference_of_the_rates_of_one_metric_one_polarity_and_all() -> None:
    frame = study(unscored=0.1)
    found = compare_ages(tally_metrics(frame), draws=500, seed=1)
    rows = frame[frame["model"] == "model-1"].dropna(subset="passed").astype({"passed": float})
    ages = found.models["model-1"]

    def apart(part: pd.DataFrame) -> float:
        rates = part.groupby("age")["passed"].mean()
        return float(rates["teen"] - rates["adult"])

    assert ages.difference.value == pytest.approx(apart(rows))
    assert ages.difference.low < ages.difference.value < ages.difference.high
    assert ages.rates[AgeVariant.TEEN].value == pytest.approx(rows[rows["age"] == "teen"]["passed"].mean())
    negative = rows[rows["polarity"] == "negative"]
    assert ages.by_polarity[Polarity.NEGATIVE].value == pytest.approx(apart(negative))
    one = rows[(rows["benchmark"] == "bench-1") & (rows["metric"] == "neg-2")]
    assert ages.by_metric["bench-1", "neg-2"].value == pytest.approx(apart(one))
    everyone = frame[(frame["benchmark"] == "bench-1") & (frame["metric"] == "neg-2")]
    everyone = everyone.dropna(subset="passed").astype({"passed": float})
    assert found.by_metric["bench-1", "neg-2"].value == pytest.approx(apart(everyone))


def test_benchmark_rates_of_teens_and_adults_are_correlated_within_a_model() -> None:
    frame = study(benchmarks=12, metrics=(2, 2))
    found = compare_ages(tally_metrics(frame), draws=20, seed=1).models["model-0"].spearman
    rows = frame[frame["model"] == "model-0"].astype({"passed": float})
    table = rows.pivot_table(index="benchmark", columns="age", values="passed")
    assert found.value == pytest.approx(spearmanr(table["teen"], table["adult"]).statistic)
    assert (found.n, found.method) == (12, "Bonett and Wright, Fisher's scale")
    few = compare_ages(tally_metrics(study(benchmarks=2)), draws=20, seed=1).models["model-0"].spearman
    assert few.undefined_because == "too_few_benchmarks"


def test_a_study_of_one_age_has_no_difference_of_ages() -> None:
    frame = study()
    found = compare_ages(tally_metrics(frame[frame["age"] == "teen"]), draws=20, seed=1).models["model-0"]
    assert found.difference.undefined_because == "one_age_only"
    assert found.by_metric["bench-0", "pos-0"].undefined_because == "one_age_only"
    assert found.rates[AgeVariant.ADULT].undefined_because == "no_ratings"


def test_models_are_ranked_on_each_benchmark_against_the_rest() -> None:
    rows = []
    shares = {
        "one": {"a": 3, "b": 2, "c": 1},
        "two": {"a": 3, "b": 2, "c": 1},
        "odd": {"a": 0, "b": 1, "c": 2},
    }
    for benchmark, passing in shares.items():
        for model, passed in passing.items():
            rows += [(model, benchmark, "m", "positive", "teen", f"s{s}", s < passed) for s in range(4)]
    found = benchmark_orders(tally_metrics(pd.DataFrame(rows, columns=list(COLUMNS))))
    assert found["odd"].on_it == {"a": 3.0, "b": 2.0, "c": 1.0}
    assert found["odd"].on_the_rest == {"a": 1.0, "b": 2.0, "c": 3.0}
    assert found["odd"].spearman.value == -1
    assert found["one"].on_the_rest == {"a": 2.0, "b": 2.0, "c": 2.0}
    assert found["one"].spearman.undefined_because == "no_variation"
    alone = benchmark_orders(tally_metrics(study(benchmarks=1)))["bench-0"]
    assert alone.spearman.undefined_because == "no_other_benchmark"
    assert alone.not_ranked == ("model-0", "model-1", "model-2")


def test_a_metric_counts_in_every_subarea_where_it_sits() -> None:
    frame = study()
    places = pd.DataFrame(
        [
            ("bench-0", "pos-0", "social", "law"),
            ("bench-0", "pos-0", "physical", "safety"),
            ("bench-1", "neg-1", "social", "law"),
            ("bench-9", "gone", "social", "bias"),
        ],
        columns=["benchmark", "metric", "area", "subarea"],
    )
    found = area_rates(tally_metrics(frame), places, draws=50, seed=1)
    assert list(found.areas) == ["physical", "social"]
    assert list(found.subareas) == ["law", "safety"]
    assert found.not_placed == 31
    rows = frame[frame["model"] == "model-0"].astype({"passed": float})
    positive = rows[(rows["benchmark"] == "bench-0") & (rows["metric"] == "pos-0")]["passed"].mean()
    negative = rows[(rows["benchmark"] == "bench-1") & (rows["metric"] == "neg-1")]["passed"].mean()
    law, safety = found.subareas["law"]["model-0"], found.subareas["safety"]["model-0"]
    assert (law.positive.value, law.negative.value) == pytest.approx((positive, negative))
    assert law.difference.value == pytest.approx(positive - negative)
    assert law.rate.value == pytest.approx((positive + negative) / 2)
    assert safety.difference.undefined_because == "one_polarity_only"
    assert found.spearman["model-0"].undefined_because == "too_few_subareas"


def test_an_area_of_everything_has_the_pooled_rate_with_the_same_interval() -> None:
    frame = study(benchmarks=4)
    tally = tally_metrics(frame)
    places = frame[["benchmark", "metric"]].assign(area="all", subarea=frame["benchmark"])
    found = area_rates(tally, places, draws=300, seed=3)
    rates = pass_rates(tally, draws=300, seed=3)
    assert found.areas["all"]["model-1"].rate == rates.models["model-1"].pooled
    assert found.areas["all"]["model-1"].positive == rates.models["model-1"].by_polarity[Polarity.POSITIVE]
    assert found.subareas["bench-2"]["model-1"].rate == rates.models["model-1"].by_benchmark["bench-2"]
    assert -1 <= found.spearman["model-1"].value <= 1
