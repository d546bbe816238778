"""What was settled afterwards, in layers that overwrite no label."""

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from impactbench.domain import DispositionKind, LabelVerdict
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


class Disposition(Table, table=True):
    """What was decided about a metric version, on which evidence, and who dissented. Flags themselves are derived."""

    __table_args__ = (
        UniqueConstraint("study_id", "metric_version_id", "revision"),
        one_of("decision", DispositionKind),
    )
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = to("study")
    metric_version_id: int = to("metric_version")
    revision: int
    decision: DispositionKind = Field(sa_type=EnumText(DispositionKind))
    because: str = text()
    dissent: list[str] = json(list)
    """What those say who would have decided otherwise, one text each; kept whatever was decided."""
    becomes: list[int] = json(list)
    """Ids of the metric versions that follow: the new version, the parts of a split, the metric merged into."""
    status: str
    """Where the metric stood when it was decided."""
    evidence: dict[str, Any] = json(dict)
    """The evidence row as it stood."""
    decided_by: int = to("rater", index=False)
    created_at: datetime = time()


class ChangeNote(Table, table=True):
    """A decision made known: what the change log says of it, with the figures before and after as they stood."""

    __tablename__ = "change_note"
    id: int | None = Field(default=None, primary_key=True)
    disposition_id: int = to("disposition", index=False, unique=True)
    note: str = text(default="")
    figures: dict[str, Any] = json(dict)
    published_by: int = to("rater", index=False)
    created_at: datetime = time()


class Registration(Table, table=True):
    """An analysis plan as it was fixed. A later one amends it and hides nothing: both stay."""

    __table_args__ = (UniqueConstraint("study_id", "revision"),)
    id: int | None = Field(default=None, primary_key=True)
    study_id: int = to("study")
    revision: int
    plan: dict[str, Any] = json(dict)
    plan_hash: str
    labels_then: int
    """Labels that were in when it was fixed: 0 means that nobody could have looked."""
    because: str = text(default="")
    """Why an earlier plan was amended."""
    created_at: datetime = time()
