"""Rates by area and subarea, where a metric may sit in several, and positive against negative metrics there."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.rates.metric_bootstrap import require_draws
from impactbench.rates.metric_tally import MetricTally
from impactbench.rates.rate_intervals import DIFFERENCE, estimates
from impactbench.rates.rate_orders import rank_correlation
from impactbench.rates.rate_sample import RateSample
from validation.results import Estimate

COLUMNS = ("benchmark", "metric", "area", "subarea")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRates:
    """How often a model passes the metrics of an area or subarea."""

    rate: Estimate
    """Every conversation of the metrics that sit there counts alike."""
    positive: Estimate
    """Over positive metrics: the behaviour is wanted, and present."""
    negative: Estimate
    """Over negative metrics: the behaviour is unwanted, and absent."""
    difference: Estimate
    """Positive minus negative, on the same resamples: above 0, the model does what is wanted more reliably than it
    leaves what is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaRates:
    """The rates of all models by area and subarea, and how its two polarities go together."""

    areas: Mapping[str, Mapping[str, PlaceRates]]
    """By area, then model."""
    subareas: Mapping[str, Mapping[str, PlaceRates]]
    """By subarea, then model."""
    spearman: Mapping[str, Estimate]
    """By model, the rank correlation of positive with negative rates over subareas: 1 where it is good at both in the
    same subareas, -1 where being good at one goes with being bad at the other."""
    not_placed: int
    """Metrics of the tally that sit nowhere."""


def area_rates(tally: MetricTally, placements: pd.DataFrame, *, draws: int = 10_000, seed: int) -> AreaRates:
    """Rates by area and subarea.

    All metrics are resampled as for `pass_rates`, so a resample may hold more or fewer metrics of a subarea; those
    that hold none are left out and counted.

    Args:
        tally: from `tally_metrics`.
        placements: one row a metric and subarea: benchmark, metric, area, subarea. Metrics that the tally does not
            have are passed over.
        draws: how many resamples.
        seed: of the resamples.

    Raises:
        ValueError: draws is below 1, or a column is missing.
    """
    require_draws(draws)
    if missing := [name for name in COLUMNS if name not in placements.columns]:
        raise ValueError(f"the placements have no column {missing[0]!r}; they need {', '.join(COLUMNS)}")
    areas, subareas = _places(tally, placements, "area"), _places(tally, placements, "subarea")
    if not areas:
        return AreaRates(areas={}, subareas={}, spearman={}, not_placed=len(tally.metrics))
    groups = np.stack([*areas.values(), *subareas.values()])
    sample = RateSample.of(
        tally.passed,
        tally.scored,
        strata=tally.strata,
        groups=np.concatenate([groups & polarity for polarity in tally.of_polarities()]),
        draws=draws,
        seed=seed,
    )
    places = len(groups)
    positive, negative = sample[places : 2 * places], sample[2 * places :]
    rates = estimates(sample, strata=tally.strata).reshape(3, places, -1)
    apart = estimates(
        positive.minus(negative), strata=tally.strata, bounds=DIFFERENCE, reason="one_polarity_only"
    )

    def at(place: int) -> dict[str, PlaceRates]:
        return {
            model: PlaceRates(
                rate=rates[0, place, j],
                positive=rates[1, place, j],
                negative=rates[2, place, j],
                difference=apart[place, j],
            )
            for j, model in enumerate(tally.models)
        }

    first = len(areas)
    return AreaRates(
        areas={name: at(k) for k, name in enumerate(areas)},
        subareas={name: at(first + k) for k, name in enumerate(subareas)},
        spearman={
            model: rank_correlation(
                positive.value[first:, j], negative.value[first:, j], reason="too_few_subareas"
            )
            for j, model in enumerate(tally.models)
        },
        not_placed=int((~groups.any(axis=0)).sum()),
    )


def _places(tally: MetricTally, placements: pd.DataFrame, level: str) -> dict[str, NDArray[np.bool_]]:
    """For each area or subarea in alphabetical order, which metrics (metrics,) sit there."""
    number = {metric: k for k, metric in enumerate(tally.metrics)}
    places: dict[str, NDArray[np.bool_]] = {}
    columns = (placements[name] for name in ("benchmark", "metric", level))
    for benchmark, metric, place in sorted(zip(*columns, strict=True), key=lambda row: str(row[2])):
        if (benchmark, metric) in number:
            here = places.setdefault(str(place), np.zeros(len(tally.metrics), dtype=np.bool_))
            here[number[benchmark, metric]] = True
    return places
