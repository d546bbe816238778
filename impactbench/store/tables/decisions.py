"""What was settled afterwards, in layers that overwrite no label."""

from datetime import datetime

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from impactbench.domain import LabelVerdict
from impactbench.store.tables.columns import Table, json, text, time, to
from impactbench.store.types import EnumText, one_of


class Adjudication(Table, table=True):
    """A settled item: a layer of its own, which never overwrites a label nor enters a figure about experts."""

    __table_args__ = (
        UniqueConstraint("study_id", "conversation_id", "metric_version_id", "revision"),
        one_of("verdict", LabelVerdict),
    )
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = to("study")
    conversation_id: int = to("conversation")
    metric_version_id: int = to("metric_version")
    revision: int
    verdict: LabelVerdict = Field(sa_type=EnumText(LabelVerdict))
    because: str = text()
    rule: str
    """Why the item was in the queue: borderline, tie, split or unsure."""
    inputs: list[int] = json(list)
    """Ids of the labels that were on the table."""
    adjudicator_id: int = to("rater", index=False)
    created_at: datetime = time()
