"""The read side of runs: what was started, what it made, what failed and what it cost."""

from datetime import datetime

import pandas as pd
from sqlalchemy import Engine, Select, func, inspect, select

from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.frames import (
    conversation,
    judgment,
    metric_version,
    metric_versions,
    run,
    scenario,
    study,
)

attempt = inspect(t.Attempt).columns
call = inspect(t.Call).columns
launch = inspect(t.Launch).columns

FINISHED = "finished"
"""The kind of the attempt that ends the failures of a unit: it was finished at last."""


def launches(engine: Engine) -> pd.DataFrame:
    """A start of a run, newest first: run_id, study, run, number, planned, manifest, started_at, ended_at, ended_because."""
    query = (
        select(
            run.id.label("run_id"),
            study.slug.label("study"),
            run.slug.label("run"),
            launch.number,
            launch.planned,
            launch.manifest,
            launch.started_at,
            launch.ended_at,
            launch.ended_because,
        )
        .join(t.Run, run.id == launch.run_id)
        .join(t.Study, study.id == run.study_id)
        .order_by(launch.started_at.desc(), launch.id.desc())
    )
    return _read(engine, query)


def designs(engine: Engine, study_slug: str) -> pd.DataFrame:
    """A run of a study that was started here, not imported: run_id, run, design (as its first start had it)."""
    query = (
        select(run.id.label("run_id"), run.slug.label("run"), run.manifest)
        .join(t.Study, study.id == run.study_id)
        .where(study.slug == study_slug)
        .order_by(run.id)
    )
    frame = _read(engine, query)
    frame["design"] = [manifest.get("design") for manifest in frame.pop("manifest")]
    return frame[frame["design"].notna()].reset_index(drop=True)


def transcripts(engine: Engine, study_slug: str) -> pd.DataFrame:
    """A complete conversation of a study with what its person was to do: conversation_id, run_id, conversation (its
    key), turns, anchors.
    """
    query = (
        select(
            conversation.id.label("conversation_id"),
            conversation.run_id,
            conversation.key.label("conversation"),
            conversation.turns,
            scenario.anchors,
        )
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .join(t.Scenario, scenario.id == conversation.scenario_id)
        .where(study.slug == study_slug, conversation.status == "complete")
        .order_by(conversation.id)
    )
    return _read(engine, query)


def made(engine: Engine, run_id: int, *, since: datetime | None = None) -> pd.DataFrame:
    """What a run has made, in all or since a time, by stage and status: stage, status, units."""
    of_conversations, of_judgments = [conversation.run_id == run_id], [conversation.run_id == run_id]
    if since is not None:
        of_conversations.append(conversation.created_at >= since)
        of_judgments.append(judgment.created_at >= since)
    conversations = (
        select(conversation.status, func.count().label("units"))
        .where(*of_conversations)
        .group_by(conversation.status)
    )
    verdict = judgment.present.is_not(None).label("scored")
    judgments = (
        select(verdict, func.count().label("units"))
        .select_from(t.Judgment)
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .where(*of_judgments)
        .group_by(verdict)
    )
    first = _read(engine, conversations).assign(stage="conversation")
    second = _read(engine, judgments)
    second["status"] = ["scored" if scored else "unscored" for scored in second.pop("scored")]
    second["stage"] = "judgment"
    return pd.concat([first, second], ignore_index=True)[["stage", "status", "units"]]


def unscored(engine: Engine, run_id: int) -> pd.DataFrame:
    """Why judgments of a run have no verdict: reason, judgments; most frequent first."""
    query = (
        select(judgment.unscored_because.label("reason"), func.count().label("judgments"))
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .where(conversation.run_id == run_id, judgment.present.is_(None))
        .group_by(judgment.unscored_because)
        .order_by(func.count().desc(), judgment.unscored_because)
    )
    return _read(engine, query)


def endings(engine: Engine, run_id: int) -> pd.DataFrame:
    """How the conversations of a run ended: status, termination, conversations."""
    query = (
        select(conversation.status, conversation.termination, func.count().label("conversations"))
        .where(conversation.run_id == run_id)
        .group_by(conversation.status, conversation.termination)
        .order_by(conversation.status, func.count().desc())
    )
    return _read(engine, query)


def failures(engine: Engine, run_id: int) -> pd.DataFrame:
    """A unit that could not be finished, each time that it was tried, newest first: unit, stage, subject, model, kind,
    because, retries, seconds, at. One of the kind `finished` says that it was finished at last.
    """
    query = (
        select(
            attempt.unit_key.label("unit"),
            attempt.stage,
            attempt.subject,
            attempt.model,
            attempt.kind,
            attempt.because,
            attempt.retries,
            attempt.seconds,
            attempt.created_at.label("at"),
        )
        .where(attempt.run_id == run_id)
        .order_by(attempt.id.desc())
    )
    return _read(engine, query)


def open_failures(engine: Engine, run_id: int) -> pd.DataFrame:
    """A unit that failed and is not finished, with its latest failure: the columns of `failures`, and `tries`."""
    every = failures(engine, run_id)
    tries = every.groupby("unit")["kind"].count()
    latest = every.drop_duplicates("unit")
    latest = latest[latest["kind"] != FINISHED].reset_index(drop=True)
    latest["tries"] = latest["unit"].map(tries).astype("int64")
    return latest


def spent(engine: Engine, run_id: int) -> pd.DataFrame:
    """What calls of a run cost, by purpose and model: purpose, model, calls, tokens_in, tokens_out, cost_usd, unpriced
    (calls without a known price), retries, seconds.
    """
    query = (
        select(
            call.purpose,
            call.model,
            func.count().label("calls"),
            func.sum(call.tokens_in).label("tokens_in"),
            func.sum(call.tokens_out).label("tokens_out"),
            func.sum(call.cost_usd).label("cost_usd"),
            (func.count() - func.count(call.cost_usd)).label("unpriced"),
            func.sum(call.retries).label("retries"),
            func.sum(call.seconds).label("seconds"),
        )
        .where(call.run_id == run_id)
        .group_by(call.purpose, call.model)
        .order_by(call.purpose, call.model)
    )
    frame = _read(engine, query)
    whole = ["tokens_in", "tokens_out", "retries"]
    frame[whole] = frame[whole].astype("int64")
    return frame


def changes(engine: Engine) -> pd.DataFrame:
    """A version of a metric, oldest first within its metric: benchmark, metric, version, name, polarity, definition,
    interpretive_clause, question, examples_present, examples_absent, evidence, author, changed_because, created_at.
    """
    return _read(engine, metric_versions(metric_version.examples_present, metric_version.examples_absent))


def _read(engine: Engine, query: Select) -> pd.DataFrame:  # type: ignore[type-arg]
    with reading(engine) as session:
        result = session.connection().execute(query)
        return pd.DataFrame(result.mappings().all(), columns=list(result.keys()))
