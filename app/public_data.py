"""What public pages show, computed once for each state of a study and then remembered for everybody.

A page asks `in_view.study_in_view` first, which decides whether whoever looks may see the study at all.
"""

from collections.abc import Callable
from threading import Lock, Thread
from typing import Any, TypeVar

import streamlit as st
from sqlalchemy.exc import SQLAlchemyError

from app import workspace
from impactbench.domain import ImpactBenchError, Polarity
from impactbench.store import frames
from reviews.public.cases import Case, cases
from reviews.public.changes import PublicDecision, public_decisions
from reviews.public.conversations import verdicts_of
from reviews.public.explore import Filters, metric_rates, model_order, place_rates
from reviews.public.nutrition import NutritionLabel, nutrition_labels
from reviews.public.paper import paper_statistics
from reviews.public.releasing import PublicStudy, public_studies
from reviews.public.results import PublicMetric, PublicResults, kept_public, public_state

Result = TypeVar("Result")
_STATE = "public-state"
_kept: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
_lock = Lock()


def look_at(study: PublicStudy) -> None:
    """Fix the state of the study for this run of a page: everything on it is from the same state, asked for once."""
    st.session_state[_STATE] = public_state(workspace.engine(), study.slug)


def results(study: PublicStudy) -> PublicResults:
    state = st.session_state[_STATE]
    return kept_public(workspace.engine(), study.slug, unreleased=True, state=state)


def labels(study: PublicStudy) -> dict[str, NutritionLabel]:
    return nutrition_labels(results(study))


def verdicts(study: PublicStudy, metric: PublicMetric) -> Any:
    return ask(
        study,
        f"verdicts {metric.metric_version_id}",
        lambda: verdicts_of(workspace.engine(), results(study), metric),
    )


def metric_counts(study: PublicStudy) -> Any:
    return ask(study, "metric rates", lambda: metric_rates(results(study)))


def marked(study: PublicStudy) -> list[Case]:
    return ask(study, "cases", lambda: cases(workspace.engine(), results(study)))


def decisions(study: PublicStudy) -> list[PublicDecision]:
    return ask(study, "decisions", lambda: public_decisions(workspace.engine(), results(study)))


def versions(study: PublicStudy, metric: PublicMetric) -> Any:
    """The versions of a metric, newest first: version, created_at, changed_because, definition."""
    known = ask(study, "versions", lambda: frames.metrics(workspace.engine()))
    of = known[(known["benchmark"] == metric.benchmark) & (known["metric"] == metric.metric)]
    return of.sort_values("version", ascending=False)


def ask(study: PublicStudy, name: str, compute: Callable[[], Result]) -> Result:
    """What was computed under this name for the study as it is now, or compute it; older states are forgotten."""
    place, state = (str(workspace.engine().url), study.slug), st.session_state[_STATE]
    with _lock:
        of, found = _kept.get(place, ("", {}))
        if of != state:
            found = {}
            _kept[place] = state, found
    if name not in found:
        found[name] = compute()
    known: Result = found[name]
    return known


def make_ready() -> None:
    """Compute what the first visitors will ask for, beside everything else that a start has to do."""
    Thread(target=_make_ready, name="public results", daemon=True).start()


def _make_ready() -> None:
    try:
        engine = workspace.engine()
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
