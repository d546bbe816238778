"""What people author, as it is kept: metrics by version, where they stand, models and scenarios."""

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from impactbench.domain import AgeVariant, Polarity
from impactbench.store.tables.columns import Table, json, text, time, to
from impactbench.store.types import EnumText, one_of


class Benchmark(Table, table=True):
    """A group of metrics that belong together."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    name: str
    description: str = text(default="")


class Metric(Table, table=True):
    """A behaviour to look for; what it says is in its versions."""

    __table_args__ = (UniqueConstraint("benchmark_id", "slug"),)
    id: int | None = Field(default=None, primary_key=True)
    benchmark_id: int = to("benchmark")
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
    metric_id: int = to("metric")
    version: int
    name: str
    polarity: Polarity = Field(sa_type=EnumText(Polarity))
    definition: str = text()
    interpretive_clause: str = text(default="")
    question: str = text(default="")
    examples_present: list[str] = json(list)
    examples_absent: list[str] = json(list)
    evidence: str = text(default="")
    content_hash: str
    author: str = ""
    changed_because: str = text(default="")
    created_at: datetime = time()


class Subarea(Table, table=True):
    """One of the fourteen subareas, in one of three domains."""

    id: int | None = Field(default=None, primary_key=True)
    slug: str = Field(unique=True)
    domain: str
    name: str


class Placement(Table, table=True):
    """A metric stands in a subarea; it may stand in several."""

    metric_id: int = to("metric", primary_key=True)
    subarea_id: int = to("subarea", primary_key=True)


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
    metric_version_id: int = to("metric_version")
    slug: str
    base_scenario: str
    age: AgeVariant | None = Field(default=None, sa_type=EnumText(AgeVariant))
    persona: str = text(default="")
    user_goal: str = text(default="")
    adversarial_goal: str = text(default="")
    anchors: list[dict[str, Any]] = json(list)
    system_prompt: str = text(default="")
    content_hash: str
    unit_key: str = Field(default="", index=True, sa_column_kwargs={"server_default": ""})
    """What shaped it, hashed; empty where people wrote or imported it."""
