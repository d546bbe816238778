"""The audit of a study, computed once for each state of its data and then remembered for everybody.

What is remembered belongs to no person and is never changed; pages check the role of whoever looks before they ask for
it. What concerns the labels of one metric is remembered by these labels, so that another label elsewhere leaves it.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from sqlalchemy import Engine
from streamlit.runtime.scriptrunner import get_script_run_ctx

from app import workspace
from impactbench.store import frames
from reviews import evidence
from reviews.audit import (
    ages,
    agreement,
    corrected,
    indeterminacy,
    items,
    judge,
    memory,
    missing,
    own_family,
    panel,
    rater_items,
    raters,
    retest,
)
from reviews.audit.groups import Group, Kind
from reviews.audit.groups import groups as groups_of
from reviews.audit.items import Judge
from reviews.contested import before_after, contest, revisions
from reviews.design.progress import Counts, count_slots
from reviews.evidence_reading import KEPT, StudyReader
from reviews.repeats import IntraRater, intra_rater
from validation.bounds import Bounds
from validation.contested import MetricStatus
from validation.mapping import Policy
from validation.panel_judges import PanelPreference
from validation.results import Estimate

Result = TypeVar("Result")
_SEEN = "impactbench-state-of-study"


def read_ahead(engine: Engine) -> None:
    """Read the studies before anybody asks for them, as many as are kept: most of what the first page would wait for."""
    for study in frames.studies(engine)["study"].head(KEPT):
        _reader(engine).tables(study)


def tables(study: str) -> evidence.StudyTables:
    return _tables(study, _state(study))


def coverage(study: str) -> list[evidence.Coverage]:
    return _ask(study, "coverage", lambda: evidence.coverage(tables(study)))


def agreement_by_group(study: str, coefficient: str) -> list[agreement.GroupAgreement]:
    return _ask(
        study,
        f"agreement {coefficient}",
        lambda: agreement.agreement_by_group(tables(study), coefficient, remember=_memory()),
    )


def weighted_alpha(study: str) -> Any:
    return _ask(study, "weighted alpha", lambda: evidence.weighted_alpha(tables(study).assignments))


def paradox(study: str, group: Group) -> agreement.ParadoxPanel:
    return _ask(
        study, f"paradox {group.kind} {group.name}", lambda: agreement.paradox_panel(tables(study), group)
    )


def coincidences(study: str, group: Group) -> pd.DataFrame:
    return _ask(
        study,
        f"coincidences {group.kind} {group.name}",
        lambda: agreement.coincidences(tables(study), group),
    )


def rater_pairs(study: str, group: Group) -> Mapping[tuple[Hashable, Hashable], Estimate]:
    return _ask(
        study, f"pairs {group.kind} {group.name}", lambda: agreement.rater_pairs(tables(study), group)
    )


def judges(study: str) -> list[Judge]:
    return items.judges_of(tables(study))


def judge_by_group(study: str, one: Judge, policy: Policy, by: str | None = None) -> list[judge.JudgeGroup]:
    return _of(
        study, one, f"groups {policy} {by}", lambda: judge.judge_by_group(tables(study), one, policy, by=by)
    )


def judge_by_metric(study: str, one: Judge, policy: Policy) -> list[judge.JudgeOnMetric]:
    return _of(study, one, f"metrics {policy}", lambda: judge.judge_by_metric(tables(study), one, policy))


def readings(study: str, one: Judge) -> judge.Readings:
    return _of(study, one, "readings", lambda: judge.readings(tables(study), one))


def ceilings(study: str, one: Judge) -> list[judge.Ceiling]:
    return _of(study, one, "ceilings", lambda: judge.ceilings(tables(study), one))


def differing_items(study: str, one: Judge) -> Any:
    return _of(study, one, "differing", lambda: judge.differing_items(tables(study), one))


def under_figure(study: str, one: Judge | None) -> Any:
    name = f"items {one.judge_id if one else None}"
    return _ask(study, name, lambda: items.under_figure(tables(study), one))


def divided_items(study: str, group: Group) -> pd.DataFrame:
    return _ask(
        study,
        f"divided {group.kind} {group.name}",
        lambda: items.divided_items(under_figure(study, None), group.versions),
    )


def judge_retest(study: str, one: Judge) -> retest.JudgeRetest:
    return _of(study, one, "retest", lambda: retest.judge_retest(tables(study), one))


def flipped_items(study: str, one: Judge) -> Any:
    return _of(study, one, "flipped", lambda: retest.flipped_items(tables(study), one))


def own_family_of(study: str, one: Judge, policy: Policy) -> own_family.OwnFamily:
    return _of(study, one, f"own family {policy}", lambda: own_family.own_family(tables(study), one, policy))


def panel_preference(study: str) -> PanelPreference | None:
    return _ask(study, "panel preference", lambda: own_family.panel(tables(study)))


def roles_and_families(study: str) -> Any:
    return _ask(study, "roles", lambda: own_family.roles_and_families(tables(study)))


def age_differences(study: str, one: Judge, policy: Policy) -> list[ages.AgeDifference]:
    return _of(study, one, f"ages {policy}", lambda: ages.age_differences(tables(study), one, policy))


def boards(study: str, one: Judge, policy: Policy) -> list[corrected.Board]:
    return _of(study, one, f"boards {policy}", lambda: corrected.boards(tables(study), one, policy))


def orders(study: str, one: Judge, policy: Policy) -> Any:
    contested = contest.contested_versions(statuses(study))
    return _of(
        study,
        one,
        f"orders {policy}",
        lambda: panel.orders(tables(study), one, policy, contested=contested),
    )


def compare_judges(study: str) -> panel.PanelOfJudges:
    contested = contest.contested_versions(statuses(study))
    return _ask(study, "judges", lambda: panel.compare_judges(tables(study), contested=contested))


def indeterminate(study: str) -> indeterminacy.Indeterminacy:
    return _ask(study, "indeterminacy", lambda: indeterminacy.indeterminacy(tables(study)))


def rater_audit(study: str) -> raters.RaterAudit:
    return _ask(study, "raters", lambda: raters.rater_audit(tables(study)))


def collected(study: str) -> Counts:
    return _ask(study, "collected", lambda: count_slots(tables(study).assignments, tables(study).metrics))


def repeats(study: str) -> list[IntraRater]:
    return _ask(study, "repeats", lambda: intra_rater(tables(study).assignments))


def items_of_rater(study: str, rater: str) -> pd.DataFrame:
    return _ask(
        study,
        f"items of rater {rater}",
        lambda: rater_items.items_of_rater(tables(study), under_figure(study, None), rater),
    )


def missing_from(study: str) -> missing.Missing:
    return _ask(study, "missing", lambda: missing.missing(tables(study)))


def without_answer(study: str) -> Any:
    return _ask(study, "without answer", lambda: missing.without_answer(tables(study)))


def statuses(study: str, judge: items.Judge | None = None) -> list[MetricStatus]:
    """As `metric_statuses` gives them: by the judge with most verdicts where none is named."""
    return _ask(
        study,
        f"statuses {judge.judge_id if judge else ''}",
        lambda: contest.metric_statuses(tables(study), judge=judge, remember=_memory()),
    )


def pass_rate_bounds(study: str, metric_version_id: int) -> Bounds:
    return _ask(
        study,
        f"pass rate {metric_version_id}",
        lambda: indeterminacy.metric_pass_rate(tables(study), metric_version_id),
    )


def revision_states(study: str, decided: pd.DataFrame) -> list[revisions.RevisionState]:
    known = decided["disposition_id"].max() if len(decided) else 0
    return _ask(
        study,
        f"revisions {known}",
        lambda: revisions.revision_states(workspace.engine(), study, decided),
    )


def before_and_after(study: str, old: int, new: int) -> before_after.BeforeAfter:
    return _ask(
        study,
        f"before and after {old} {new}",
        lambda: before_after.before_and_after(tables(study), old=old, new=new),
    )


def groups(study: str, kinds: Sequence[Kind] = tuple(Kind)) -> list[Group]:
    return groups_of(tables(study), kinds)


def _of(study: str, one: Judge, name: str, compute: Callable[[], Result]) -> Result:
    return _ask(study, f"judge {one.judge_id} {name}", compute)


def _ask(study: str, name: str, compute: Callable[[], Result]) -> Result:
    """What was computed under this name for the study as it is now, or compute it."""
    found: Result = _remembered(study, _state(study), name, compute)
    return found


def _state(study: str) -> str:
    """The state of the data, asked once a run of a page: what one page shows belongs together."""
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return frames.state(workspace.engine(), study)
    # Every run of a page begins with cursors of its own, so that what an earlier run saw is told from this one's.
    cursors, states = st.session_state.get(_SEEN, (None, {}))
    if cursors is not run.cursors:
        states = {}
        st.session_state[_SEEN] = run.cursors, states
    if study not in states:
        states[study] = frames.state(workspace.engine(), study)
    return str(states[study])


# `state` and `name` are not read: they are the key under which a result is remembered.


@st.cache_resource(max_entries=4, show_spinner="Reading the study …")
def _tables(study: str, state: str) -> evidence.StudyTables:  # noqa: ARG001
    return _reader(workspace.engine()).tables(study)


@lru_cache(maxsize=1)
def _reader(engine: Engine) -> StudyReader:
    return StudyReader(engine)


@st.cache_resource(max_entries=256, show_spinner="Computing …")
def _remembered(study: str, state: str, name: str, _compute: Callable[[], Any]) -> Any:  # noqa: ARG001
    return _compute()


@st.cache_resource(show_spinner=False)
def _memory() -> memory.Memory:
    return memory.Memory()
