"""Orders of rates set beside each other: how models rank on one benchmark and on the rest."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from impactbench.rates.metric_bootstrap import LEVEL, Floats
from impactbench.rates.metric_tally import MetricTally
from impactbench.rates.rate_sample import quotient
from validation.results import Estimate

FEWEST_IN_ORDER = 3
FEWEST_FOR_INTERVAL = 10
ALL_THERE_ARE = "the models are all there are: no interval"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOrder:
    """How one benchmark orders the models, beside the order of all others together."""

    benchmark: str
    """The benchmark."""
    on_it: Mapping[str, float]
    """Rank of each model's pooled rate on the benchmark: 1 the highest, equal rates share their mean rank."""
    on_the_rest: Mapping[str, float]
    """Rank of its pooled rate on everything else."""
    spearman: Estimate
    """Rank correlation of the two over models: 1 the same order, -1 reversed, 0 unrelated."""
    not_ranked: tuple[str, ...]
    """Models that were not scored on both."""


def benchmark_orders(tally: MetricTally) -> dict[str, BenchmarkOrder]:
    """The order of the models on each benchmark against their order on the rest.

    A benchmark that orders the models unlike the rest measures something else, or measures too little to order them.
    """
    of_benchmark = tally.of_benchmarks()
    groups = np.concatenate([of_benchmark, ~of_benchmark]).astype(np.int64)
    on, rest = np.split(quotient(groups @ tally.passed, groups @ tally.scored), 2)
    reason = "too_few_models" if len(tally.benchmarks) > 1 else "no_other_benchmark"
    return {
        name: _order(name, tally.models, on[b], rest[b], reason) for b, name in enumerate(tally.benchmarks)
    }


def rank_correlation(
    first: Floats, second: Floats, *, reason: str = "too_few_items", no_interval: str | None = None
) -> Estimate:
    """Spearman's correlation over the places where both are defined.

    1 is the same order, -1 the reverse, 0 none. The interval is Bonett and Wright's on Fisher's scale, from ten
    places on, and takes the places for a sample of many.

    Args:
        first: (places,): NaN where undefined.
        second: (places,): NaN where undefined.
        reason: why there is no number where fewer than three places are left.
        no_interval: why there is never an interval, where the places are all there are.

    Source: Bonett, D. G. and Wright, T. A., Psychometrika 2000, doi:10.1007/BF02294183.

    >>> rank_correlation(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 4.0, 3.0])).value
    0.8
    """
    both = ~(np.isnan(first) | np.isnan(second))
    x, y, n = first[both], second[both], int(both.sum())
    if n < FEWEST_IN_ORDER:
        return Estimate.undefined(reason, n=n)
    if not (np.ptp(x) > 0 and np.ptp(y) > 0):
        return Estimate.undefined("no_variation", n=n)
    rho = round(float(stats.spearmanr(x, y).statistic), 12)
    if no_interval is not None:
        return Estimate(value=rho, n=n, notes=(no_interval,))
    if n < FEWEST_FOR_INTERVAL or abs(rho) == 1:
        why = (
            "the orders are the same or reversed"
            if abs(rho) == 1
            else f"fewer than {FEWEST_FOR_INTERVAL} places"
        )
        return Estimate(value=rho, n=n, notes=(f"{why}: no interval",))
    reach = float(stats.norm.ppf((1 + LEVEL) / 2)) * np.sqrt((1 + rho**2 / 2) / (n - 3))
    low, high = np.tanh(np.arctanh(rho) + np.array([-reach, reach]))
    return Estimate(
        value=rho, low=float(low), high=float(high), n=n, method="Bonett and Wright, Fisher's scale"
    )


def _order(name: str, models: tuple[str, ...], on: Floats, rest: Floats, reason: str) -> BenchmarkOrder:
    both = ~(np.isnan(on) | np.isnan(rest))
    ranked = [model for model, kept in zip(models, both, strict=True) if kept]
    return BenchmarkOrder(
        benchmark=name,
        on_it=dict(zip(ranked, _ranks(on[both]), strict=True)),
        on_the_rest=dict(zip(ranked, _ranks(rest[both]), strict=True)),
        spearman=rank_correlation(on, rest, reason=reason, no_interval=ALL_THERE_ARE),
        not_ranked=tuple(model for model in models if model not in ranked),
    )


def _ranks(rates: NDArray[np.float64]) -> list[float]:
    ranks: list[float] = stats.rankdata(-rates).tolist()
    return ranks
