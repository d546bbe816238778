"""Metrics that people suggest: what they wrote, how a judge fared on their examples, what was said and decided."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field

from impactbench.domain import SubmissionDecision
from impactbench.store.tables.columns import Table, json, text, time, to
from impactbench.store.types import EnumText, one_of


class Submission(Table, table=True):
    """A metric that somebody suggests. What it says is in its revisions; a submission without one is a draft."""

    id: int | None = Field(default=None, primary_key=True)
    code: str = Field(unique=True)
    """What it is called in addresses and commands."""
    submitter_id: int = to("rater")
    created_at: datetime = time()


class SubmissionDraft(Table, table=True):
    """What the submitter has begun; replaced as they go on, gone when they send it."""

    __tablename__ = "submission_draft"
    submission_id: int = to("submission", primary_key=True, index=False)
    content: dict[str, Any] = json(dict)
    updated_at: datetime = time()


class SubmissionRevision(Table, table=True):
    """What was sent: the three parts as they stood. A change is another revision."""

    __tablename__ = "submission_revision"
    __table_args__ = (
        UniqueConstraint("submission_id", "revision"),
        UniqueConstraint("submission_id", "content_hash"),
    )
    id: int | None = Field(default=None, primary_key=True)
    submission_id: int = to("submission", index=False)
    revision: int
    content: dict[str, Any] = json(dict)
    content_hash: str
    created_at: datetime = time()


class SubmissionTrial(Table, table=True):
    """The judge prompt tried on a revision's examples, with what was said of each."""

    __tablename__ = "submission_trial"
    id: int | None = Field(default=None, primary_key=True)
    revision_id: int = to("submission_revision")
    model: str
    prompt_hash: str
    outcomes: list[dict[str, Any]] = json(list)
    """One an example: side, example, present (null where unscored), justification, because."""
    tells_apart: bool
    """Whether every present example was called present and every absent one absent."""
    created_at: datetime = time()


class SubmissionReview(Table, table=True):
    """What an internal expert says about a revision. A second opinion of the same person is another row."""

    __tablename__ = "submission_review"
    __table_args__ = (
        UniqueConstraint("revision_id", "reviewer_id", "number"),
        one_of("advice", SubmissionDecision),
        CheckConstraint(
            "fidelity BETWEEN 1 AND 4 AND clarity BETWEEN 1 AND 4 AND observability BETWEEN 1 AND 4",
            name="marks_are_1_to_4",
        ),
    )
    id: int | None = Field(default=None, primary_key=True)
    revision_id: int = to("submission_revision", index=False)
    reviewer_id: int = to("rater", index=False)
    number: int
    fidelity: int
    clarity: int
    observability: int
    advice: SubmissionDecision = Field(sa_type=EnumText(SubmissionDecision))
    because: str = text()
    created_at: datetime = time()


class SubmissionOutcome(Table, table=True):
    """What was decided about a revision: once, by a maintainer, for a reason."""

    __tablename__ = "submission_outcome"
    __table_args__ = (one_of("decision", SubmissionDecision),)
    id: int | None = Field(default=None, primary_key=True)
    revision_id: int = Field(foreign_key="submission_revision.id", unique=True)
    decided_by: int = to("rater", index=False)
    decision: SubmissionDecision = Field(sa_type=EnumText(SubmissionDecision))
    because: str = text()
    merged_into: str = ""
    """benchmark/metric that takes it up, where it is merged."""
    metric_version_id: int | None = Field(default=None, foreign_key="metric_version.id")
    """The version that it became, where it was accepted."""
    trial_id: int | None = Field(default=None, foreign_key="submission_trial.id")
    """The trial that told present from absent, where there was one."""
    created_at: datetime = time()
