"""The statistics of a paper from any study: rates with intervals, what hangs on one benchmark, ages, orders, spread."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from impactbench.aggregation import PassRates, pass_rates
from impactbench.rates.age_comparison import AgeComparison, compare_ages
from impactbench.rates.area_rates import AreaRates, area_rates
from impactbench.rates.metric_tally import MetricTally
from impactbench.rates.rate_orders import BenchmarkOrder, benchmark_orders
from reviews.public.results import SEED, PublicResults, remembered

DRAWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far apart the models are in one subarea, for behaviours of one polarity."""

    subarea: str
    polarity: str
    lowest: float
    highest: float
    lowest_model: str
    highest_model: str

    @property
    def range(self) -> float:
        return self.highest - self.lowest


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperStatistics:
    """What a paper on the study would report; every number carries its interval or why it has none."""

    rates: PassRates
    """Pooled, by polarity and benchmark, every benchmark alike, each benchmark left out, and paired differences."""
    places: AreaRates
    """By domain and subarea, positive against negative."""
    ages: AgeComparison
    """Teens against adults: pooled, by metric, and the order of benchmarks within each model."""
    orders: Mapping[str, BenchmarkOrder]
    """Each benchmark's order of the models against that of the rest."""
    spread: tuple[Spread, ...]
    """Between models, by subarea and polarity; widest first."""
    draws: int
    seed: int


@remembered
def paper_statistics(results: PublicResults, *, draws: int = DRAWS) -> PaperStatistics:
    """Everything on the same resampled metrics.

    Args:
        results: from `read_public` or `kept_public`.
        draws: resamples.
    """
    tally = results.tally
    places = area_rates(tally, results.places, draws=draws, seed=SEED)
    return PaperStatistics(
        rates=pass_rates(tally, draws=draws, seed=SEED),
        places=places,
        ages=compare_ages(tally, draws=draws, seed=SEED),
        orders=_orders(tally),
        spread=tuple(_spread(places)),
        draws=draws,
        seed=SEED,
    )


def _orders(tally: MetricTally) -> Mapping[str, BenchmarkOrder]:
    return benchmark_orders(tally) if tally.metrics else {}


def _spread(places: AreaRates) -> list[Spread]:
    found = []
    for subarea, by_model in places.subareas.items():
        for polarity in ("positive", "negative"):
            known = {
                model: estimate.value
                for model, rates in by_model.items()
                if (estimate := getattr(rates, polarity)).value is not None
            }
            if known:
                names, values = list(known), np.array(list(known.values()))
                low, high = int(values.argmin()), int(values.argmax())
                found.append(
                    Spread(
                        subarea=subarea,
                        polarity=polarity,
                        lowest=float(values[low]),
                        highest=float(values[high]),
                        lowest_model=names[low],
                        highest_model=names[high],
                    )
                )
    return sorted(found, key=lambda one: (-one.range, one.subarea, one.polarity))
