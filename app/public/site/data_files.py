"""The data behind the pages, for whoever wants to compute with them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from app.public.site.statistics_table import statistics_table
from impactbench.rates.metric_tally import MetricName
from reviews.public.checks import Checked
from reviews.public.conversations import PublicVerdict
from reviews.public.explore import metric_rates
from reviews.public.nutrition import LabelLine, nutrition_labels
from reviews.public.results import PublicResults
from validation.results import Estimate

NAMES = ("rates.csv", "metrics.json", "labels.json", "statistics.csv")
VERDICTS = "verdicts.csv"


def data_names(results: PublicResults) -> tuple[str, ...]:
    """The files that a study has; verdicts on single conversations wait while experts are at work."""
    return NAMES if results.study.under_review else (*NAMES, VERDICTS)


def data_files(
    results: PublicResults, verdicts: Mapping[MetricName, Sequence[PublicVerdict]]
) -> Iterator[tuple[str, bytes]]:
    """Every data file of a study."""
    yield "data/rates.csv", _csv(metric_rates(results))
    yield "data/metrics.json", _json([_metric(one) for one in results.metrics.values()])
    yield "data/labels.json", _json({model: _label(one) for model, one in nutrition_labels(results).items()})
    yield "data/statistics.csv", _csv(statistics_table(results))
    if not results.study.under_review:
        yield f"data/{VERDICTS}", _csv(_verdicts(verdicts))


def _verdicts(verdicts: Mapping[MetricName, Sequence[PublicVerdict]]) -> pd.DataFrame:
    columns = ["scenario", "base_scenario", "age", "model", "present", "passed"]
    rows = [
        (*key, *(getattr(one, name) for name in columns)) for key, of_it in verdicts.items() for one in of_it
    ]
    names = ["benchmark", "metric", *columns]
    return pd.DataFrame(rows, columns=names).sort_values(names[:6], kind="stable")


def _metric(metric: Any) -> dict[str, Any]:
    values = {
        name: getattr(metric, name)
        for name in (
            "benchmark",
            "metric",
            "version",
            "name",
            "polarity",
            "definition",
            "interpretive_clause",
            "evidence",
            "author",
        )
    }
    return {**values, "subareas": list(metric.subareas), "checked": _checked(metric.checked)}


def _label(label: Any) -> dict[str, Any]:
    return {
        **{
            name: getattr(label, name)
            for name in ("family", "provider", "judge", "grouping", "draws", "seed")
        },
        "promotes": [_line(line) for line in label.promotes],
        "avoids": [_line(line) for line in label.avoids],
    }


def _line(line: LabelLine) -> dict[str, Any]:
    return {
        "heading": line.heading,
        "rate": _estimate(line.rate),
        "teen": _estimate(line.teen),
        "adult": _estimate(line.adult),
        "metrics": [f"{benchmark}/{metric}" for benchmark, metric in line.metrics],
        "checked": _checked(line.checked),
    }


def _checked(checked: Checked) -> dict[str, Any]:
    return {
        "status": str(checked.status),
        "metrics": checked.n_metrics,
        "by_status": {str(status): n for status, n in sorted(checked.by_status.items())},
        "experts": checked.n_experts,
        "items": checked.n_items,
        "agreement": _estimate(checked.agreement),
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(estimate).items()
    }


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
