"""The read side: tidy frames with documented columns. Statistics and charts eat these, never sessions.

Every function takes an engine and, where it makes sense, a study (its slug) and returns one row per thing named
in its first line. Where there is nothing a cell is missing (`pandas.isna`); `present` and `passed` are nullable booleans.
"""

import json
from typing import Any

import pandas as pd
from sqlalchemy import (
    ColumnElement,
    Engine,
    Select,
    String,
    cast,
    func,
    inspect,
    select,
)

from impactbench.domain import LabelStatus, Polarity
from impactbench.store import tables as t
from impactbench.store.frame_rows import by_id, read, read_together
from impactbench.store.marks import state as state


def _columns(table: type[t.Table]) -> Any:
    """The columns of a table: SQLModel's attributes are typed as their values, which a query is not made of."""
    return inspect(table).columns


adjudication = _columns(t.Adjudication)
assignment = _columns(t.Assignment)
benchmark = _columns(t.Benchmark)
conversation = _columns(t.Conversation)
judge = _columns(t.Judge)
judgment = _columns(t.Judgment)
label = _columns(t.Label)
metric = _columns(t.Metric)
metric_version = _columns(t.MetricVersion)
model = _columns(t.Model)
placement = _columns(t.Placement)
rater = _columns(t.Rater)
response = _columns(t.Response)
review_set = _columns(t.ReviewSet)
run = _columns(t.Run)
scenario = _columns(t.Scenario)
study = _columns(t.Study)
subarea = _columns(t.Subarea)


def studies(engine: Engine) -> pd.DataFrame:
    """A study: study, title, notice, created_at, runs, conversations."""
    runs = select(func.count()).where(run.study_id == study.id).scalar_subquery()
    held = (
        select(func.count())
        .select_from(t.Conversation)
        .join(t.Run, run.id == conversation.run_id)
        .where(run.study_id == study.id)
        .correlate(t.Study)
        .scalar_subquery()
    )
    query = select(
        study.slug.label("study"),
        study.title,
        study.notice,
        study.created_at,
        runs.label("runs"),
        held.label("conversations"),
    ).order_by(study.slug)
    return read(engine, query)


def metric_versions(*more: Any) -> Select[*tuple[Any, ...]]:
    """Every metric version in the order of benchmarks, metrics and versions: what is said of each, and more columns."""
    return (
        select(
            *more,
            benchmark.slug.label("benchmark"),
            metric.slug.label("metric"),
            metric_version.version,
            metric_version.name,
            metric_version.polarity,
            metric_version.definition,
            metric_version.question,
            metric_version.interpretive_clause,
            metric_version.evidence,
            metric_version.author,
            metric_version.created_at,
            metric_version.changed_because,
        )
        .join(t.Metric, metric.id == metric_version.metric_id)
        .join(t.Benchmark, benchmark.id == metric.benchmark_id)
        .order_by(benchmark.slug, metric.slug, metric_version.version)
    )


def metrics(engine: Engine) -> pd.DataFrame:
    """A metric version: metric_version_id, benchmark, benchmark_name, metric, version, name, polarity, definition,
    question, interpretive_clause, evidence, author, subareas (list of names), created_at, changed_because.
    """
    query = metric_versions(
        metric_version.id.label("metric_version_id"), benchmark.name.label("benchmark_name")
    )
    named = placements(engine).groupby(["benchmark", "metric"])["subarea"].agg(list).to_dict()
    frame = read(engine, query)
    frame["subareas"] = [named.get(key, []) for key in zip(frame["benchmark"], frame["metric"], strict=True)]
    return frame


def placements(engine: Engine) -> pd.DataFrame:
    """A metric in a subarea: benchmark, metric, area (the domain), subarea; in the order of areas and subareas."""
    query = (
        select(
            benchmark.slug.label("benchmark"),
            metric.slug.label("metric"),
            subarea.domain.label("area"),
            subarea.name.label("subarea"),
        )
        .select_from(t.Placement)
        .join(t.Metric, metric.id == placement.metric_id)
        .join(t.Benchmark, benchmark.id == metric.benchmark_id)
        .join(t.Subarea, subarea.id == placement.subarea_id)
        .order_by(subarea.domain, subarea.name, benchmark.slug, metric.slug)
    )
    return read(engine, query)


def conversations(engine: Engine, study_slug: str) -> pd.DataFrame:
    """A conversation: conversation_id, run, conversation (its key), metric_version_id, benchmark, metric, polarity,
    scenario, base_scenario, age, model, family, n_turns (exchanges), status, content_hash.
    """
    query = (
        select(
            conversation.id.label("conversation_id"),
            run.slug.label("run"),
            conversation.key.label("conversation"),
            conversation.scenario_id,
            conversation.model_id,
            _exchanges(engine).label("n_turns"),
            conversation.status,
            conversation.content_hash,
        )
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .where(study.slug == study_slug)
        .order_by(run.slug, conversation.key)
    )
    scenarios = (
        select(
            scenario.id,
            scenario.metric_version_id,
            benchmark.slug.label("benchmark"),
            metric.slug.label("metric"),
            metric_version.polarity,
            scenario.slug.label("scenario"),
            scenario.base_scenario,
            scenario.age,
        )
        .join(t.MetricVersion, metric_version.id == scenario.metric_version_id)
        .join(t.Metric, metric.id == metric_version.metric_id)
        .join(t.Benchmark, benchmark.id == metric.benchmark_id)
    )
    models = select(model.id, model.slug.label("model"), model.family)
    frame, about, targets = read_together(engine, query, scenarios, models)
    told = [frame, by_id(frame.pop("scenario_id"), about), by_id(frame.pop("model_id"), targets)]
    return pd.concat(told, axis=1)[list(_CONVERSATION)]


_CONVERSATION = (
    "conversation_id",
    "run",
    "conversation",
    "metric_version_id",
    "benchmark",
    "metric",
    "polarity",
    "scenario",
    "base_scenario",
    "age",
    "model",
    "family",
    "n_turns",
    "status",
    "content_hash",
)


def _exchanges(engine: Engine) -> ColumnElement[int]:
    """How many messages of a conversation are the user's, counted where they lie: transcripts are long."""
    if engine.dialect.name == "postgresql":
        turn = func.jsonb_array_elements(conversation.turns).table_valued("value").alias("turn")
        role = func.jsonb_extract_path_text(turn.c.value, "role")
    else:
        turn = func.json_each(conversation.turns).table_valued("value").alias("turn")
        role = func.json_extract(turn.c.value, "$.role")
    counted = select(func.count()).select_from(turn).where(role == "user")
    return counted.correlate(t.Conversation).scalar_subquery()


def judgments(engine: Engine, study_slug: str) -> pd.DataFrame:
    """A judgment: conversation_id, metric_version_id, judge_id, judge, judge_family, repeat, present, passed,
    unscored_because, justification. `passed` follows from `present` and the polarity; both are NA where unscored.
    """
    query = (
        select(
            judgment.conversation_id,
            judgment.metric_version_id,
            judgment.judge_id,
            judgment.repeat,
            judgment.present,
            judgment.unscored_because,
            judgment.justification,
        )
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .where(study.slug == study_slug)
        .order_by(judgment.conversation_id, judgment.metric_version_id, judgment.judge_id, judgment.repeat)
    )
    judges = select(judge.id, model.slug.label("judge"), model.family.label("judge_family")).join(
        t.Model, model.id == judge.model_id
    )
    versions = select(metric_version.id, metric_version.polarity)
    frame, about, polarities = read_together(engine, query, judges, versions)
    polarity = by_id(frame["metric_version_id"], polarities)["polarity"]
    judged = by_id(frame["judge_id"], about)
    frame.insert(3, "judge", judged["judge"])
    frame.insert(4, "judge_family", judged["judge_family"])
    frame["present"] = frame["present"].astype("boolean")
    frame["passed"] = frame["present"] == (polarity == Polarity.POSITIVE)
    return frame


def assignments(engine: Engine, study_slug: str, *, slots: bool = False) -> pd.DataFrame:
    """An assignment and its newest label: assignment_id, review_set, origin, conversation_id, metric_version_id,
    rater_id, rater, panel, repeat, code, position, stratum, inclusion_probability, and from the label revision,
    status (`not_yet_rated` where there is none), label, no_verdict_because, confidence, rationale, turns,
    active_seconds, labelled_at; with `slots` also what it is in its design: reason (why it was opened), released_at
    (given up).
    """
    slot = (assignment.reason, assignment.released_at) if slots else ()
    asked = (
        select(
            assignment.id.label("assignment_id"),
            assignment.review_set_id,
            assignment.conversation_id,
            assignment.metric_version_id,
            assignment.rater_id,
            assignment.repeat,
            assignment.code,
            assignment.position,
            assignment.stratum,
            assignment.inclusion_probability,
            *slot,
        )
        .join(t.Study, study.id == assignment.study_id)
        .where(study.slug == study_slug)
        .order_by(assignment.id)
    )
    # The labels are found by the span of their assignments' ids and not by a look-up for each of them; the sum keeps the
    # database from walking through an index all the same.
    span = (
        select(func.min(assignment.id), func.max(assignment.id))
        .join(t.Study, study.id == assignment.study_id)
        .where(study.slug == study_slug)
        .subquery()
    )
    first, last = span.c
    said = select(*_LABEL).where(
        (label.assignment_id + 0).between(select(first).scalar_subquery(), select(last).scalar_subquery())
    )
    sets = select(review_set.id, review_set.slug.label("review_set"), review_set.origin)
    people = select(rater.id, rater.pseudonym.label("rater"), rater.panel)
    frame, labels, designs, panels = read_together(engine, asked, said, sets, people)
    told = [
        frame,
        by_id(frame.pop("review_set_id"), designs),
        by_id(frame["rater_id"], panels),
        newest_labels(labels, frame["assignment_id"]),
    ]
    columns = [*_ASSIGNMENT, *NEWEST_LABEL, *(("reason", "released_at") if slots else ())]
    return pd.concat(told, axis=1)[columns]


_ASSIGNMENT = (
    "assignment_id",
    "review_set",
    "origin",
    "conversation_id",
    "metric_version_id",
    "rater_id",
    "rater",
    "panel",
    "repeat",
    "code",
    "position",
    "stratum",
    "inclusion_probability",
)
_LABEL = (
    label.id.label("label_id"),
    label.assignment_id,
    label.revision,
    label.status,
    label.verdict.label("label"),
    label.no_verdict_because,
    label.confidence,
    label.rationale,
    cast(label.turns, String).label("turns"),
    label.active_seconds,
    label.created_at.label("labelled_at"),
)
NEWEST_LABEL = tuple(column.key for column in _LABEL[2:])
"""The columns of `assignments` that a label fills."""


def later_labels(engine: Engine, study_slug: str, newest: int) -> pd.DataFrame:
    """A label revision whose id is larger than one that was seen: label_id, assignment_id, and the columns of a label."""
    own = select(study.id).where(study.slug == study_slug).scalar_subquery()
    query = (
        select(*_LABEL)
        .join(t.Assignment, assignment.id == label.assignment_id)
        # The sum keeps the database from beginning with all assignments of the study.
        .where(label.id > newest, assignment.study_id + 0 == own)
        .order_by(label.id)
    )
    return read(engine, query)


def newest_labels(labels: pd.DataFrame, asked: pd.Series) -> pd.DataFrame:
    """What was said last for each assignment, `not_yet_rated` where nothing was: the columns of `NEWEST_LABEL`.

    Args:
        labels: revisions, as `later_labels` gives them.
        asked: the ids of the assignments.
    """
    newest = labels.sort_values("revision", kind="stable").drop_duplicates("assignment_id", keep="last")
    newest = newest.set_index("assignment_id")[list(NEWEST_LABEL)].reindex(asked).set_axis(asked.index)
    newest["status"] = newest["status"].fillna("not_yet_rated")
    place, texts = pd.factorize(newest["turns"])
    pointed = [*(json.loads(text) for text in texts), None]
    newest["turns"] = pd.Series(
        [pointed[number] for number in place.tolist()], index=asked.index, dtype=object
    )
    return newest


def ratings(engine: Engine, study_slug: str) -> pd.DataFrame:
    """A submitted label, newest revision: the columns of `assignments`, label one of fail, borderline, pass."""
    frame = assignments(engine, study_slug)
    return frame[frame["status"] == LabelStatus.SUBMITTED].reset_index(drop=True)


def label_history(engine: Engine, study_slug: str) -> pd.DataFrame:
    """A label revision, oldest first: assignment_id, rater, revision, status, label, revised_because, labelled_at."""
    query = (
        select(
            label.assignment_id,
            rater.pseudonym.label("rater"),
            label.revision,
            label.status,
            label.verdict.label("label"),
            label.revised_because,
            label.created_at.label("labelled_at"),
        )
        .join(t.Assignment, assignment.id == label.assignment_id)
        .join(t.Study, study.id == assignment.study_id)
        .join(t.Rater, rater.id == assignment.rater_id)
        .where(study.slug == study_slug)
        .order_by(label.assignment_id, label.revision)
    )
    return read(engine, query)


def raters(engine: Engine) -> pd.DataFrame:
    """A person of the workbench: rater_id, rater, role, panel, expertise, active, may_sign_in."""
    query = select(
        rater.id.label("rater_id"),
        rater.pseudonym.label("rater"),
        rater.role,
        rater.panel,
        rater.expertise,
        rater.active,
        rater.token_hash.is_not(None).label("may_sign_in"),
    ).order_by(rater.id)
    return read(engine, query)
