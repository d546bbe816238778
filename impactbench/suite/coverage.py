"""How many metrics of each polarity stand in each subarea."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from impactbench.domain import Polarity
from impactbench.metrics import SuiteMetric
from impactbench.resources import subareas


@dataclass(frozen=True, slots=True)
class SubareaCoverage:
    """A subarea and what stands in it. A metric that stands in two subareas counts in both."""

    domain: str
    subarea: str
    counts: dict[Polarity, int]


def coverage(metrics: Iterable[SuiteMetric]) -> tuple[SubareaCoverage, ...]:
    """Every subarea in the order of the suite, empty ones too."""
    counted = Counter((slug, metric.definition.polarity) for metric in metrics for slug in metric.subareas)
    return tuple(
        SubareaCoverage(
            place.domain, place.name, {polarity: counted[place.slug, polarity] for polarity in Polarity}
        )
        for place in subareas()
    )
