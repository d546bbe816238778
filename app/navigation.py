"""Which pages there are for whom. A page that is not for a role is not registered, and refuses besides."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.landing import LANDS_ON
from app.views import (
    adjudication,
    ages,
    agreement,
    another_device,
    changes,
    corrected,
    coverage,
    expert,
    exposure_log,
    forensics,
    judge,
    judges,
    leaks,
    maintainer,
    missing,
    own_family,
    people,
    plan,
    practice,
    progress,
    raters_audit,
    registered,
    report,
    retest,
    runs,
    study,
    submissions,
    suite,
)
from impactbench.domain import Role
from impactbench.store.tables import Rater


@dataclass(frozen=True, slots=True)
class Place:
    """A page of the workbench: what shows it, what it is called, its address and its sign."""

    view: Callable[[], None]
    title: str
    path: str
    icon: str


def _my_answers() -> None:
    expert.my_answers(_page(DESK, Role.EXPERT))


DESK = Place(expert.rate, "Rate", "rate", "edit_note")
FOR_EXPERTS = (
    DESK,
    Place(_my_answers, "My answers", "my-answers", "history"),
    Place(practice.practice, "Practice", "practice", "school"),
    Place(submissions.suggest, "Suggest a metric", "suggest", "lightbulb"),
    Place(another_device.another_device, "Another device", "another-device", "devices"),
)
AUDIT = (
    Place(study.overview, "Study", "study", "home"),
    Place(coverage.coverage, "Coverage", "coverage", "grid_on"),
    Place(agreement.agreement, "Agreement", "agreement", "groups"),
    Place(raters_audit.raters_audit, "Raters", "raters", "group_search"),
    Place(missing.missing, "What is missing", "missing", "unpublished"),
    Place(maintainer.contested_metrics, "Contested metrics", "contested", "flag"),
    Place(changes.changes, "Change log", "changes", "history"),
    Place(report.report, "Report", "report", "description"),
    Place(forensics.forensics, "Published figures", "forensics", "query_stats"),
)
JUDGES = (
    Place(judge.judge_and_experts, "Judge and experts", "judge", "balance"),
    Place(retest.retest, "Judge against itself", "retest", "replay"),
    Place(own_family.own_family, "Own family", "own-family", "family_history"),
    Place(ages.ages, "Teens and adults", "ages", "escalator_warning"),
    Place(corrected.corrected, "Corrected rates", "corrected", "tune"),
    Place(judges.judges, "Indeterminacy and judges", "judges", "contrast"),
)
DESIGN = (
    Place(plan.plan, "Plan", "plan", "calculate"),
    Place(registered.registered, "Registered plan", "registered", "lock_clock"),
    Place(progress.progress, "Progress", "progress", "checklist"),
    Place(suite.suite, "Suite", "suite", "category"),
)
UPKEEP = (
    Place(adjudication.adjudicate, "Adjudication", "adjudicate", "gavel"),
    Place(leaks.leaks, "Names in conversations", "names", "visibility_off"),
    Place(exposure_log.exposure_log, "Who was sent what", "exposures", "receipt_long"),
    Place(submissions.submissions, "Submissions", "submissions", "inbox"),
    Place(runs.runs, "Runs", "runs", "play_circle"),
    Place(people.people, "People", "people", "badge"),
)
ADDRESSES = frozenset(f"/{place.path}" for place in (*FOR_EXPERTS, *AUDIT, *JUDGES, *DESIGN, *UPKEEP))
"""Where the pages of the workbench are, whoever may see them."""


def pages_for(looking: Rater) -> list[StreamlitPage] | dict[str, list[StreamlitPage]]:
    """The pages of somebody's role, by section; the first to open is where the role lands."""
    role = looking.role
    if role is Role.EXPERT:
        return _pages(FOR_EXPERTS, role)
    sections = {"Audit": AUDIT, "Judge": JUDGES, "Design": DESIGN}
    if role is Role.MAINTAINER:
        sections["Upkeep"] = UPKEEP
    return {name: _pages(places, role) for name, places in sections.items()}


def _pages(places: Iterable[Place], role: Role) -> list[StreamlitPage]:
    return [_page(place, role) for place in places]


def _page(place: Place, role: Role | None = None) -> StreamlitPage:
    first = role is not None and LANDS_ON[role] == f"/{place.path}"
    return st.Page(
        place.view, title=place.title, url_path=place.path, icon=f":material/{place.icon}:", default=first
    )
