"""The statistics of a paper as a page, and as one long table for whoever computes with them."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from impactbench.domain import Polarity
from reviews.public.cases import Case
from reviews.public.paper import PaperStatistics, paper_statistics
from reviews.public.results import PublicResults
from reviews.public.site.pages import File, Press
from reviews.public.site.words import points, share
from validation.results import Estimate

DATA = "statistics.csv"
_WIDEST = 20


def statistics_files(press: Press, results: PublicResults, cases: list[Case]) -> Iterator[File]:
    """The page and its data."""
    found = paper_statistics(results)
    settled = [
        pair
        for pair, apart in found.rates.differences.items()
        if apart.pooled.low is not None
        and apart.pooled.high is not None
        and not apart.pooled.low <= 0 <= apart.pooled.high
    ]
    answer = (
        f"Of {len(found.rates.differences)} pairs of models, {len(settled)} differ by more than their own interval;"
        " taken one pair at a time, so a few of them by chance."
    )
    page = press.page(
        "statistics",
        study=results.study,
        answer=answer,
        draws=found.draws,
        seed=found.seed,
        notes=list(found.rates.notes),
        tables=[*_tables(results, found), *_case_table(results, cases)],
    )
    yield "statistics.html", page
    yield f"data/{DATA}", pd.DataFrame(list(_long(found))).to_csv(index=False, lineterminator="\n").encode()


def _tables(results: PublicResults, found: PaperStatistics) -> Iterator[dict[str, Any]]:
    yield {
        "title": "Pass rates",
        "caption": "Shares of conversations that pass, and how far one benchmark moves them",
        "columns": ["Model", "All", "Wanted", "Unwanted", "Every benchmark alike", "Without one benchmark"],
        "rows": [
            [
                model,
                share(rates.pooled),
                *(share(rates.by_polarity[polarity]) for polarity in Polarity),
                share(rates.equal_benchmark),
                _between([one.value for one in rates.without_benchmark.values()]),
            ]
            for model, rates in found.rates.models.items()
        ],
    }
    yield {
        "title": "Teens and adults",
        "caption": "Teens minus adults in points, and whether the same benchmarks are hard with both",
        "columns": ["Model", "All", "Wanted", "Unwanted", "Order of benchmarks (Spearman)"],
        "rows": [
            [
                model,
                points(ages.difference),
                *(points(ages.by_polarity[polarity]) for polarity in Polarity),
                _plain(ages.spearman),
            ]
            for model, ages in found.ages.models.items()
        ],
    }
    yield {
        "title": "Behaviours with the widest difference between teens and adults",
        "caption": f"Over all models; the {_WIDEST} widest, each of few conversations. All are in the data",
        "columns": ["Behaviour", "Teens minus adults, points", "Conversations"],
        "rows": [
            [results.metrics[key].name, round(100 * (one.value or 0)), one.n]
            for key, one in sorted(
                ((key, one) for key, one in found.ages.by_metric.items() if one.defined),
                key=lambda pair: (-abs(pair[1].value or 0), pair[0]),
            )[:_WIDEST]
        ],
    }
    yield {
        "title": "Benchmarks",
        "caption": "Does a benchmark order the models as the others do? 1 the same order, -1 reversed",
        "columns": ["Benchmark", "Spearman with the rest", "Models"],
        "rows": [[name, _plain(order.spearman), len(order.on_it)] for name, order in found.orders.items()],
    }
    yield {
        "title": "How far apart the models are",
        "caption": "By subarea and polarity, widest first",
        "columns": ["Subarea", "Behaviours", "Lowest", "Highest", "Apart, points"],
        "rows": [
            [
                one.subarea,
                "wanted" if one.polarity == Polarity.POSITIVE else "unwanted",
                f"{one.lowest_model} {one.lowest:.0%}",
                f"{one.highest_model} {one.highest:.0%}",
                round(100 * one.range),
            ]
            for one in found.spread
        ],
    }


def _case_table(results: PublicResults, cases: list[Case]) -> Iterator[dict[str, Any]]:
    if cases:
        yield {
            "title": "Case studies",
            "caption": "Where in a conversation a behaviour first appears, and whether the model takes it back",
            "columns": ["Behaviour", "Model", "First appears", "Taken back", "Note"],
            "rows": [
                [
                    results.metrics[case.benchmark, case.metric].name,
                    case.model,
                    f"exchange {case.first_turn}" if case.first_turn else "never",
                    f"in exchange {case.corrected_turn}" if case.corrected else "no",
                    case.note,
                ]
                for case in cases
            ],
        }


def _between(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{min(known):.0%} to {max(known):.0%}" if known else "no number: no other benchmark"


def _plain(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"no number: {(estimate.undefined_because or '').replace('_', ' ')}"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} (no interval)"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def _long(found: PaperStatistics) -> Iterator[dict[str, Any]]:
    for model, rates in found.rates.models.items():
        yield _row("pass rate", model, "all", rates.pooled)
        yield _row("pass rate, every benchmark alike", model, "all", rates.equal_benchmark)
        for polarity, one in rates.by_polarity.items():
            yield _row("pass rate by polarity", model, str(polarity), one)
        for benchmark, one in rates.by_benchmark.items():
            yield _row("pass rate by benchmark", model, benchmark, one)
        for benchmark, one in rates.without_benchmark.items():
            yield _row("pass rate without a benchmark", model, benchmark, one)
    for (first, second), apart in found.rates.differences.items():
        yield _row("difference of pass rates", f"{first} minus {second}", "all", apart.pooled)
    for level, places in (("domain", found.places.areas), ("subarea", found.places.subareas)):
        for place, by_model in places.items():
            for model, there in by_model.items():
                yield _row(f"pass rate by {level}", model, place, there.rate)
                yield _row(f"positive minus negative by {level}", model, place, there.difference)
    for model, ages in found.ages.models.items():
        yield _row("teens minus adults", model, "all", ages.difference)
        yield _row("Spearman of benchmark rates, teens with adults", model, "benchmarks", ages.spearman)
    for (benchmark, metric), one in found.ages.by_metric.items():
        yield _row("teens minus adults by metric", "all models", f"{benchmark}/{metric}", one)
    for benchmark, order in found.orders.items():
        yield _row("Spearman of a benchmark with the rest", "all models", benchmark, order.spearman)


def _row(statistic: str, subject: str, group: str, estimate: Estimate) -> dict[str, Any]:
    return {
        "statistic": statistic,
        "subject": subject,
        "group": group,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "metrics": estimate.n_clusters,
        "method": estimate.method,
        "undefined_because": estimate.undefined_because,
        "notes": "; ".join(estimate.notes),
    }
