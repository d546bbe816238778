"""The statistics of a paper as tables in plain words: the same on the workbench and in the site."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from impactbench.domain import Polarity
from impactbench.rates.area_rates import PlaceRates
from reviews.public.paper import PaperStatistics
from reviews.public.results import PublicResults
from reviews.public.wording import correlation, in_hundred, points
from validation.results import Estimate

_WIDEST = 20
_KIND = {Polarity.POSITIVE: "helpful", Polarity.NEGATIVE: "harmful"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table whose first cell names the row."""

    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def paper_answer(found: PaperStatistics) -> str:
    """How far the statistics tell models apart, in a sentence."""
    apart = [one.pooled for one in found.rates.differences.values()]
    settled = sum(
        one.low is not None and one.high is not None and not one.low <= 0 <= one.high for one in apart
    )
    return (
        f"Of {len(apart)} pairs of models, {settled} {'differs' if settled == 1 else 'differ'} by more than their own interval; taken one pair at a"
        " time, so a few of them by chance."
    )


def paper_tables(results: PublicResults, found: PaperStatistics) -> list[PaperTable]:
    """Every table, with the rates first."""
    return [
        _rates(results, found),
        *_places(results, found),
        _ages(results, found),
        _ages_by_metric(results, found),
        _benchmarks(found),
        _spread(results, found),
    ]


def _rates(results: PublicResults, found: PaperStatistics) -> PaperTable:
    return PaperTable(
        title="Pass rates",
        caption="Shares of conversations that pass, and how far a single benchmark moves them",
        columns=[
            "Model",
            "All",
            "Helpful shown",
            "Harmful avoided",
            "Every benchmark alike",
            "With one benchmark left out",
        ],
        rows=[
            [
                results.names[model],
                in_hundred(rates.pooled),
                *(in_hundred(rates.by_polarity[polarity]) for polarity in Polarity),
                in_hundred(rates.equal_benchmark),
                _between(list(rates.without_benchmark.values())),
            ]
            for model, rates in found.rates.models.items()
        ],
    )


def _places(results: PublicResults, found: PaperStatistics) -> Iterator[PaperTable]:
    by_level: tuple[tuple[str, Mapping[str, Mapping[str, PlaceRates]]], ...] = (
        ("Areas", found.places.areas),
        ("Subareas", found.places.subareas),
    )
    for title, places in by_level:
        yield PaperTable(
            title=title,
            caption="Shares of conversations that pass; the last column is helpful minus harmful, in points",
            columns=["Where", "Model", "All", "Helpful shown", "Harmful avoided", "Apart"],
            rows=[
                [
                    place,
                    results.names[model],
                    in_hundred(there.rate),
                    in_hundred(there.positive),
                    in_hundred(there.negative),
                    points(there.difference),
                ]
                for place, by_model in places.items()
                for model, there in by_model.items()
            ],
        )


def _ages(results: PublicResults, found: PaperStatistics) -> PaperTable:
    return PaperTable(
        title="Teens and adults",
        caption="Teens minus adults in points, and whether the same benchmarks are hard with both (1: in the same order)",
        columns=["Model", "All", "Helpful", "Harmful", "Order of benchmarks (Spearman)"],
        rows=[
            [
                results.names[model],
                points(ages.difference),
                *(points(ages.by_polarity[polarity]) for polarity in Polarity),
                correlation(ages.spearman),
            ]
            for model, ages in found.ages.models.items()
        ],
    )


def _ages_by_metric(results: PublicResults, found: PaperStatistics) -> PaperTable:
    known = [(key, one) for key, one in found.ages.by_metric.items() if one.defined]
    known.sort(key=lambda pair: (-abs(pair[1].value or 0), pair[0]))
    return PaperTable(
        title="Behaviours with the widest difference between teens and adults",
        caption=f"Over all models; the {_WIDEST} widest of {len(known)}. Each rests on few conversations",
        columns=["Behaviour", "Teens minus adults, points", "Conversations"],
        rows=[[results.metrics[key].name, points(one), str(one.n)] for key, one in known[:_WIDEST]],
    )


def _benchmarks(found: PaperStatistics) -> PaperTable:
    return PaperTable(
        title="Benchmarks",
        caption="Does a benchmark order the models as the others do? 1: the same order, -1: reversed",
        columns=["Benchmark", "Spearman with the rest", "Models"],
        rows=[
            [name, correlation(order.spearman), str(len(order.on_it))] for name, order in found.orders.items()
        ],
    )


def _spread(results: PublicResults, found: PaperStatistics) -> PaperTable:
    return PaperTable(
        title="How far apart the models are",
        caption="By subarea and kind of behaviour, widest first: rates without intervals, since the lowest and the"
        " highest of many are further apart than the models are",
        columns=["Subarea", "Behaviours", "Lowest", "Highest", "Apart, points"],
        rows=[
            [
                one.subarea,
                _KIND[Polarity(one.polarity)],
                f"{one.lowest:.0%} ({results.names[one.lowest_model]})",
                f"{one.highest:.0%} ({results.names[one.highest_model]})",
                f"{100 * one.range:.0f}",
            ]
            for one in found.spread
        ],
    )


def _between(estimates: Sequence[Estimate]) -> str:
    known = [one.value for one in estimates if one.value is not None]
    return f"{min(known):.0%} to {max(known):.0%}" if known else "no number: there is no other benchmark"
