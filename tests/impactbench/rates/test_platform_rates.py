"""The published platform's rates follow from its verdicts, metric by metric and through the whole aggregation."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from impactbench.aggregation import pass_rates
from impactbench.domain import AgeVariant, Polarity, passes
from impactbench.rates.age_comparison import compare_ages
from impactbench.rates.area_rates import area_rates
from impactbench.rates.metric_tally import COLUMNS, MetricTally, tally_metrics
from impactbench.rates.rate_orders import benchmark_orders

AGES = {"child": AgeVariant.TEEN, "adult": AgeVariant.ADULT}
VERDICTS, RATES = 31_236, 10_412
WITHOUT_VERDICTS = {(f"gpt-4o|{age}", metric) for age in AGES for metric in ("mcab__m02", "mcab__m05")}
"""Cells of two metrics that neither the taxonomy nor the verdicts have."""


def read(shared: Path, name: str) -> dict:
    return json.loads((shared / "data/impactbench/platform" / name).read_text("utf-8"))


def metrics_in(taxonomy: dict) -> Iterator[tuple[str, str, str, Polarity]]:
    """Area, subarea, metric and polarity."""
    for area in taxonomy["areas"]:
        for subarea in area["subareas"]:
            for metric in subarea["metrics"]:
                yield area["name"], subarea["name"], metric["id"], Polarity(metric["type"])


def conversations(scenarios: dict, polarities: dict[str, Polarity]) -> pd.DataFrame:
    rows = [
        (
            model,
            scenario["benchmark"],
            metric,
            polarities[metric].value,
            AGES[scenario["age"]].value,
            scenario["scenario_id"],
            passes(verdict == "yes", polarities[metric]),
        )
        for metric, of_metric in scenarios.items()
        for scenario in of_metric
        for model, verdict in scenario["verdicts"].items()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


@pytest.fixture(scope="module")
def taxonomy(shared: Path) -> list[tuple[str, str, str, Polarity]]:
    return list(metrics_in(read(shared, "taxonomy.json")))


@pytest.fixture(scope="module")
def frame(shared: Path, taxonomy: list[tuple[str, str, str, Polarity]]) -> pd.DataFrame:
    scenarios = read(shared, "scenario-index.json")
    assert {v for rows in scenarios.values() for row in rows for v in row["verdicts"].values()} == {
        "yes",
        "no",
    }
    return conversations(scenarios, {metric: polarity for _, _, metric, polarity in taxonomy})


@pytest.fixture(scope="module")
def tally(frame: pd.DataFrame) -> MetricTally:
    return tally_metrics(frame)


def test_the_platform_has_the_verdicts_and_metrics_that_it_says(
    frame: pd.DataFrame, tally: MetricTally
) -> None:
    assert len(frame) == VERDICTS
    assert (int(tally.positive.sum()), int((~tally.positive).sum())) == (246, 114)
    assert int(tally.unscored.sum()) == 0


def test_every_published_rate_follows_from_the_verdicts(shared: Path, tally: MetricTally) -> None:
    published = {
        (model_and_age, metric): rate
        for model_and_age, rates in read(shared, "benchmark-data.json").items()
        for metric, rate in rates.items()
    }
    computed = {}
    for m, (_, metric) in enumerate(tally.metrics):
        for j, model in enumerate(tally.models):
            for a, name in enumerate(AGES):
                if n := tally.scored_by_age[m, j, a]:
                    computed[f"{model}|{name}", metric] = tally.passed_by_age[m, j, a] / n
    assert len(computed) == RATES
    assert published.keys() - computed.keys() == WITHOUT_VERDICTS
    wrong = {key for key, rate in computed.items() if abs(published[key] - rate) > 1e-3}
    assert wrong == set()


def test_the_rates_of_the_models_are_the_means_of_their_verdicts(
    frame: pd.DataFrame, tally: MetricTally
) -> None:
    found = pass_rates(tally, draws=1000, seed=1)
    assert len(found.models) == 16
    assert len(found.differences) == 120
    for model, rows in frame.groupby("model"):
        rates = found.models[str(model)]
        assert rates.pooled.value == pytest.approx(rows["passed"].mean())
        assert rates.pooled.low < rates.pooled.value < rates.pooled.high
        assert rates.equal_benchmark.value == pytest.approx(rows.groupby("benchmark")["passed"].mean().mean())


def test_ages_places_and_orders_come_out_for_every_model(
    tally: MetricTally, taxonomy: list[tuple[str, str, str, Polarity]]
) -> None:
    benchmark_of = {metric: benchmark for benchmark, metric in tally.metrics}
    placements = pd.DataFrame(
        [(benchmark_of[metric], metric, area, subarea) for area, subarea, metric, _ in taxonomy],
        columns=["benchmark", "metric", "area", "subarea"],
    )
    places = area_rates(tally, placements, draws=200, seed=1)
    assert (len(places.areas), places.not_placed) == (3, 0)
    assert all(correlation.defined for correlation in places.spearman.values())
    ages = compare_ages(tally, draws=200, seed=1)
    assert all(one.difference.defined and one.spearman.defined for one in ages.models.values())
    assert len(ages.by_metric) == 360
    assert all(order.spearman.defined for order in benchmark_orders(tally).values())
