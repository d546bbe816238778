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
from impactbench.store.tables.decisions import Adjudication
from impactbench.store.tables.people import Rater
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
    Conversation,
    Judge,
    Judgment,
    Run,
    Study,
)

__all__ = [
    "Adjudication",
    "Assignment",
    "Benchmark",
    "Conversation",
    "Draft",
    "Exposure",
    "Judge",
    "Judgment",
    "Label",
    "Mask",
    "Metric",
    "MetricVersion",
    "Model",
    "Placement",
    "Rater",
    "Response",
    "ReviewSet",
    "Run",
    "Scenario",
    "Study",
    "Subarea",
    "Table",
    "now",
]
