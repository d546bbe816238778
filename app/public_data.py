"""What public pages show, computed once for each state of a study and then remembered for everybody.

A page asks `in_view.study_in_view` first, which decides whether whoever looks may see the study at all.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from app import workspace
from impactbench.store import frames
from reviews.public.conversations import verdicts_of
from reviews.public.explore import metric_rates
from reviews.public.nutrition import NutritionLabel, nutrition_labels
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicMetric, PublicResults, public_state, read_public

Result = TypeVar("Result")
_STATE = "public-state"


def look_at(study: PublicStudy) -> None:
    """Fix the state of the study for this run of a page: everything on it is from the same state, asked for once."""
    st.session_state[_STATE] = public_state(workspace.engine(), study.slug)


def results(study: PublicStudy) -> PublicResults:
    return ask(study, "results", lambda: read_public(workspace.engine(), study.slug, unreleased=True))


def labels(study: PublicStudy) -> dict[str, NutritionLabel]:
    return ask(study, "labels", lambda: nutrition_labels(results(study)))


def verdicts(study: PublicStudy, metric: PublicMetric) -> Any:
    return ask(
        study,
        f"verdicts {metric.metric_version_id}",
        lambda: verdicts_of(workspace.engine(), results(study), metric),
    )


def metric_counts(study: PublicStudy) -> Any:
    return ask(study, "metric rates", lambda: metric_rates(results(study)))


def versions(study: PublicStudy, metric: PublicMetric) -> Any:
    """The versions of a metric, newest first: version, created_at, changed_because, definition."""
    known = ask(study, "versions", lambda: frames.metrics(workspace.engine()))
    of = known[(known["benchmark"] == metric.benchmark) & (known["metric"] == metric.metric)]
    return of.sort_values("version", ascending=False)


def ask(study: PublicStudy, name: str, compute: Callable[[], Result]) -> Result:
    """What was computed under this name for the study as it is now, or compute it."""
    of = f"{workspace.engine().url} {study.slug}"
    found: Result = _remembered(of, st.session_state[_STATE], name, compute)
    return found


# `study` and `state` and `name` are not read: they are the key under which a result is remembered.


@st.cache_resource(max_entries=256, show_spinner="Reading the results …")
def _remembered(study: str, state: str, name: str, _compute: Callable[[], Any]) -> Any:  # noqa: ARG001
    return _compute()
