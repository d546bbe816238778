"""The statistics of a paper as one long table, for whoever computes with them."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from reviews.public.paper import PaperStatistics, paper_statistics
from reviews.public.results import PublicResults
from validation.results import Estimate


def statistics_table(results: PublicResults) -> pd.DataFrame:
    """One row an estimate: statistic, subject, group, value, low, high, n, metrics, method, undefined_because, notes."""
    return pd.DataFrame(list(_long(paper_statistics(results))))


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
