"""The same conversations in two arms: what changes, on the same resampled metrics."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from impactbench.domain import AgeVariant
from impactbench.rates.metric_tally import MetricTally, tally_metrics
from impactbench.rates.rate_intervals import DIFFERENCE, RATE, estimates
from impactbench.rates.rate_sample import RateSample
from validation.results import Estimate

COLUMNS = ("comparison", "benchmark", "metric", "polarity", "before", "after")
GROUPS = ("all", "positive", "negative")
DRAWS = 10_000
SEED = 20_250_601


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """One figure in two arms, over the same pairs."""

    before: Estimate
    after: Estimate
    difference: Estimate
    """After minus before; 0 is no change."""
    pairs: int


def paired_differences(
    pairs: pd.DataFrame, *, seed: int = SEED, draws: int = DRAWS
) -> dict[tuple[str, str], Paired]:
    """By comparison and group of metrics (all, positive, negative): means over pairs, and their difference.

    Metrics are resampled within benchmark x polarity, and a drawn metric brings its pairs of all comparisons: what
    comparisons have in common does not count as chance.

    Args:
        pairs: one row a pair: comparison, benchmark, metric, polarity, and a value from 0 to 1 before and after.
        seed: of the resamples.
        draws: how many of them.
    """
    if pairs.empty:
        return {}
    tally = _metrics(pairs)
    place = {name: k for k, name in enumerate(tally.metrics)}
    metric = np.array([place[name] for name in zip(pairs["benchmark"], pairs["metric"], strict=True)])
    comparisons = list(dict.fromkeys(pairs["comparison"]))
    sums = np.zeros((len(tally.metrics), 2 * len(comparisons)))
    counts = np.zeros(sums.shape, dtype=np.int64)
    for k, comparison in enumerate(comparisons):
        rows = (pairs["comparison"] == comparison).to_numpy()
        for column, name in ((2 * k, "before"), (2 * k + 1, "after")):
            np.add.at(sums[:, column], metric[rows], pairs.loc[rows, name].to_numpy(dtype=np.float64))
            np.add.at(counts[:, column], metric[rows], 1)
    strata = tally.strata
    sample = RateSample.of(sums, counts, strata=strata, groups=tally.of_polarities(), draws=draws, seed=seed)
    means = estimates(sample, strata=strata, bounds=RATE)
    differences = estimates(sample[:, 1::2].minus(sample[:, ::2]), strata=strata, bounds=DIFFERENCE)
    return {
        (comparison, group): Paired(
            before=means[g, 2 * k],
            after=means[g, 2 * k + 1],
            difference=differences[g, k],
            pairs=int(sample.n[g, 2 * k]),
        )
        for k, comparison in enumerate(comparisons)
        for g, group in enumerate(GROUPS)
    }


def _metrics(pairs: pd.DataFrame) -> MetricTally:
    """Which metrics there are, and what they are drawn within."""
    named = pairs[["benchmark", "metric", "polarity"]].drop_duplicates()
    return tally_metrics(named.assign(model="any", age=AgeVariant.ADULT, scenario="any", passed=True))
