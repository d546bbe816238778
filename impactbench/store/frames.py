"""The read side: tidy frames with documented columns. Statistics and charts eat these, never sessions.

Every function takes an engine and, where it makes sense, a study (its slug) and returns one row per thing named
in its first line. Where there is nothing a cell is missing (`pandas.isna`); `present` and `passed` are nullable booleans.
"""

import json
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import pandas as pd
from sqlalchemy import (
    Boolean,
    ColumnElement,
    Dialect,
    Engine,
    Label,
    Select,
    String,
    cast,
    func,
    inspect,
    select,
    type_coerce,
)
from sqlalchemy.types import NullType, TypeEngine

from impactbench.domain import LabelStatus, Polarity
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.types import UTCDateTime


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
    query = (
        select(
            study.slug.label("study"),
            study.title,
            study.notice,
            study.created_at,
            func.count(run.id.distinct()).label("runs"),
            func.count(conversation.id).label("conversations"),
        )
        .outerjoin(t.Run, run.study_id == study.id)
        .outerjoin(t.Conversation, conversation.run_id == run.id)
        .group_by(study.id)
        .order_by(study.slug)
    )
    return _read(engine, query)


def metrics(engine: Engine) -> pd.DataFrame:
    """A metric version: metric_version_id, benchmark, benchmark_name, metric, version, name, polarity, definition,
    question, interpretive_clause, evidence, author, subareas (list of names), created_at, changed_because.
    """
    query = (
        select(
            metric_version.id.label("metric_version_id"),
            benchmark.slug.label("benchmark"),
            benchmark.name.label("benchmark_name"),
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
    named = placements(engine).groupby(["benchmark", "metric"])["subarea"].agg(list).to_dict()
    frame = _read(engine, query)
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
    return _read(engine, query)


def conversations(engine: Engine, study_slug: str) -> pd.DataFrame:
    """A conversation: conversation_id, run, conversation (its key), metric_version_id, benchmark, metric, polarity,
    scenario, base_scenario, age, model, family, n_turns (exchanges), status, content_hash.
    """
    query = (
        select(
            conversation.id.label("conversation_id"),
            run.slug.label("run"),
            conversation.key.label("conversation"),
            scenario.metric_version_id,
            benchmark.slug.label("benchmark"),
            metric.slug.label("metric"),
            metric_version.polarity,
            scenario.slug.label("scenario"),
            scenario.base_scenario,
            scenario.age,
            model.slug.label("model"),
            model.family,
            _exchanges(engine).label("n_turns"),
            conversation.status,
            conversation.content_hash,
        )
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .join(t.Scenario, scenario.id == conversation.scenario_id)
        .join(t.MetricVersion, metric_version.id == scenario.metric_version_id)
        .join(t.Metric, metric.id == metric_version.metric_id)
        .join(t.Benchmark, benchmark.id == metric.benchmark_id)
        .join(t.Model, model.id == conversation.model_id)
        .where(study.slug == study_slug)
        .order_by(run.slug, conversation.key)
    )
    return _read(engine, query)


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
            model.slug.label("judge"),
            model.family.label("judge_family"),
            judgment.repeat,
            judgment.present,
            metric_version.polarity,
            judgment.unscored_because,
            judgment.justification,
        )
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .join(t.Judge, judge.id == judgment.judge_id)
        .join(t.Model, model.id == judge.model_id)
        .join(t.MetricVersion, metric_version.id == judgment.metric_version_id)
        .where(study.slug == study_slug)
        .order_by(judgment.conversation_id, judgment.metric_version_id, judgment.judge_id, judgment.repeat)
    )
    frame = _read(engine, query)
    frame["present"] = frame["present"].astype("boolean")
    frame["passed"] = frame["present"] == (frame.pop("polarity") == Polarity.POSITIVE)
    return frame


def assignments(engine: Engine, study_slug: str, *, slots: bool = False) -> pd.DataFrame:
    """An assignment and its newest label: assignment_id, review_set, origin, conversation_id, metric_version_id,
    rater_id, rater, panel, repeat, code, position, stratum, inclusion_probability, and from the label revision,
    status (`not_yet_rated` where there is none), label, no_verdict_because, confidence, rationale, turns,
    active_seconds, labelled_at; with `slots` also what it is in its design: reason (why it was opened), released_at
    (given up).
    """
    slot = (assignment.reason, assignment.released_at) if slots else ()
    newest = (
        select(label.assignment_id, func.max(label.revision).label("revision"))
        .group_by(label.assignment_id)
        .subquery()
    )
    query = (
        select(
            assignment.id.label("assignment_id"),
            review_set.slug.label("review_set"),
            review_set.origin,
            assignment.conversation_id,
            assignment.metric_version_id,
            assignment.rater_id,
            rater.pseudonym.label("rater"),
            rater.panel,
            assignment.repeat,
            assignment.code,
            assignment.position,
            assignment.stratum,
            assignment.inclusion_probability,
            label.revision,
            label.status,
            label.verdict.label("label"),
            label.no_verdict_because,
            label.confidence,
            label.rationale,
            cast(label.turns, String).label("turns"),
            label.active_seconds,
            label.created_at.label("labelled_at"),
            *slot,
        )
        .join(t.ReviewSet, review_set.id == assignment.review_set_id)
        .join(t.Study, study.id == assignment.study_id)
        .join(t.Rater, rater.id == assignment.rater_id)
        .outerjoin(newest, newest.c.assignment_id == assignment.id)
        .outerjoin(
            t.Label, (label.assignment_id == newest.c.assignment_id) & (label.revision == newest.c.revision)
        )
        .where(study.slug == study_slug)
        .order_by(assignment.id)
    )
    frame = _read(engine, query)
    frame["status"] = frame["status"].astype(object).where(frame["status"].notna(), "not_yet_rated")
    place, texts = pd.factorize(frame["turns"])
    pointed = [*(json.loads(text) for text in texts), None]
    frame["turns"] = [pointed[number] for number in place.tolist()]
    return frame


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
    return _read(engine, query)


def state(engine: Engine, study_slug: str) -> str:
    """A word that changes whenever anything that an audit of the study reads has changed; rows are only ever added."""
    items = (
        select(
            func.count(assignment.id),
            func.count(label.id),
            func.max(label.id),
            func.count(assignment.released_at),
        )
        .select_from(t.Assignment)
        .outerjoin(t.Label, label.assignment_id == assignment.id)
        .join(t.Study, study.id == assignment.study_id)
        .where(study.slug == study_slug)
    )
    judged = (
        select(func.count(judgment.id), func.count(conversation.id.distinct()))
        .select_from(t.Conversation)
        .outerjoin(t.Judgment, judgment.conversation_id == conversation.id)
        .join(t.Run, run.id == conversation.run_id)
        .join(t.Study, study.id == run.study_id)
        .where(study.slug == study_slug)
    )
    settled = (
        select(func.count(adjudication.id))
        .select_from(t.Adjudication)
        .join(t.Study, study.id == adjudication.study_id)
        .where(study.slug == study_slug)
    )
    written = select(func.count(metric_version.id), select(func.count(response.id)).scalar_subquery())
    with reading(engine) as session:
        connection = session.connection()
        return "-".join(
            str(number)
            for query in (items, judged, settled, written)
            for number in connection.execute(query).one()
        )


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
    return _read(engine, query)


def _read(engine: Engine, query: Select[*tuple[Any, ...]]) -> pd.DataFrame:
    """The rows of a query, as Python objects: a frame with its columns even where there are no rows.

    Cells come as the driver gives them and are then turned a column at a time: a study has millions of them. What is
    kept as text stays text.
    """
    wanted = {column.key: column for column in query.selected_columns}
    plain = query.with_only_columns(
        *(type_coerce(_unnamed(column), NullType()).label(name) for name, column in wanted.items()),
        maintain_column_froms=True,
    )
    with reading(engine) as session:
        cursor = session.connection().execute(plain).cursor
        rows = [] if cursor is None else cursor.fetchall()
    frame = pd.DataFrame(rows, columns=list(wanted))
    for name, column in wanted.items():
        if isinstance(column.type, UTCDateTime) and frame[name].notna().any():
            frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601")
        read = _reader(column.type, engine.dialect)
        if read is not None and rows:
            cells = [read(cell) for cell in map(itemgetter(list(wanted).index(name)), rows)]
            frame[name] = pd.Series(cells) if any(cell is not None for cell in cells) else cells
    return frame


def _unnamed(column: Any) -> Any:
    return column.element if isinstance(column, Label) else column


def _reader(type_: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """What makes a cell of this type from the driver's; all others are taken as they come."""
    if not isinstance(type_, Boolean):
        return None
    return type_.dialect_impl(dialect).result_processor(dialect, None)
