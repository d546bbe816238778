"""What raters are given and what they say."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field

from impactbench.domain import AssignmentReason, LabelStatus, LabelVerdict
from impactbench.store.tables.columns import Table, json, text, time, to
from impactbench.store.types import EnumText, JSONColumn, UTCDateTime, one_of


class ReviewSet(Table, table=True):
    """A frozen sample with its design. Labels from elsewhere come as a set of their own, `origin` import.

    `locked_at` ends the collecting: from then on nothing is rated. `reported_at` says that the results are public, and
    that what was hidden from raters may be shown.
    """

    __tablename__ = "review_set"
    __table_args__ = (
        UniqueConstraint("study_id", "slug"),
        CheckConstraint("origin IN ('design', 'import')", name="origin_is_known"),
    )
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = to("study")
    slug: str
    origin: str
    seed: int | None = None
    overlap: int | None = None
    design: dict[str, Any] = json(dict)
    design_hash: str
    rubric: dict[str, Any] = json(dict)
    """What raters are asked, word for word, as it stood when the set was opened."""
    rubric_hash: str = ""
    locked_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    reported_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    created_at: datetime = time()


class Assignment(Table, table=True):
    """A rater is to rate an item: frozen when the set is opened. `code` is all that the rater's page knows of it."""

    __table_args__ = (
        UniqueConstraint("study_id", "conversation_id", "metric_version_id", "rater_id", "repeat"),
        Index("ix_assignment_queue", "rater_id", "review_set_id", "position"),
        one_of("reason", AssignmentReason),
    )
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = to("study")
    review_set_id: int = to("review_set")
    conversation_id: int = to("conversation")
    metric_version_id: int = to("metric_version")
    rater_id: int = to("rater", index=False)
    repeat: int = 0
    code: str = Field(unique=True)
    position: int
    option_order: list[str] = json(list)
    stratum: str = ""
    inclusion_probability: float | None = None
    reason: AssignmentReason = Field(default=AssignmentReason.CORE, sa_type=EnumText(AssignmentReason))
    released_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """When an abandoned slot was given to somebody else; a label that comes all the same is kept as surplus."""
    created_at: datetime = time()


class Label(Table, table=True):
    """What a rater said about an item, this revision. Nothing ever updates or deletes one."""

    __table_args__ = (
        UniqueConstraint("assignment_id", "revision"),
        one_of("status", LabelStatus),
        one_of("verdict", LabelVerdict),
        CheckConstraint(
            "(status = 'submitted') = (verdict IS NOT NULL)", name="only_submitted_has_a_verdict"
        ),
        CheckConstraint("confidence BETWEEN 1 AND 4", name="confidence_is_1_to_4"),
    )
    id: int | None = Field(default=None, primary_key=True)
    assignment_id: int = to("assignment", index=False)
    revision: int
    operation: str = Field(unique=True)
    """Built from what is said and on which revision: the same click twice is the same operation."""
    status: LabelStatus = Field(sa_type=EnumText(LabelStatus))
    verdict: LabelVerdict | None = Field(default=None, sa_type=EnumText(LabelVerdict))
    response_set: list[str] | None = Field(default=None, sa_type=JSONColumn)
    """The verdicts that a colleague could defend, where that was asked; `verdict` follows from it."""
    forced_choice: LabelVerdict | None = Field(default=None, sa_type=EnumText(LabelVerdict))
    """What it would be if one had to be chosen, where both were defensible."""
    no_verdict_because: str = ""
    confidence: int | None = None
    rationale: str = text(default="")
    turns: list[int] = json(list)
    active_seconds: float | None = None
    revised_because: str = text(default="")
    created_at: datetime = time()


class Draft(Table, table=True):
    """What a rater has begun on an item; replaced as they go on, gone when they save."""

    assignment_id: int = to("assignment", primary_key=True, index=False)
    content: dict[str, Any] = json(dict)
    updated_at: datetime = time()


class Exposure(Table, table=True):
    """Who was sent which item, and when."""

    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = to("rater")
    assignment_id: int = to("assignment")
    shown_at: datetime = time()


class Response(Table, table=True):
    """An answer to one of the rubric's other questions: about an item, a scenario, a metric, or the whole set."""

    __table_args__ = (UniqueConstraint("rater_id", "review_set_id", "subject", "question", "revision"),)
    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = to("rater")
    review_set_id: int = to("review_set")
    subject: str
    """What it is about: item/CODE, scenario/ID, metric/ID or set."""
    question: str
    revision: int
    value: Any = Field(default=None, sa_type=JSONColumn)
    created_at: datetime = time()


class Mask(Table, table=True):
    """A place in a conversation where a model or its maker may be named, and what a person decided about it.

    A changed decision is a new revision, and the newest counts.
    """

    __table_args__ = (
        UniqueConstraint("conversation_id", "message", "start", "end", "revision", name="decision_is_kept"),
        CheckConstraint("decision IN ('hide', 'show')", name="decision_is_known"),
    )
    id: int | None = Field(default=None, primary_key=True)
    conversation_id: int = to("conversation")
    message: int
    """Index of the message, from 0."""
    start: int
    end: int
    """Offsets in code points."""
    found: str
    """The words at that place."""
    revision: int = Field(default=1, sa_column_kwargs={"server_default": "1"})
    decision: str
    decided_by: int = to("rater", index=False)
    created_at: datetime = time()
