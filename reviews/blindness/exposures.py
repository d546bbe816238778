"""The exposure log: who was sent what, and when."""

import pandas as pd
from sqlalchemy import Engine, inspect, select

from impactbench.domain import ImpactBenchError
from impactbench.store import frames as f
from impactbench.store import tables as t
from impactbench.store.engine import reading

_exposure = inspect(t.Exposure).columns


class NoSuchStudy(ImpactBenchError):
    """A study that was never imported."""


def exposures(engine: Engine, study: str) -> pd.DataFrame:
    """Something that was sent to a rater, in order of time: shown_at, rater, panel, review_set, code, benchmark, metric,
    version, run, conversation, repeat.

    Raises:
        NoSuchStudy: the text names it.
    """
    query = (
        select(
            _exposure.shown_at,
            f.rater.pseudonym.label("rater"),
            f.rater.panel,
            f.review_set.slug.label("review_set"),
            f.assignment.code,
            f.benchmark.slug.label("benchmark"),
            f.metric.slug.label("metric"),
            f.metric_version.version,
            f.run.slug.label("run"),
            f.conversation.key.label("conversation"),
            f.assignment.repeat,
        )
        .select_from(t.Exposure)
        .join(t.Rater, f.rater.id == _exposure.rater_id)
        .join(t.Assignment, f.assignment.id == _exposure.assignment_id)
        .join(t.ReviewSet, f.review_set.id == f.assignment.review_set_id)
        .join(t.Study, f.study.id == f.assignment.study_id)
        .join(t.Conversation, f.conversation.id == f.assignment.conversation_id)
        .join(t.Run, f.run.id == f.conversation.run_id)
        .join(t.MetricVersion, f.metric_version.id == f.assignment.metric_version_id)
        .join(t.Metric, f.metric.id == f.metric_version.metric_id)
        .join(t.Benchmark, f.benchmark.id == f.metric.benchmark_id)
        .where(f.study.slug == study)
        .order_by(_exposure.shown_at, _exposure.id)
    )
    with reading(engine) as session:
        connection = session.connection()
        if connection.execute(select(f.study.id).where(f.study.slug == study)).first() is None:
            raise NoSuchStudy(
                f"there is no study {study!r}; `impactbench import run FOLDER --study {study}` makes one"
            )
        result = connection.execute(query)
        return pd.DataFrame(result.mappings().all(), columns=list(result.keys()))
