"""The whole schema. Rows are facts: they are added, never changed (drafts and settings of access excepted)."""

from impactbench.store.tables.columns import Table, now
from impactbench.store.tables.content import (
    Benchmark,
    Metric,
    MetricVersion,
    Model,
    Placement,
    Scenario,
    Subarea,
)
from impactbench.store.tables.decisions import Adjudication, ChangeNote, Disposition, Registration
from impactbench.store.tables.people import Device, Rater
from impactbench.store.tables.public import CaseMark, Category, CategoryMetric
from impactbench.store.tables.reviewing import (
    Assignment,
    Draft,
    Exposure,
    Label,
    Mask,
    Response,
    ReviewSet,
)
from impactbench.store.tables.runs import (
    Attempt,
    Call,
    Conversation,
    Judge,
    Judgment,
    Launch,
    Run,
    Study,
)
from impactbench.store.tables.submissions import (
    Submission,
    SubmissionDraft,
    SubmissionOutcome,
    SubmissionReview,
    SubmissionRevision,
    SubmissionTrial,
)

__all__ = [
    "Adjudication",
    "Assignment",
    "Attempt",
    "Benchmark",
    "Call",
    "CaseMark",
    "Category",
    "CategoryMetric",
    "ChangeNote",
    "Conversation",
    "Device",
    "Disposition",
    "Draft",
    "Exposure",
    "Judge",
    "Judgment",
    "Label",
    "Launch",
    "Mask",
    "Metric",
    "MetricVersion",
    "Model",
    "Placement",
    "Rater",
    "Registration",
    "Response",
    "ReviewSet",
    "Run",
    "Scenario",
    "Study",
    "Subarea",
    "Submission",
    "SubmissionDraft",
    "SubmissionOutcome",
    "SubmissionReview",
    "SubmissionRevision",
    "SubmissionTrial",
    "Table",
    "now",
]
