"""Which pages there are for whom. A page that is not for a role is not registered, and refuses besides."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.views import (
    adjudication,
    ages,
    agreement,
    another_device,
    changes,
    corrected,
    coverage,
    entrance,
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
from app.views.public import cases, explore, front, label, metrics, over_time, statistics
from impactbench.domain import Role
from impactbench.store.tables import Rater


def pages_for(looking: Rater) -> list[StreamlitPage] | dict[str, list[StreamlitPage]]:
    """The pages of somebody's role, by section; the default is where they land."""
    if looking.role is Role.EXPERT:
        return _for_experts()
    maintains = looking.role is Role.MAINTAINER
    return {
        "Audit": _audit(looking.role),
        "Judge": _judges(),
        "Design": _design(),
        **({"Upkeep": _upkeep()} if maintains else {}),
        "Public": public_pages(),
    }


def public_pages() -> list[StreamlitPage]:
    """What everybody sees of released studies, whether they are signed in or not."""
    return [
        _page(label.label, "Nutrition label", "label", "nutrition"),
        _page(explore.explore, "Explore", "explore", "compare"),
        _page(metrics.metrics, "Metrics", "metrics", "list_alt"),
        _page(statistics.statistics, "Statistics", "statistics", "functions"),
        _page(over_time.over_time_page, "Over time", "over-time", "timeline"),
        _page(cases.case_studies, "Case studies", "cases", "menu_book"),
    ]


def pages_for_visitors() -> list[StreamlitPage]:
    """The pages for whoever has not signed in: what is released, and the way in."""
    return [
        _page(front.front, "ImpactBench", "about", "home", default=True),
        *public_pages(),
        _page(entrance.entrance, "Sign in", "sign-in", "login"),
    ]


def _for_experts() -> list[StreamlitPage]:
    desk = _page(expert.rate, "Rate", "rate", "edit_note", default=True)
    return [
        desk,
        _page(partial(expert.my_answers, desk), "My answers", "my-answers", "history"),
        _page(practice.practice, "Practice", "practice", "school"),
        _page(submissions.suggest, "Suggest a metric", "suggest", "lightbulb"),
        _page(another_device.another_device, "Another device", "another-device", "devices"),
    ]


def _audit(role: Role) -> list[StreamlitPage]:
    return [
        _page(study.overview, "Study", "study", "home", default=role is Role.METHODOLOGIST),
        _page(coverage.coverage, "Coverage", "coverage", "grid_on"),
        _page(agreement.agreement, "Agreement", "agreement", "groups"),
        _page(raters_audit.raters_audit, "Raters", "raters", "group_search"),
        _page(missing.missing, "What is missing", "missing", "unpublished"),
        _page(
            maintainer.contested_metrics,
            "Contested metrics",
            "contested",
            "flag",
            default=role is Role.MAINTAINER,
        ),
        _page(changes.changes, "Change log", "changes", "history"),
        _page(report.report, "Report", "report", "description"),
        _page(forensics.forensics, "Published figures", "forensics", "query_stats"),
    ]


def _judges() -> list[StreamlitPage]:
    return [
        _page(judge.judge_and_experts, "Judge and experts", "judge", "balance"),
        _page(retest.retest, "Judge against itself", "retest", "replay"),
        _page(own_family.own_family, "Own family", "own-family", "family_history"),
        _page(ages.ages, "Teens and adults", "ages", "escalator_warning"),
        _page(corrected.corrected, "Corrected rates", "corrected", "tune"),
        _page(judges.judges, "Indeterminacy and judges", "judges", "contrast"),
    ]


def _design() -> list[StreamlitPage]:
    return [
        _page(plan.plan, "Plan", "plan", "calculate"),
        _page(registered.registered, "Registered plan", "registered", "lock_clock"),
        _page(progress.progress, "Progress", "progress", "checklist"),
        _page(suite.suite, "Suite", "suite", "category"),
    ]


def _upkeep() -> list[StreamlitPage]:
    return [
        _page(adjudication.adjudicate, "Adjudication", "adjudicate", "gavel"),
        _page(leaks.leaks, "Names in conversations", "names", "visibility_off"),
        _page(exposure_log.exposure_log, "Who was sent what", "exposures", "receipt_long"),
        _page(submissions.submissions, "Submissions", "submissions", "inbox"),
        _page(runs.runs, "Runs", "runs", "play_circle"),
        _page(people.people, "People", "people", "badge"),
    ]


def _page(
    view: Callable[[], None], title: str, path: str, icon: str, *, default: bool = False
) -> StreamlitPage:
    return st.Page(view, title=title, url_path=path, icon=f":material/{icon}:", default=default)
