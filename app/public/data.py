"""What public pages show beside the results of a study, asked for once for each state of it and remembered with them."""

from collections.abc import Hashable
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from app.public.visit import Visit
from impactbench.domain import Polarity
from impactbench.rates.metric_tally import MetricName
from impactbench.store import frames
from reviews.public.cases import Case, cases
from reviews.public.changes import PublicDecision, public_decisions
from reviews.public.conversations import PublicVerdict, verdicts_of
from reviews.public.explore import Filters, metric_rates, model_order, place_rates
from reviews.public.nutrition import nutrition_labels
from reviews.public.paper import paper_statistics
from reviews.public.releasing import public_studies
from reviews.public.results import PublicMetric, PublicResults, kept_public, remembered

Rows = list[dict[Hashable, Any]]


def verdicts(visit: Visit, metric: PublicMetric) -> list[PublicVerdict]:
    """Those on a metric, by scenario and model."""
    return _verdicts(visit.results, visit.engine, metric.key)


def counts_of(visit: Visit, metric: PublicMetric) -> Rows:
    """Passed and scored conversations of each model on a metric: the rows of `metric_rates`."""
    return _counts(visit.results).get(metric.key, [])


def marked(visit: Visit) -> list[Case]:
    return _marked(visit.results, visit.engine)


def cases_of(visit: Visit, metric: PublicMetric) -> dict[int, Case]:
    """The cases of a metric, by conversation."""
    of_metric = (case for case in marked(visit) if (case.benchmark, case.metric) == metric.key)
    return {case.conversation_id: case for case in of_metric}


def decisions(visit: Visit) -> list[PublicDecision]:
    return _decisions(visit.results, visit.engine)


def versions_of(visit: Visit, metric: PublicMetric) -> Rows:
    """The versions of a metric, newest first: version, created_at, changed_because, definition."""
    known = _versions(visit.results, visit.engine).get(metric.key, [])
    return sorted(known, key=lambda row: int(row["version"]), reverse=True)


@remembered
def _verdicts(results: PublicResults, engine: Engine, key: MetricName) -> list[PublicVerdict]:
    return verdicts_of(engine, results, results.metrics[key])


@remembered
def _counts(results: PublicResults) -> dict[MetricName, Rows]:
    return _by_metric(metric_rates(results))


@remembered
def _marked(results: PublicResults, engine: Engine) -> list[Case]:
    return cases(engine, results)


@remembered
def _decisions(results: PublicResults, engine: Engine) -> list[PublicDecision]:
    return public_decisions(engine, results)


@remembered
def _versions(_results: PublicResults, engine: Engine) -> dict[MetricName, Rows]:
    return _by_metric(frames.metrics(engine))


def _by_metric(frame: pd.DataFrame) -> dict[MetricName, Rows]:
    found: dict[MetricName, Rows] = {}
    for row in frame.to_dict("records"):
        found.setdefault((row["benchmark"], row["metric"]), []).append(row)
    return found


def compute_ahead(engine: Engine) -> None:
    """Compute what the first visitors will ask for."""
    for study in public_studies(engine):
        read = kept_public(engine, study.slug, unreleased=True)
        if read.tally.metrics:
            nutrition_labels(read)
            place_rates(read, level="all")
            for polarity in Polarity:
                model_order(read, filters=Filters(polarity=polarity))
            place_rates(read, level="area")
            paper_statistics(read)
