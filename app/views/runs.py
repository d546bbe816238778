"""The runs of the pipeline: what is running, left, failed with its reason, and spent."""

import pandas as pd
import streamlit as st

from app import workspace
from app.wording import count
from impactbench.domain import Role
from impactbench.runs.status import RunStatus, run_statuses
from impactbench.runs.version_log import Change, version_log
from impactbench.store import run_frames

_LATEST_CHANGES = 20


def runs() -> None:
    """Where each run stands, for whoever keeps them going."""
    workspace.require_role(Role.MAINTAINER)
    st.title("Runs")
    engine = workspace.engine()
    statuses = run_statuses(engine)
    if not statuses:
        st.text("No run was started yet. Write a study file, then: impactbench run start FILE")
    else:
        _summary(statuses)
        st.dataframe(pd.DataFrame([_row(one) for one in statuses]), hide_index=True, width="stretch")
        _one(_chosen(statuses))
    _changes(version_log(engine))


def _summary(statuses: list[RunStatus]) -> None:
    running = sum(one.running for one in statuses)
    unfinished = sum(not one.running and not one.finished for one in statuses)
    failed = sum(one.failed for one in statuses)
    st.markdown(
        f"**{count(running, 'run')} {'is' if running == 1 else 'are'} going on,"
        f" {count(unfinished, 'run')} {'is' if unfinished == 1 else 'are'} stopped with something left,"
        f" {count(failed, 'unit')} failed and {'is' if failed == 1 else 'are'} due again.**"
    )


def _row(one: RunStatus) -> dict[str, object]:
    return {
        "Study": one.study,
        "Run": one.run,
        "State": "running" if one.running else "finished" if one.finished else "stopped",
        "Conversations": one.conversations,
        "Left": one.conversations_left,
        "Judgments": one.judgments,
        "Left to judge": one.judgments_left,
        "Failed": one.failed,
        "Unscored": one.unscored,
        "Calls": one.calls,
        "US dollars": one.money,
        "Started (UTC)": f"{one.started_at:%Y-%m-%d %H:%M}",
    }


def _chosen(statuses: list[RunStatus]) -> RunStatus:
    names = [f"{one.study}, {one.run}" for one in statuses]
    place = st.selectbox("Run", range(len(names)), format_func=names.__getitem__)
    return statuses[place or 0]


def _one(status: RunStatus) -> None:
    engine = workspace.engine()
    st.text(status.sentence)
    if not status.running and not status.finished:
        st.caption("To go on where it stopped, with the study file that it was started from:")
        st.code("impactbench run start FILE", language=None, wrap_lines=True)
    st.header("Failed, and why")
    failures = run_frames.open_failures(engine, status.run_id)
    if failures.empty:
        st.text("Nothing has failed that was not finished since.")
    else:
        _table(failures[["stage", "subject", "model", "kind", "tries", "retries", "because"]], _FAILURES)
        st.caption("They are due again with the next start. Retries are the tries within one call.")
    st.header("Unscored, and why")
    unscored = run_frames.unscored(engine, status.run_id)
    if unscored.empty:
        st.text("Every judgment has a verdict.")
    else:
        _table(unscored, {"reason": "Why", "judgments": "Judgments"})
    st.header("How conversations ended")
    _table(run_frames.endings(engine, status.run_id), _ENDINGS)
    st.caption("Incomplete conversations are not judged.")
    st.header("Spent")
    st.text(f"{count(status.calls, 'call')}, {status.tokens:,} tokens, {status.money_in_words}.")
    if status.lost:
        st.text(
            f"{count(status.lost, 'call')} lost with the process that made them; each may have been paid for twice."
        )
    _table(run_frames.spent(engine, status.run_id), _SPENT)


_FAILURES = {
    "stage": "Stage",
    "subject": "What",
    "model": "Model",
    "kind": "Kind",
    "tries": "Tries",
    "retries": "Retries",
    "because": "Why",
}
_ENDINGS = {"status": "Status", "termination": "Ended because", "conversations": "Conversations"}
_SPENT = {
    "purpose": "For",
    "model": "Model",
    "calls": "Calls",
    "tokens_in": "Tokens in",
    "tokens_out": "Tokens out",
    "cost_usd": "US dollars",
    "unpriced": "Price not known",
    "retries": "Retries",
    "seconds": "Seconds",
}


def _table(frame: pd.DataFrame, columns: dict[str, str]) -> None:
    shown = frame.rename(columns=columns)
    for name in ("Stage", "For", "Kind", "Ended because"):
        if name in shown:
            shown[name] = [str(word).replace("_", " ") for word in shown[name]]
    if "US dollars" in shown:
        shown["US dollars"] = [
            "not known" if pd.isna(cost) else f"{cost:,.2f}" for cost in shown["US dollars"]
        ]
    if "Seconds" in shown:
        shown["Seconds"] = [f"{seconds:,.0f}" for seconds in shown["Seconds"]]
    st.dataframe(shown, hide_index=True, width="stretch")


def _changes(log: list[Change]) -> None:
    st.header("Versions of metrics")
    if not log:
        st.text("No metric has changed since it was first kept.")
        return
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Metric": change.metric,
                    "Version": change.version,
                    "When (UTC)": f"{change.at:%Y-%m-%d}",
                    "What": ", ".join(one.field.replace("_", " ") for one in change.differences) or "first",
                    "Taken out": "; ".join(one.removed_and_added[0] for one in change.differences),
                    "Put in": "; ".join(one.removed_and_added[1] for one in change.differences),
                    "Why": change.because,
                    "For runs": change.due_again,
                }
                for change in log[:_LATEST_CHANGES]
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    st.caption("The whole log as a file:")
    st.code("impactbench run changes --output CHANGES.md", language=None, wrap_lines=True)
