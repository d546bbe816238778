"""What models did: studies, runs, conversations, judgments."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field

from impactbench.store.tables.columns import Table, json, text, time, to


class Study(Table, table=True):
    """What is pooled: the runs whose conversations are reviewed and audited together."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    title: str
    notice: str = text(default="")
    """Shown on every page of the study, such as that its data are simulated."""
    created_at: datetime = time()


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
    created_at: datetime = time()
