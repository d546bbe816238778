"""What was suggested and what became of it, as any page shows it: all of it text that people wrote."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import workspace
from app.trials import run_trial
from app.views.suite import WANTED, suite_in_use
from impactbench.domain import ImpactBenchError, SubmissionDecision
from impactbench.providers.embedded import NOT_EVIDENCE, is_evidence
from impactbench.suite.check import Rule
from impactbench.suite.submission_store import Revision, Suggestion
from impactbench.suite.submission_trials import NO_MODEL
from impactbench.suite.submissions import SubmissionContent, findings

SAID = "submission-said"
ADVICE = {
    SubmissionDecision.ACCEPT: "Accept it as it stands",
    SubmissionDecision.REVISE: "Send it back to be revised",
    SubmissionDecision.MERGE: "Merge it into another metric",
    SubmissionDecision.REJECT: "Reject it",
}
_TOLD_OTHERWISE = {Rule.EXAMPLES_MISSING, Rule.QUESTION}
"""What the form says in its own words as long as it is missing."""
_JUDGED = {True: "present", False: "absent", None: "no verdict"}


def show_content(content: SubmissionContent) -> None:
    """The three parts."""
    justification, scenario, scoring = content.justification, content.scenario, content.scoring
    wanted = "" if scoring.polarity is None else f"a behaviour that is {WANTED[scoring.polarity]}"
    _part(
        "Justification",
        {
            "Benchmark": [justification.benchmark],
            "The construct behind it": [justification.phenomenon],
            "Subareas": [", ".join(justification.subareas)],
            "Why it matters": [justification.matters],
            "Literature": justification.literature,
        },
    )
    _part(
        "Scenario",
        {
            "Who writes": [scenario.who],
            "What the chatbot can know": [scenario.known_context],
            "What it cannot know": [scenario.unknown_context],
            "What the person may write": scenario.messages,
        },
    )
    _part(
        "Scoring",
        {
            "Name": [scoring.name, wanted],
            "Definition": [scoring.definition],
            "Question": [scoring.question],
            "When the evidence conflicts": [scoring.interpretive_clause],
            "Present in": scoring.examples_present,
            "Absent from": scoring.examples_absent,
        },
    )


def show_findings(content: SubmissionContent) -> None:
    """What the rules of the suite find; they are advice."""
    found = [one for one in findings(content, suite_in_use()) if one.rule not in _TOLD_OTHERWISE]
    if not found:
        return
    st.caption("What may be misread. This is advice: rules on words can be wrong.")
    for finding in found:
        st.text(f"• {finding.sentence}; {finding.remedy}.")


def show_trial(revision: Revision, *, for_maintainer: bool) -> None:
    """How the judge fared on the examples, in a sentence and a table; or what is missing, for whoever can mend it."""
    trial = revision.trial
    if trial is None:
        said = "The examples have not been tried on a judge yet."
        wanting = for_maintainer and not workspace.settings().trial_model
        st.text(f"{said} Why: {NO_MODEL}." if wanting else said)
        return
    right = sum(one["present"] is (one["side"] == "present") for one in trial.outcomes)
    told = (
        "The judge tells present from absent"
        if trial.tells_apart
        else "The judge does not tell present from absent"
    )
    st.text(
        f"{told}: {right} of {len(trial.outcomes)} examples as meant ({trial.model}, {trial.at:%d %b %Y})."
    )
    if not is_evidence(trial.model):
        st.text(NOT_EVIDENCE)
    st.dataframe(pd.DataFrame([_outcome(one) for one in trial.outcomes]), hide_index=True, width="stretch")


def show_history(suggestion: Suggestion, *, names: bool) -> None:
    """Every revision with what was said and decided about it, newest first. Names are for maintainers."""
    for revision in reversed(suggestion.revisions):
        st.text(f"Revision {revision.number}, sent {revision.at:%d %b %Y}")
        for place, review in enumerate(revision.reviews, start=1):
            who = review.reviewer if names else f"Reviewer {place}"
            st.text(
                f"{who}: fidelity {review.fidelity}, clarity {review.clarity}, observability {review.observability} of 4."
                f" {ADVICE[review.advice]}. {review.because}"
            )
        if outcome := revision.outcome:
            into = f" ({outcome.merged_into})" if outcome.merged_into else ""
            st.text(f"Decided {outcome.at:%d %b %Y}: {ADVICE[outcome.decision]}{into}. {outcome.because}")


def try_now(code: str) -> None:
    """Try the examples and remember what to say."""
    with st.spinner("Trying the examples on the judge …"):
        because = run_trial(code)
    st.session_state[SAID] = (
        f"The examples could not be tried: {because}" if because else "The examples were tried."
    )


def tell_once() -> None:
    """What the last click did."""
    if said := st.session_state.pop(SAID, None):
        st.text(said)


def remember(action: Any, *arguments: Any, said: str, **named: Any) -> bool:
    """Do something, and remember to say so, or why it was refused."""
    try:
        action(*arguments, **named)
    except ImpactBenchError as refused:
        st.session_state[SAID] = f"Nothing was changed: {refused}."
        return False
    st.session_state[SAID] = said
    return True


def _part(title: str, fields: Mapping[str, Any]) -> None:
    with st.expander(title):
        for name, texts in fields.items():
            st.caption(name)
            for text in [text for text in texts if text] or ["Nothing is said."]:
                st.text(text)


def _outcome(one: Mapping[str, Any]) -> dict[str, str]:
    judged = _JUDGED[one["present"]]
    return {
        "Meant as": one["side"],
        "Judged": judged if judged == one["side"] else f"▲ {judged}",
        "Example": one["example"],
        "Because": one["justification"] or one["because"],
    }
