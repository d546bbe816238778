"""The audit of a study, computed once for each state of its data and then remembered for everybody.

What is remembered belongs to no person; pages check the role of whoever looks before they ask for it.
"""

import streamlit as st

from app import workspace
from impactbench.store import frames
from reviews import contest, evidence
from validation.contested import MetricStatus
from validation.mapping import Policy


def tables(study: str) -> evidence.StudyTables:
    return _tables(study, frames.state(workspace.engine(), study))


def agreement(study: str) -> list[evidence.AgreementRow]:
    return _agreement(study, frames.state(workspace.engine(), study))


def judges(study: str, policy: Policy) -> list[evidence.JudgeRow]:
    return _judges(study, frames.state(workspace.engine(), study), policy)


def statuses(study: str) -> list[MetricStatus]:
    return _statuses(study, frames.state(workspace.engine(), study))


# `state` is not read: it is the key under which a result is remembered.


@st.cache_data(max_entries=4, show_spinner="Reading the study …")
def _tables(study: str, state: str) -> evidence.StudyTables:  # noqa: ARG001
    return evidence.read_tables(workspace.engine(), study)


@st.cache_data(max_entries=4, show_spinner="Computing agreement …")
def _agreement(study: str, state: str) -> list[evidence.AgreementRow]:
    return evidence.agreement(_tables(study, state))


@st.cache_data(max_entries=32, show_spinner="Comparing the judge with the experts …")
def _judges(study: str, state: str, policy: Policy) -> list[evidence.JudgeRow]:
    return evidence.judges_against_experts(_tables(study, state), policy)


@st.cache_data(max_entries=4, show_spinner="Gathering the evidence …")
def _statuses(study: str, state: str) -> list[MetricStatus]:
    return contest.metric_statuses(_tables(study, state))
