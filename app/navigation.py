"""Which pages there are for whom. A page that is not for a role is not registered, and refuses besides."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.views import (
    adjudication,
    expert,
    judge,
    leaks,
    maintainer,
    methodologist,
    people,
    plan,
    progress,
    study,
)
from impactbench.domain import Role
from impactbench.store.tables import Rater


def pages_for(looking: Rater) -> list[StreamlitPage] | dict[str, list[StreamlitPage]]:
    """The pages of somebody's role, by section; the default is where they land."""
    match looking.role:
        case Role.EXPERT:
            return _for_experts()
        case Role.METHODOLOGIST:
            return {"Audit": _audit(Role.METHODOLOGIST), "Design": _design()}
        case _:
            return {"Audit": _audit(Role.MAINTAINER), "Design": _design(), "Upkeep": _upkeep()}


def _for_experts() -> list[StreamlitPage]:
    desk = _page(expert.rate, "Rate", "rate", "edit_note", default=True)
    return [desk, _page(partial(expert.my_answers, desk), "My answers", "my-answers", "history")]


def _audit(role: Role) -> list[StreamlitPage]:
    return [
        _page(study.overview, "Study", "study", "home", default=role is Role.METHODOLOGIST),
        _page(methodologist.coverage, "Coverage", "coverage", "grid_on"),
        _page(methodologist.agreement, "Agreement", "agreement", "groups"),
        _page(judge.judge_and_experts, "Judge and experts", "judge", "balance"),
        _page(
            maintainer.contested_metrics,
            "Contested metrics",
            "contested",
            "flag",
            default=role is Role.MAINTAINER,
        ),
    ]


def _design() -> list[StreamlitPage]:
    return [
        _page(plan.plan, "Plan", "plan", "calculate"),
        _page(progress.progress, "Progress", "progress", "checklist"),
    ]


def _upkeep() -> list[StreamlitPage]:
    return [
        _page(adjudication.adjudicate, "Adjudication", "adjudicate", "gavel"),
        _page(leaks.leaks, "Names in conversations", "names", "visibility_off"),
        _page(people.people, "People", "people", "badge"),
    ]


def _page(
    view: Callable[[], None], title: str, path: str, icon: str, *, default: bool = False
) -> StreamlitPage:
    return st.Page(view, title=title, url_path=path, icon=f":material/{icon}:", default=default)
