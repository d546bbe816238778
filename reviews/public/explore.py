"""Comparing models: which metrics to look at, how to weigh them, what order follows and how sure it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.domain import AgeVariant, Polarity
from impactbench.rates.metric_tally import AGES
from impactbench.rates.rate_intervals import DIFFERENCE, estimates
from impactbench.rates.rate_sample import RateSample
from reviews.public.nutrition import DRAWS
from reviews.public.results import SEED, PublicResults, remembered
from validation.contested import Status
from validation.ranking import Ranking, rank_sets
from validation.results import Estimate

Level = Literal["all", "area", "subarea", "category", "benchmark", "metric"]
Weights = Literal["conversation", "benchmark"] | Mapping[str, float]
"""Every conversation alike, every benchmark alike, or a weight of the reader's own for each area."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What to look at; empty means everything."""

    polarity: Polarity | None = None
    age: AgeVariant | None = None
    families: frozenset[str] = field(default_factory=frozenset)
    models: frozenset[str] = field(default_factory=frozenset)
    benchmarks: frozenset[str] = field(default_factory=frozenset)
    areas: frozenset[str] = field(default_factory=frozenset)
    subareas: frozenset[str] = field(default_factory=frozenset)
    statuses: frozenset[Status] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRate:
    """One model in one place."""

    place: str
    model: str
    rate: Estimate
    positive: Estimate
    negative: Estimate
    teen_minus_adult: Estimate
    n_metrics: int


def metric_rates(results: PublicResults) -> pd.DataFrame:
    """A metric and model: benchmark, metric, name, polarity, status, model, family, and for both ages, teen and adult the
    passed and scored conversations and their rate (missing where nothing was scored); unscored.
    """
    tally = results.tally
    n_models = len(tally.models)
    about = [results.metrics[key] for key in tally.metrics]
    family = dict(zip(results.models["model"], results.models["family"], strict=True))
    frame = pd.DataFrame(
        {
            "benchmark": np.repeat([one.benchmark for one in about], n_models),
            "metric": np.repeat([one.metric for one in about], n_models),
            "name": np.repeat([one.name for one in about], n_models),
            "polarity": np.repeat([one.polarity for one in about], n_models),
            "status": np.repeat([str(one.checked.status) for one in about], n_models),
            "model": np.tile(list(tally.models), len(about)),
            "family": np.tile([family[model] for model in tally.models], len(about)),
        }
    )
    for name, passed, scored in (
        ("both", tally.passed, tally.scored),
        *(
            (str(age), tally.passed_by_age[:, :, a], tally.scored_by_age[:, :, a])
            for a, age in enumerate(AGES)
        ),
    ):
        frame[f"{name}_passed"], frame[f"{name}_scored"] = passed.ravel(), scored.ravel()
        n = frame[f"{name}_scored"]
        frame[f"{name}_rate"] = frame[f"{name}_passed"] / n.where(n > 0)
    frame["unscored"] = tally.unscored.ravel()
    return frame


def place_rates(
    results: PublicResults, *, level: Level = "area", filters: Filters | None = None
) -> list[PlaceRate]:
    """The rates of the chosen models by domain, subarea, heading or benchmark, all on the same resampled metrics."""
    return list(_place_rates(results, level, filters or Filters()))


@remembered
def _place_rates(results: PublicResults, level: Level, filters: Filters) -> tuple[PlaceRate, ...]:
    tally, kept = results.tally, chosen_metrics(results, filters)
    columns = chosen_models(results, filters)
    groups = {
        name: inside & kept for name, inside in members(results, level).items() if (inside & kept).any()
    }
    if not groups or not len(columns):
        return ()
    ages = _ages(filters)
    passed, scored = (
        np.concatenate(
            [counts[:, columns][:, :, ages].sum(axis=2), *np.moveaxis(counts[:, columns], 2, 0)], axis=1
        )
        for counts in (tally.passed_by_age, tally.scored_by_age)
    )
    inside = np.stack(list(groups.values()))
    sample = RateSample.of(
        passed,
        scored,
        strata=tally.strata,
        groups=np.concatenate([inside & polarity for polarity in tally.of_polarities()]),
        draws=DRAWS,
        seed=SEED,
    )
    n, places = len(columns), len(groups)
    rate = estimates(sample[:, :n], strata=tally.strata).reshape(3, places, n)
    apart = estimates(
        sample[:places, n : 2 * n].minus(sample[:places, 2 * n :]),
        strata=tally.strata,
        bounds=DIFFERENCE,
        reason="one_age_only",
    )
    return tuple(
        PlaceRate(
            place=place,
            model=tally.models[column],
            rate=rate[0, k, j],
            positive=rate[1, k, j],
            negative=rate[2, k, j],
            teen_minus_adult=apart[k, j],
            n_metrics=int(inside[k].sum()),
        )
        for k, place in enumerate(groups)
        for j, column in enumerate(columns)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The chosen models in order, with the ranks that the data do not rule out."""

    ranking: Ranking
    by_conversation: Ranking
    """The order with every conversation alike: what the weights have changed is the difference of the two."""
    n_metrics: int


def model_order(
    results: PublicResults, *, filters: Filters | None = None, weights: Weights = "conversation"
) -> Order:
    """The order of the chosen models over the chosen metrics.

    Raises:
        ValueError: a weight is below 0, or none is above 0.
    """
    filters = filters or Filters()
    given = weights if isinstance(weights, str) else tuple(sorted(weights.items()))
    return Order(
        ranking=_ranking(results, filters, given),
        by_conversation=_ranking(results, filters, "conversation"),
        n_metrics=int(chosen_metrics(results, filters).sum()),
    )


@remembered
def _ranking(
    results: PublicResults, filters: Filters, weights: str | tuple[tuple[str, float], ...]
) -> Ranking:
    tally, kept = results.tally, chosen_metrics(results, filters)
    columns, ages = chosen_models(results, filters), _ages(filters)
    passed, scored = (
        counts[kept][:, columns][:, :, ages].sum(axis=2)
        for counts in (tally.passed_by_age, tally.scored_by_age)
    )
    return rank_sets(
        np.where(scored > 0, passed / np.maximum(scored, 1), np.nan),
        names=[tally.models[column] for column in columns],
        seed=SEED,
        weights=_weighed(results, kept, scored.astype(np.float64), weights),
        strata=tally.strata[kept],
    )


def _weighed(
    results: PublicResults,
    kept: NDArray[np.bool_],
    alike: NDArray[np.float64],
    weights: str | tuple[tuple[str, float], ...],
) -> NDArray[np.float64]:
    if weights == "conversation":
        return alike
    if weights == "benchmark":
        number = results.tally.benchmark[kept]
        sums = np.zeros((len(results.tally.benchmarks), alike.shape[1]))
        np.add.at(sums, number, alike)
        return np.where(alike > 0, alike / np.maximum(sums[number], 1), 0.0)
    if isinstance(weights, str):
        raise ValueError(f"weights are 'conversation', 'benchmark' or one for each area, not {weights!r}")
    given = dict(weights)
    if any(weight < 0 for weight in given.values()) or not any(given.values()):
        raise ValueError("weights are 0 or above, and one of them is above 0")
    of_metric = np.zeros(len(kept))
    for area, inside in members(results, "area").items():
        of_metric = np.maximum(of_metric, np.where(inside, given.get(area, 0.0), 0.0))
    return alike * of_metric[kept][:, None]


def members(results: PublicResults, level: Level) -> dict[str, NDArray[np.bool_]]:
    """For each place of a level, in order, which metrics of the tally stand there."""
    tally = results.tally
    if level == "all":
        return {"All metrics": np.ones(len(tally.metrics), dtype=np.bool_)}
    if level == "benchmark":
        return dict(zip(tally.benchmarks, tally.of_benchmarks(), strict=True))
    if level == "metric":
        return {
            f"{benchmark}/{metric}": inside
            for (benchmark, metric), inside in zip(
                tally.metrics, np.eye(len(tally.metrics), dtype=np.bool_), strict=True
            )
        }
    rows = results.categories if level == "category" else results.places
    number = {key: k for k, key in enumerate(tally.metrics)}
    found: dict[str, NDArray[np.bool_]] = {}
    for benchmark, metric, place in rows[["benchmark", "metric", level]].itertuples(index=False):
        found.setdefault(str(place), np.zeros(len(tally.metrics), dtype=np.bool_))[
            number[benchmark, metric]
        ] = True
    return found


def chosen_metrics(results: PublicResults, filters: Filters) -> NDArray[np.bool_]:
    """(metrics,): which metrics the filters leave."""
    tally = results.tally
    kept = np.ones(len(tally.metrics), dtype=np.bool_)
    if filters.polarity:
        kept &= tally.positive == (filters.polarity is Polarity.POSITIVE)
    if filters.benchmarks:
        kept &= np.array([benchmark in filters.benchmarks for benchmark, _ in tally.metrics], dtype=np.bool_)
    if filters.statuses:
        kept &= np.array(
            [results.metrics[key].checked.status in filters.statuses for key in tally.metrics], dtype=np.bool_
        )
    for level, wanted in (("area", filters.areas), ("subarea", filters.subareas)):
        if wanted:
            there = [inside for name, inside in members(results, level).items() if name in wanted]  # type: ignore[arg-type]
            kept &= np.any(there, axis=0) if there else np.zeros_like(kept)
    return kept


def chosen_models(results: PublicResults, filters: Filters) -> NDArray[np.int64]:
    """The columns of the models that the filters leave."""
    family = dict(zip(results.models["model"], results.models["family"], strict=True))
    return np.array(
        [
            column
            for column, model in enumerate(results.tally.models)
            if (not filters.families or family[model] in filters.families)
            and (not filters.models or model in filters.models)
        ],
        dtype=np.int64,
    )


def _ages(filters: Filters) -> list[int]:
    return [a for a, age in enumerate(AGES) if filters.age in (None, age)]
