"""What public pages show, computed once for each state of a study and then remembered for everybody.

A page asks `in_view.study_in_view` first, which decides whether whoever looks may see the study at all.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from app import workspace
from reviews.public.nutrition import NutritionLabel, nutrition_labels
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicResults, public_state, read_public

Result = TypeVar("Result")


def results(study: PublicStudy) -> PublicResults:
    return ask(study, "results", lambda: read_public(workspace.engine(), study.slug, unreleased=True))


def labels(study: PublicStudy) -> dict[str, NutritionLabel]:
    return ask(study, "labels", lambda: nutrition_labels(results(study)))


def ask(study: PublicStudy, name: str, compute: Callable[[], Result]) -> Result:
    """What was computed under this name for the study as it is now, or compute it."""
    found: Result = _remembered(study.slug, public_state(workspace.engine(), study.slug), name, compute)
    return found


# `study` and `state` and `name` are not read: they are the key under which a result is remembered.


@st.cache_resource(max_entries=256, show_spinner="Reading the results …")
def _remembered(study: str, state: str, name: str, _compute: Callable[[], Any]) -> Any:  # noqa: ARG001
    return _compute()
