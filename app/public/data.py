"""What public pages show, computed once for each state of a study and then remembered for everybody."""

from collections.abc import Callable
from threading import Lock, Thread
from typing import Any, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.public.visit import Visit
from impactbench.domain import ImpactBenchError, Polarity
from impactbench.store import frames
from reviews.public.cases import Case, cases
from reviews.public.changes import PublicDecision, public_decisions
from reviews.public.conversations import verdicts_of
from reviews.public.explore import Filters, metric_rates, model_order, place_rates
from reviews.public.nutrition import NutritionLabel, nutrition_labels
from reviews.public.paper import paper_statistics
from reviews.public.releasing import public_studies
from reviews.public.results import PublicMetric, PublicResults, kept_public

Result = TypeVar("Result")
_kept: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
_lock = Lock()


def results(visit: Visit) -> PublicResults:
    return kept_public(visit.engine, visit.study.slug, unreleased=True, state=visit.state)


def labels(visit: Visit) -> dict[str, NutritionLabel]:
    return nutrition_labels(results(visit))


def verdicts(visit: Visit, metric: PublicMetric) -> Any:
    return ask(
        visit,
        f"verdicts {metric.metric_version_id}",
        lambda: verdicts_of(visit.engine, results(visit), metric),
    )


def metric_counts(visit: Visit) -> Any:
    return ask(visit, "metric rates", lambda: metric_rates(results(visit)))


def marked(visit: Visit) -> list[Case]:
    return ask(visit, "cases", lambda: cases(visit.engine, results(visit)))


def decisions(visit: Visit) -> list[PublicDecision]:
    return ask(visit, "decisions", lambda: public_decisions(visit.engine, results(visit)))


def versions(visit: Visit, metric: PublicMetric) -> Any:
    """The versions of a metric, newest first: version, created_at, changed_because, definition."""
    known = ask(visit, "versions", lambda: frames.metrics(visit.engine))
    of = known[(known["benchmark"] == metric.benchmark) & (known["metric"] == metric.metric)]
    return of.sort_values("version", ascending=False)


def ask(visit: Visit, name: str, compute: Callable[[], Result]) -> Result:
    """What was computed under this name for the study as it is now, or compute it; older states are forgotten."""
    place = (str(visit.engine.url), visit.study.slug)
    with _lock:
        of, found = _kept.get(place, ("", {}))
        if of != visit.state:
            found = {}
            _kept[place] = visit.state, found
    if name not in found:
        found[name] = compute()
    known: Result = found[name]
    return known


def make_ready(engine: Engine) -> None:
    """Compute what the first visitors will ask for, beside everything else that a start has to do."""
    Thread(target=_make_ready, args=(engine,), name="public results", daemon=True).start()


def _make_ready(engine: Engine) -> None:
    try:
        for study in public_studies(engine):
            read = kept_public(engine, study.slug, unreleased=True)
            if read.tally.metrics:
                nutrition_labels(read)
                place_rates(read, level="all")
                for polarity in Polarity:
                    model_order(read, filters=Filters(polarity=polarity))
                place_rates(read, level="area")
                paper_statistics(read)
    except (ImpactBenchError, SQLAlchemyError):
        return
