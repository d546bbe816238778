"""Pass rates of models: pooled, by benchmark and polarity, what hangs on one benchmark, and differences of models.

Every number of one call comes from the same resampled metrics, and calls with the same tally and seed from the same
ones too, so all of them are paired.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Self

import numpy as np
from numpy.typing import NDArray

from impactbench.domain import Polarity
from impactbench.rates.metric_bootstrap import require_draws
from impactbench.rates.metric_tally import MetricTally, tally_metrics
from impactbench.rates.rate_intervals import DIFFERENCE, estimates
from impactbench.rates.rate_sample import RateSample
from validation.bounds import Bounds
from validation.missing_verdicts import MissingByGroup, missing_by_group
from validation.results import Estimate

__all__ = ["MetricTally", "ModelRates", "PairedDifference", "PassRates", "pass_rates", "tally_metrics"]

POLARITIES = (Polarity.POSITIVE, Polarity.NEGATIVE)
NOT_COMPARABLE = (
    "verdicts are missing at different rates for different models: the rates are not to be compared"
)

ONE_ONLY = "{n} metrics were scored for one of the two models only"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRates:
    """How often one model passes."""

    model: str
    """The model."""
    pooled: Estimate
    """Every conversation counts alike."""
    equal_benchmark: Estimate
    """The mean of its benchmark rates: every benchmark counts alike."""
    by_polarity: Mapping[Polarity, Estimate]
    """Pooled over the metrics of a polarity."""
    by_benchmark: Mapping[str, Estimate]
    """Pooled over the metrics of a benchmark."""
    without_benchmark: Mapping[str, Estimate]
    """Pooled over everything but a benchmark."""
    n_unscored: int
    """Conversations without a verdict, which no rate counts."""
    if_scored: Bounds
    """The pooled rate if every unscored conversation had failed, or passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """A first model's rate minus a second's, on the same resamples; intervals are of one pair, not of all at once."""

    pooled: Estimate
    """Every conversation counts alike."""
    equal_benchmark: Estimate
    """Every benchmark counts alike."""
    by_polarity: Mapping[Polarity, Estimate]
    """Pooled over the metrics of a polarity."""

    def reversed(self) -> Self:
        """The second model's rate minus the first's."""
        return replace(
            self,
            pooled=_negative(self.pooled),
            equal_benchmark=_negative(self.equal_benchmark),
            by_polarity={polarity: _negative(found) for polarity, found in self.by_polarity.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRates:
    """The rates of all models, and all their differences."""

    models: Mapping[str, ModelRates]
    """By model."""
    differences: Mapping[tuple[str, str], PairedDifference]
    """By pair of models in alphabetical order; `difference` takes any order."""
    missing: MissingByGroup
    """The share of unscored conversations by model, and whether the shares differ so much that nothing is compared."""
    n_metrics: int
    """Metrics that were resampled."""
    draws: int
    """Resamples."""
    seed: int
    """Of the resamples."""
    notes: tuple[str, ...] = ()
    """What holds for all of it: metrics that stand alone in their stratum."""

    def difference(self, first: str, second: str) -> PairedDifference:
        """The first model's rate minus the second's.

        Raises:
            KeyError: a model is not among those of the rates.
        """
        found = self.differences.get((first, second))
        return self.differences[second, first].reversed() if found is None else found


def pass_rates(tally: MetricTally, *, draws: int = 10_000, seed: int) -> PassRates:
    """The pass rates of a tally with 95% intervals from resampled metrics.

    Metrics are drawn within benchmark x polarity, with all their scenarios, ages and models together; ends are
    percentiles. Rates of five to nine metrics get a t interval, of fewer none; all passed or all failed gets
    Clopper and Pearson's on metrics. A difference of two models rests on whatever each was scored on, and says so
    where that differs.

    Args:
        tally: from `tally_metrics`.
        draws: how many resamples.
        seed: of the resamples.

    Raises:
        ValueError: draws is below 1.

    >>> import pandas as pd
    >>> rows = [("m", "b", "x", "positive", "teen", "s", True), ("m", "b", "y", "negative", "teen", "s", None)]
    >>> frame = pd.DataFrame(rows, columns=["model", "benchmark", "metric", "polarity", "age", "scenario", "passed"])
    >>> rates = pass_rates(tally_metrics(frame), draws=100, seed=1)
    >>> rates.models["m"].pooled.value, rates.models["m"].pooled.n, rates.models["m"].n_unscored
    (1.0, 1, 1)
    >>> rates.models["m"].without_benchmark["b"].undefined_because
    'no_other_benchmark'
    """
    require_draws(draws)
    missing = _missing(tally)
    if not tally.metrics:
        return PassRates(models={}, differences={}, missing=missing, n_metrics=0, draws=draws, seed=seed)
    strata, of_benchmark = tally.strata, tally.of_benchmarks()
    every = len(tally.benchmarks)
    rates = RateSample.of(
        tally.passed,
        tally.scored,
        strata=strata,
        groups=np.concatenate([tally.of_polarities(), of_benchmark, ~of_benchmark]),
        draws=draws,
        seed=seed,
    )
    equal = _every_benchmark_equal(tally, rates[3 : 3 + every], draws=draws, seed=seed)
    first, second = np.array(list(combinations(range(len(tally.models)), 2)), dtype=np.int64).reshape(-1, 2).T
    apart = estimates(rates[:3, first].minus(rates[:3, second]), strata=strata, bounds=DIFFERENCE)
    equal_apart = estimates(equal[first].minus(equal[second]), strata=strata, bounds=DIFFERENCE)
    of_all, of_equal = estimates(rates[: 3 + every], strata=strata), estimates(equal, strata=strata)
    alone = "no_ratings" if every > 1 else "no_other_benchmark"
    without = estimates(rates[3 + every :], strata=strata, reason=alone)
    pair_notes = _pair_notes(tally.scored > 0, first, second, blocked=missing.blocks_pooling)
    return PassRates(
        models={
            model: ModelRates(
                model=model,
                pooled=of_all[0, j],
                equal_benchmark=of_equal[j],
                by_polarity=dict(zip(POLARITIES, of_all[1:3, j], strict=True)),
                by_benchmark=dict(zip(tally.benchmarks, of_all[3:, j], strict=True)),
                without_benchmark=dict(zip(tally.benchmarks, without[:, j], strict=True)),
                n_unscored=int(tally.unscored[:, j].sum()),
                if_scored=_if_scored(tally, j),
            )
            for j, model in enumerate(tally.models)
        },
        differences={
            (tally.models[a], tally.models[b]): PairedDifference(
                pooled=apart[0, k].noting(*notes),
                equal_benchmark=equal_apart[k].noting(*notes),
                by_polarity={
                    polarity: apart[1 + p, k].noting(*notes) for p, polarity in enumerate(POLARITIES)
                },
            )
            for k, (a, b, notes) in enumerate(zip(first, second, pair_notes, strict=True))
        },
        missing=missing,
        n_metrics=len(tally.metrics),
        draws=draws,
        seed=seed,
        notes=_alone(tally),
    )


def _every_benchmark_equal(
    tally: MetricTally, by_benchmark: RateSample, *, draws: int, seed: int
) -> RateSample:
    """(models,): the mean of the benchmark rates.

    Benchmarks of one metric are drawn among themselves, each with its rate, not with its conversations.
    """
    single = tally.single
    several = ~single[np.argmax(tally.of_benchmarks(), axis=1)]
    kept = by_benchmark[several]
    weights = (kept.n > 0).astype(np.float64)
    if single.any():
        scored = (tally.scored > 0).astype(np.float64)
        passed = tally.passed / np.maximum(tally.scored, 1)
        together = RateSample.of(
            passed, scored, strata=tally.strata, groups=single[None], draws=draws, seed=seed
        )
        weights = np.concatenate([weights, together.n.astype(np.float64)])
        conversations = single[None].astype(np.int64) @ tally.scored
        kept = kept.joined(replace(together, n=conversations))
    return kept.averaged(weights)


def _missing(tally: MetricTally) -> MissingByGroup:
    counts = np.stack([tally.scored.sum(axis=0), tally.unscored.sum(axis=0)], axis=1).ravel()
    number = np.repeat(np.arange(len(tally.models)), 2)
    verdicts = np.tile([1.0, np.nan], len(tally.models))
    found = missing_by_group(np.repeat(verdicts, counts), groups=np.repeat(number, counts))
    return replace(found, groups=tally.models)


def _if_scored(tally: MetricTally, j: int) -> Bounds:
    passed, unscored = int(tally.passed[:, j].sum()), int(tally.unscored[:, j].sum())
    n = int(tally.scored[:, j].sum()) + unscored
    return Bounds(
        low=Estimate(value=passed / n, n=n, method="Manski bound"),
        high=Estimate(value=(passed + unscored) / n, n=n, method="Manski bound"),
    )


def _pair_notes(
    has: NDArray[np.bool_], first: NDArray[np.int64], second: NDArray[np.int64], *, blocked: bool
) -> list[tuple[str, ...]]:
    """What to know about each pair, from which metrics (metrics, models) were scored."""
    always = (NOT_COMPARABLE,) if blocked else ()
    unshared = (has[:, first] != has[:, second]).sum(axis=0).tolist()
    return [(*always, *((ONE_ONLY.format(n=n),) if n else ())) for n in unshared]


def _alone(tally: MetricTally) -> tuple[str, ...]:
    cell = 2 * tally.benchmark + tally.positive
    alone = (np.bincount(cell)[cell] == 1) & ~tally.single
    notes = []
    if alone.any():
        notes.append(
            f"{int(alone.sum())} metrics alone in benchmark x polarity were drawn with the rest of their benchmark"
        )
    if tally.single.sum() > 1:
        notes.append(f"{int(tally.single.sum())} benchmarks of one metric were drawn together")
    if tally.single.sum() == 1:
        notes.append("one benchmark has a single metric, which every resample holds once")
    return tuple(notes)


def _negative(estimate: Estimate) -> Estimate:
    value, low, high = (
        None if end is None else -end for end in (estimate.value, estimate.high, estimate.low)
    )
    return replace(estimate, value=value, low=low, high=high)
