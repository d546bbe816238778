"""What models did: studies, runs, conversations, judgments."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, UniqueConstraint, false
from sqlmodel import Field

from impactbench.store.tables.columns import Table, json, text, time, to
from impactbench.store.types import JSONColumn, UTCDateTime


class Study(Table, table=True):
    """What is pooled: the runs whose conversations are reviewed and audited together."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    title: str
    notice: str = text(default="")
    """Shown on every page of the study, such as that its data are simulated."""
    created_at: datetime = time()
    released_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """Since when the public sees it; none where it does not."""
    transcripts_public: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    """Whether the public sees the conversations of a released study too."""


class Run(Table, table=True):
    """One pass of the pipeline over a target; the manifest says from what."""

    __table_args__ = (UniqueConstraint("study_id", "slug"),)
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = to("study")
    slug: str
    manifest: dict[str, Any] = json(dict)
    created_at: datetime = time()


class Conversation(Table, table=True):
    """A recorded exchange between the simulated user and a target."""

    __table_args__ = (
        UniqueConstraint("run_id", "key"),
        CheckConstraint("status IN ('complete', 'incomplete', 'labels_only')", name="status_is_known"),
    )
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = to("run")
    key: str
    scenario_id: int = to("scenario")
    model_id: int = to("model")
    turns: list[dict[str, str]] = json(list)
    content_hash: str
    status: str = "complete"
    unit_key: str = Field(default="", index=True, sa_column_kwargs={"server_default": ""})
    """What shaped it, hashed; empty where it was imported."""
    termination: str = Field(default="", sa_column_kwargs={"server_default": ""})
    """Why it ended where it did, such as `planned`; empty where nobody recorded it."""
    remarks: list[dict[str, Any]] = Field(
        default_factory=list, sa_type=JSONColumn, sa_column_kwargs={"server_default": "[]"}
    )
    """What was noticed on the way: typing edits, replies cut off, instructions that leaked."""
    created_at: datetime = time()


class Judge(Table, table=True):
    """A model with a prompt and parameters: change one and it is another judge."""

    __table_args__ = (UniqueConstraint("model_id", "prompt_hash", "parameters_hash"),)
    id: int | None = Field(default=None, primary_key=True)
    model_id: int = to("model")
    prompt_hash: str = ""
    parameters: dict[str, Any] = json(dict)
    parameters_hash: str


class Judgment(Table, table=True):
    """What a judge said once about a conversation. `present` null is unscored, and `unscored_because` says why."""

    __table_args__ = (
        UniqueConstraint("conversation_id", "metric_version_id", "judge_id", "repeat"),
        CheckConstraint("(present IS NULL) = (unscored_because <> '')", name="unscored_has_a_reason"),
    )
    id: int | None = Field(default=None, primary_key=True)
    conversation_id: int = to("conversation")
    metric_version_id: int = to("metric_version")
    judge_id: int = to("judge")
    repeat: int = 0
    present: bool | None = None
    unscored_because: str = ""
    justification: str = text(default="")
    raw_reply: str = text(default="")
    unit_key: str = Field(default="", index=True, sa_column_kwargs={"server_default": ""})
    """What shaped it, hashed; empty where it was imported."""
    created_at: datetime = time()


class Launch(Table, table=True):
    """One start of a run: what it was to do, and how it ended. `ended_because` is empty while it goes on, or was killed."""

    __table_args__ = (UniqueConstraint("run_id", "number"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = to("run")
    number: int
    manifest: dict[str, Any] = json(dict)
    """Every prompt, model, parameter and version that shaped what it made."""
    manifest_hash: str
    planned: dict[str, int] = json(dict)
    """How many units of each stage the plan has in all, and how many conversations and judgments were left."""
    started_at: datetime = time()
    ended_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    ended_because: str = ""


class Call(Table, table=True):
    """A call to a model: its reply is here before anything is built on it, so that no reply is paid for twice."""

    __table_args__ = (UniqueConstraint("run_id", "unit_key", "restart", "ordinal"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = to("run", index=False)
    unit_key: str
    restart: int = 0
    """Rises when a unit has to begin anew because of what models answered; replies from before are not used."""
    ordinal: int
    """Which call of its unit it is, from 0."""
    stage: str
    purpose: str
    model: str
    request_hash: str
    reply: str = text(default="")
    finish_reason: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """Missing where no price is known."""
    seconds: float = 0.0
    retries: int = 0
    created_at: datetime = time()


class Attempt(Table, table=True):
    """A unit that could not be finished, and why: it is due again. Where it is finished at last, a row of the kind
    `finished` says so.
    """

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = to("run")
    unit_key: str = Field(index=True)
    stage: str
    subject: str = ""
    """What the unit was about, in words that a person can find again."""
    model: str = ""
    kind: str
    """The kind of failure, such as rate_limit."""
    because: str = text(default="")
    retries: int = 0
    seconds: float = 0.0
    restart: int = 0
    created_at: datetime = time()
