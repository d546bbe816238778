"""What raters read about a metric when they are asked about the metric itself, its conversations being all rated."""

from dataclasses import dataclass

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.store.engine import reading
from impactbench.store.tables import MetricVersion, Placement, Subarea


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAsked:
    """What a metric is illustrated with, and what it is counted under."""

    present: tuple[str, ...]
    """Examples in which the chatbot does it."""
    absent: tuple[str, ...]
    subareas: tuple[str, ...]


def metric_asked(engine: Engine, subject: str) -> MetricAsked:
    """The metric version that questions are about, by their subject, `metric/` and its number."""
    number = int(subject.removeprefix("metric/"))
    with reading(engine) as session:
        version = session.get_one(MetricVersion, number)
        subareas = session.exec(
            select(Subarea.name)
            .join(Placement, col(Placement.subarea_id) == Subarea.id)
            .where(Placement.metric_id == version.metric_id)
            .order_by(Subarea.name)
        ).all()
        return MetricAsked(
            present=tuple(version.examples_present),
            absent=tuple(version.examples_absent),
            subareas=tuple(subareas),
        )
