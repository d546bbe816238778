"""The whole schema on one page. Rows are facts: they are added, never changed (drafts and settings of access excepted).

The base class has a registry of its own, because Streamlit imports modules again when it reloads.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, Index, Text, UniqueConstraint
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from impactbench.domain import AgeVariant, AssignmentReason, LabelStatus, LabelVerdict, Panel, Polarity, Role
from impactbench.store.types import EnumText, JSONColumn, UTCDateTime, one_of


class Table(SQLModel, registry=registry()):
    """The base of every table."""


def now() -> datetime:
    return datetime.now(UTC)


def _text(**more: Any) -> Any:
    return Field(sa_column=Column(Text, nullable=False), **more)


def _json(default: Any) -> Any:
    return Field(default_factory=default, sa_type=JSONColumn)


def _time() -> Any:
    return Field(default_factory=now, sa_type=UTCDateTime)


def _to(target: str, *, index: bool = True, **more: Any) -> Any:
    return Field(foreign_key=f"{target}.id", index=index, **more)


class Benchmark(Table, table=True):
    """A group of metrics that belong together."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    name: str
    description: str = _text(default="")


class Metric(Table, table=True):
    """A behaviour to look for; what it says is in its versions."""

    __table_args__ = (UniqueConstraint("benchmark_id", "slug"),)
    id: int | None = Field(default=None, primary_key=True)
    benchmark_id: int = _to("benchmark")
    slug: str


class MetricVersion(Table, table=True):
    """One immutable wording of a metric."""

    __tablename__ = "metric_version"
    __table_args__ = (
        UniqueConstraint("metric_id", "version"),
        UniqueConstraint("metric_id", "content_hash"),
        one_of("polarity", Polarity),
    )
    id: int | None = Field(default=None, primary_key=True)
    metric_id: int = _to("metric")
    version: int
    name: str
    polarity: Polarity = Field(sa_type=EnumText(Polarity))
    definition: str = _text()
    interpretive_clause: str = _text(default="")
    question: str = _text(default="")
    examples_present: list[str] = _json(list)
    examples_absent: list[str] = _json(list)
    evidence: str = _text(default="")
    content_hash: str
    author: str = ""
    changed_because: str = _text(default="")
    created_at: datetime = _time()


class Subarea(Table, table=True):
    """One of the fourteen subareas, in one of three domains."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    domain: str
    name: str


class Placement(Table, table=True):
    """A metric stands in a subarea; it may stand in several."""

    metric_id: int = _to("metric", primary_key=True)
    subarea_id: int = _to("subarea", primary_key=True)


class Model(Table, table=True):
    """A model in any role. `family` is the lineage that self-preference is about."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    provider: str = ""
    family: str = ""
    sibling_group: str = ""
    open_weight: bool | None = None


class Scenario(Table, table=True):
    """A base scenario in one age variant."""

    __table_args__ = (UniqueConstraint("metric_version_id", "slug"), one_of("age", AgeVariant))
    id: int | None = Field(default=None, primary_key=True)
    metric_version_id: int = _to("metric_version")
    slug: str
    base_scenario: str
    age: AgeVariant | None = Field(default=None, sa_type=EnumText(AgeVariant))
    persona: str = _text(default="")
    user_goal: str = _text(default="")
    adversarial_goal: str = _text(default="")
    anchors: list[dict[str, Any]] = _json(list)
    system_prompt: str = _text(default="")
    content_hash: str


class Study(Table, table=True):
    """What is pooled: the runs whose conversations are reviewed and audited together."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    title: str
    notice: str = _text(default="")
    """Shown on every page of the study, such as that its data are simulated."""
    created_at: datetime = _time()


class Run(Table, table=True):
    """One pass of the pipeline over a target; the manifest says from what."""

    __table_args__ = (UniqueConstraint("study_id", "slug"),)
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = _to("study")
    slug: str
    manifest: dict[str, Any] = _json(dict)
    created_at: datetime = _time()


class Conversation(Table, table=True):
    """A recorded exchange between the simulated user and a target."""

    __table_args__ = (
        UniqueConstraint("run_id", "key"),
        CheckConstraint("status IN ('complete', 'incomplete', 'labels_only')", name="status_is_known"),
    )
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = _to("run")
    key: str
    scenario_id: int = _to("scenario")
    model_id: int = _to("model")
    turns: list[dict[str, str]] = _json(list)
    content_hash: str
    status: str = "complete"
    created_at: datetime = _time()


class Judge(Table, table=True):
    """A model with a prompt and parameters: change one and it is another judge."""

    __table_args__ = (UniqueConstraint("model_id", "prompt_hash", "parameters_hash"),)
    id: int | None = Field(default=None, primary_key=True)
    model_id: int = _to("model")
    prompt_hash: str = ""
    parameters: dict[str, Any] = _json(dict)
    parameters_hash: str


class Judgment(Table, table=True):
    """What a judge said once about a conversation. `present` null is unscored, and `unscored_because` says why."""

    __table_args__ = (
        UniqueConstraint("conversation_id", "metric_version_id", "judge_id", "repeat"),
        CheckConstraint("(present IS NULL) = (unscored_because <> '')", name="unscored_has_a_reason"),
    )
    id: int | None = Field(default=None, primary_key=True)
    conversation_id: int = _to("conversation")
    metric_version_id: int = _to("metric_version")
    judge_id: int = _to("judge")
    repeat: int = 0
    present: bool | None = None
    unscored_because: str = ""
    justification: str = _text(default="")
    raw_reply: str = _text(default="")
    created_at: datetime = _time()


class Rater(Table, table=True):
    """Somebody who labels or reads results. The pseudonym is all that others may see."""

    __table_args__ = (one_of("role", Role), one_of("panel", Panel))
    id: int | None = Field(default=None, primary_key=True)
    pseudonym: str = Field(unique=True)
    role: Role = Field(default=Role.EXPERT, sa_type=EnumText(Role))
    panel: Panel | None = Field(default=None, sa_type=EnumText(Panel))
    expertise: str = ""
    """Slugs of subareas, separated by blanks; empty where any will do."""
    languages: list[str] = _json(list)
    """What they read, as language tags; empty where nobody asked."""
    conflicts: list[str] = _json(list)
    """What they must not rate: benchmark/metric, or a provider of models."""
    identity: str | None = Field(default=None, unique=True)
    """Issuer and subject of a member who signs in through an identity provider."""
    token_hash: str | None = Field(default=None, unique=True)
    token_expires_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    active: bool = True
    protocol_accepted_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    created_at: datetime = _time()


class ReviewSet(Table, table=True):
    """A frozen sample with its design. Labels from elsewhere come as a set of their own, `origin` import.

    `locked_at` ends the collecting: from then on nothing is rated, and what was hidden may be shown.
    """

    __tablename__ = "review_set"
    __table_args__ = (
        UniqueConstraint("study_id", "slug"),
        CheckConstraint("origin IN ('design', 'import')", name="origin_is_known"),
    )
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = _to("study")
    slug: str
    origin: str
    seed: int | None = None
    overlap: int | None = None
    design: dict[str, Any] = _json(dict)
    design_hash: str
    rubric: dict[str, Any] = _json(dict)
    """What raters are asked, word for word, as it stood when the set was opened."""
    rubric_hash: str = ""
    locked_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    created_at: datetime = _time()


class Assignment(Table, table=True):
    """A rater is to rate an item: frozen when the set is opened. `code` is all that the rater's page knows of it."""

    __table_args__ = (
        UniqueConstraint("study_id", "conversation_id", "metric_version_id", "rater_id", "repeat"),
        Index("ix_assignment_queue", "rater_id", "review_set_id", "position"),
        one_of("reason", AssignmentReason),
    )
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = _to("study")
    review_set_id: int = _to("review_set")
    conversation_id: int = _to("conversation")
    metric_version_id: int = _to("metric_version")
    rater_id: int = _to("rater", index=False)
    repeat: int = 0
    code: str = Field(unique=True)
    position: int
    option_order: list[str] = _json(list)
    stratum: str = ""
    inclusion_probability: float | None = None
    reason: AssignmentReason = Field(default=AssignmentReason.CORE, sa_type=EnumText(AssignmentReason))
    released_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """When an abandoned slot was given to somebody else; a label that comes all the same is kept as surplus."""
    created_at: datetime = _time()


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
    assignment_id: int = _to("assignment", index=False)
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
    rationale: str = _text(default="")
    turns: list[int] = _json(list)
    active_seconds: float | None = None
    revised_because: str = _text(default="")
    created_at: datetime = _time()


class Draft(Table, table=True):
    """What a rater has begun on an item; replaced as they go on, gone when they save."""

    assignment_id: int = _to("assignment", primary_key=True, index=False)
    content: dict[str, Any] = _json(dict)
    updated_at: datetime = _time()


class Exposure(Table, table=True):
    """Who was sent which item, and when."""

    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = _to("rater")
    assignment_id: int = _to("assignment")
    shown_at: datetime = _time()


class Response(Table, table=True):
    """An answer to one of the rubric's other questions: about an item, a scenario, a metric, or the whole set."""

    __table_args__ = (UniqueConstraint("rater_id", "review_set_id", "subject", "question", "revision"),)
    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = _to("rater")
    review_set_id: int = _to("review_set")
    subject: str
    """What it is about: item/CODE, scenario/ID, metric/ID or set."""
    question: str
    revision: int
    value: Any = Field(default=None, sa_type=JSONColumn)
    created_at: datetime = _time()


class Mask(Table, table=True):
    """A place in a conversation where a model or its maker may be named, and what a person decided about it."""

    __table_args__ = (
        UniqueConstraint("conversation_id", "message", "start", "end"),
        CheckConstraint("decision IN ('hide', 'show')", name="decision_is_known"),
    )
    id: int | None = Field(default=None, primary_key=True)
    conversation_id: int = _to("conversation")
    message: int
    """Index of the message, from 0."""
    start: int
    end: int
    """Offsets in code points."""
    found: str
    """The words at that place."""
    decision: str
    decided_by: int = _to("rater", index=False)
    created_at: datetime = _time()


class Adjudication(Table, table=True):
    """A settled item: a layer of its own, which never overwrites a label nor enters a figure about experts."""

    __table_args__ = (
        UniqueConstraint("study_id", "conversation_id", "metric_version_id", "revision"),
        one_of("verdict", LabelVerdict),
    )
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = _to("study")
    conversation_id: int = _to("conversation")
    metric_version_id: int = _to("metric_version")
    revision: int
    verdict: LabelVerdict = Field(sa_type=EnumText(LabelVerdict))
    because: str = _text()
    rule: str
    """Why the item was in the queue: borderline, tie, split or unsure."""
    inputs: list[int] = _json(list)
    """Ids of the labels that were on the table."""
    adjudicator_id: int = _to("rater", index=False)
    created_at: datetime = _time()
