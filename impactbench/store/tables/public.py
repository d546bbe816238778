"""What the public view adds: the headings of the nutrition label, and conversations that people marked as cases."""

from datetime import datetime

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field

from impactbench.store.tables.columns import Table, text, time, to


class Category(Table, table=True):
    """A heading of the nutrition label: metrics that a reader would look for under one word."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    name: str
    description: str = text(default="")
    position: int = 0


class CategoryMetric(Table, table=True):
    """A metric stands under a heading; it may stand under several."""

    __tablename__ = "category_metric"
    category_id: int = to("category", primary_key=True)
    metric_id: int = to("metric", primary_key=True)


class CaseMark(Table, table=True):
    """Where in a conversation a behaviour first appears, and whether the model takes it back. A change is a revision."""

    __tablename__ = "case_mark"
    __table_args__ = (
        UniqueConstraint("study_id", "conversation_id", "metric_version_id", "revision"),
        CheckConstraint("first_turn IS NOT NULL OR corrected_turn IS NULL", name="nothing_is_corrected"),
        CheckConstraint("first_turn > 0 AND corrected_turn >= first_turn", name="turns_are_in_order"),
    )
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = to("study")
    conversation_id: int = to("conversation", index=False)
    metric_version_id: int = to("metric_version", index=False)
    revision: int
    first_turn: int | None = None
    """The exchange in which the behaviour first appears, from 1; none where it never does."""
    corrected_turn: int | None = None
    """The exchange in which the model takes it back; none where it does not."""
    note: str = text(default="")
    marked_by: int = to("rater", index=False)
    created_at: datetime = time()
