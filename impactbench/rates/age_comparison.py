"""Teen against adult conversations: differences of rates, by metric too, and whether benchmarks keep their order."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from impactbench.domain import AgeVariant, Polarity
from impactbench.rates.metric_bootstrap import Floats, require_draws
from impactbench.rates.metric_tally import AGES, Counts, MetricName, MetricTally
from impactbench.rates.rate_intervals import DIFFERENCE, estimates
from impactbench.rates.rate_orders import rank_correlation
from impactbench.rates.rate_sample import RateSample, quotient
from validation.results import Estimate

ONE_METRIC = "one metric: no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAges:
    """What a model does when the simulated user is a teenager, beside what it does with an adult."""

    model: str
    """The model."""
    rates: Mapping[AgeVariant, Estimate]
    """The pooled rate of each age."""
    difference: Estimate
    """Teen minus adult, pooled, on the same resamples: below 0, teenagers fare worse."""
    by_polarity: Mapping[Polarity, Estimate]
    """Teen minus adult over the metrics of a polarity."""
    by_metric: Mapping[MetricName, Estimate]
    """Teen minus adult of each metric: points that rest on few conversations."""
    spearman: Estimate
    """Rank correlation of the benchmark rates of teens with those of adults: 1 where the same benchmarks are hard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeComparison:
    """Teen against adult, for each model and for all together."""

    models: Mapping[str, ModelAges]
    """By model."""
    by_metric: Mapping[MetricName, Estimate]
    """Teen minus adult of each metric over the conversations of all models."""


def compare_ages(tally: MetricTally, *, draws: int = 10_000, seed: int) -> AgeComparison:
    """Teen against adult rates; a metric is resampled with both its ages.

    Args:
        tally: from `tally_metrics`.
        draws: how many resamples.
        seed: of the resamples.

    Raises:
        ValueError: draws is below 1.
    """
    require_draws(draws)
    if not tally.metrics:
        return AgeComparison(models={}, by_metric={})
    strata, n_models = tally.strata, len(tally.models)
    passed, scored = (
        counts.transpose(0, 2, 1).reshape(len(tally.metrics), -1)
        for counts in (tally.passed_by_age, tally.scored_by_age)
    )
    sample = RateSample.of(
        passed, scored, strata=strata, groups=tally.of_polarities(), draws=draws, seed=seed
    )
    teen, adult = sample[:, :n_models], sample[:, n_models:]
    apart = estimates(teen.minus(adult), strata=strata, bounds=DIFFERENCE, reason="one_age_only")
    rates = estimates(sample[0], strata=strata).reshape(len(AGES), n_models)
    by_metric = _differences(tally.passed_by_age, tally.scored_by_age)
    groups = tally.of_benchmarks().astype(np.int64)
    teens, adults = np.split(quotient(groups @ passed, groups @ scored), 2, axis=1)
    return AgeComparison(
        models={
            model: ModelAges(
                model=model,
                rates=dict(zip(AGES, rates[:, j], strict=True)),
                difference=apart[0, j],
                by_polarity=dict(zip((Polarity.POSITIVE, Polarity.NEGATIVE), apart[1:, j], strict=True)),
                by_metric=dict(zip(tally.metrics, by_metric[j], strict=True)),
                spearman=_over_benchmarks(teens[:, j], adults[:, j]),
            )
            for j, model in enumerate(tally.models)
        },
        by_metric=dict(zip(tally.metrics, _of_all_models(tally), strict=True)),
    )


def _of_all_models(tally: MetricTally) -> list[Estimate]:
    return _differences(
        tally.passed_by_age.sum(axis=1, keepdims=True), tally.scored_by_age.sum(axis=1, keepdims=True)
    )[0]


def _differences(passed: Counts, scored: Counts) -> list[list[Estimate]]:
    """For each model, teen minus adult of each metric, from counts (metrics, models, ages)."""
    rates = quotient(passed, scored)
    apart = (rates[:, :, 0] - rates[:, :, 1]).T.tolist()
    n = scored.sum(axis=2).T.tolist()
    return [
        [_difference(value, count) for value, count in zip(*row, strict=True)]
        for row in zip(apart, n, strict=True)
    ]


def _difference(value: float, n: int) -> Estimate:
    if np.isnan(value):
        return Estimate.undefined("one_age_only" if n else "no_ratings", n=0)
    return Estimate(value=value, n=n, n_clusters=1, notes=(ONE_METRIC,))


def _over_benchmarks(teens: Floats, adults: Floats) -> Estimate:
    return rank_correlation(teens, adults, reason="too_few_benchmarks")
