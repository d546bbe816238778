"""The nutrition label of a model: what it promotes and what it avoids, kept apart, each line with its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from impactbench.domain import AgeVariant, Polarity
from impactbench.rates.metric_tally import AGES, MetricTally
from impactbench.rates.rate_intervals import estimates
from impactbench.rates.rate_sample import RateSample
from reviews.public.checks import Checked
from reviews.public.results import SEED, PublicResults, remembered
from validation.results import Estimate

DRAWS = 2_000
EVERYTHING = "All metrics"
GROUPINGS = ("category", "subarea", "area")
"""What the lines of a label may be: headings written for readers, or where the taxonomy puts the metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelLine:
    """One line of a label."""

    heading: str
    polarity: Polarity
    """Positive: how often the wanted behaviours are there. Negative: how often the unwanted ones are not."""
    rate: Estimate
    """The share of conversations that pass, of both ages."""
    teen: Estimate
    adult: Estimate
    metrics: tuple[tuple[str, str], ...]
    """Benchmark and metric of what stands behind it."""
    checked: Checked


@dataclass(frozen=True, slots=True, kw_only=True)
class NutritionLabel:
    """The label of one model."""

    model: str
    family: str
    provider: str
    judge: str
    grouping: str
    promotes: tuple[LabelLine, ...]
    """Wanted behaviours."""
    avoids: tuple[LabelLine, ...]
    """Unwanted behaviours."""
    draws: int
    seed: int


def nutrition_labels(results: PublicResults, *, by: str | None = None) -> dict[str, NutritionLabel]:
    """The labels of all models, on the same resampled metrics.

    Args:
        results: from `read_public`.
        by: `category`, `subarea` or `area`; categories where the study has them, else subareas.
    """
    grouping = by or ("category" if len(results.categories) else "subarea")
    if grouping not in GROUPINGS:
        raise ValueError(f"a label goes by {', '.join(GROUPINGS)}, not by {grouping!r}")
    return dict(_labels(results, grouping))


@remembered
def _labels(results: PublicResults, grouping: str) -> dict[str, NutritionLabel]:
    tally = results.tally
    if not tally.metrics:
        return {}
    members = results.categories if grouping == "category" else results.places
    groups = {EVERYTHING: np.ones(len(tally.metrics), dtype=np.bool_), **_groups(tally, members, grouping)}
    lines = [
        (heading, polarity, inside & (tally.positive == (polarity is Polarity.POSITIVE)))
        for polarity in Polarity
        for heading, inside in groups.items()
    ]
    lines = [line for line in lines if line[2].any()]
    found = rates(tally, np.stack([inside for _, _, inside in lines]))
    checked = {
        (heading, polarity): results.checks.of(_versions(results, inside))
        for heading, polarity, inside in lines
    }
    about = results.models.set_index("model")
    return {
        model: _label(results, model, j, grouping, lines, found, checked, about)
        for j, model in enumerate(tally.models)
    }


def rates(tally: MetricTally, groups: NDArray[np.bool_], *, draws: int = DRAWS) -> NDArray[np.object_]:
    """(groups, models, 3): the pass rate over groups of metrics (groups, metrics): both ages, teen, adult."""
    passed, scored = (
        np.concatenate([counts.sum(axis=2, keepdims=True), counts], axis=2).reshape(len(tally.metrics), -1)
        for counts in (tally.passed_by_age, tally.scored_by_age)
    )
    sample = RateSample.of(passed, scored, strata=tally.strata, groups=groups, draws=draws, seed=SEED)
    return estimates(sample, strata=tally.strata).reshape(len(groups), len(tally.models), 1 + len(AGES))


def _groups(tally: MetricTally, members: pd.DataFrame, by: str) -> dict[str, NDArray[np.bool_]]:
    number = {key: k for k, key in enumerate(tally.metrics)}
    groups: dict[str, NDArray[np.bool_]] = {}
    for benchmark, metric, heading in members[["benchmark", "metric", by]].itertuples(index=False):
        inside = groups.setdefault(str(heading), np.zeros(len(tally.metrics), dtype=np.bool_))
        inside[number[benchmark, metric]] = True
    return groups


def _versions(results: PublicResults, inside: NDArray[np.bool_]) -> list[int]:
    return [
        results.metrics[key].metric_version_id
        for key, kept in zip(results.tally.metrics, inside, strict=True)
        if kept
    ]


def _label(
    results: PublicResults,
    model: str,
    j: int,
    grouping: str,
    lines: list[tuple[str, Polarity, NDArray[np.bool_]]],
    found: NDArray[np.object_],
    checked: Mapping[tuple[str, Polarity], Checked],
    about: pd.DataFrame,
) -> NutritionLabel:
    made = [
        LabelLine(
            heading=heading,
            polarity=polarity,
            rate=found[k, j, 0],
            teen=found[k, j, 1 + AGES.index(AgeVariant.TEEN)],
            adult=found[k, j, 1 + AGES.index(AgeVariant.ADULT)],
            metrics=tuple(key for key, kept in zip(results.tally.metrics, inside, strict=True) if kept),
            checked=checked[heading, polarity],
        )
        for k, (heading, polarity, inside) in enumerate(lines)
    ]
    return NutritionLabel(
        model=model,
        family=str(about.loc[model, "family"]),
        provider=str(about.loc[model, "provider"]),
        judge=results.judge,
        grouping=grouping,
        promotes=tuple(line for line in made if line.polarity is Polarity.POSITIVE),
        avoids=tuple(line for line in made if line.polarity is Polarity.NEGATIVE),
        draws=DRAWS,
        seed=SEED,
    )
