"""Who may sign in."""

from datetime import datetime

from sqlmodel import Field

from impactbench.domain import Panel, Role
from impactbench.store.tables.columns import Table, json, time
from impactbench.store.types import EnumText, UTCDateTime, one_of


class Rater(Table, table=True):
    """Somebody who labels or reads results. The pseudonym is all that others may see."""

    __table_args__ = (one_of("role", Role), one_of("panel", Panel))
    id: int | None = Field(default=None, primary_key=True)
    pseudonym: str = Field(unique=True)
    role: Role = Field(default=Role.EXPERT, sa_type=EnumText(Role))
    panel: Panel | None = Field(default=None, sa_type=EnumText(Panel))
    expertise: str = ""
    """Slugs of subareas, separated by blanks; empty where any will do."""
    languages: list[str] = json(list)
    """What they read, as language tags; empty where nobody asked."""
    conflicts: list[str] = json(list)
    """What they must not rate: benchmark/metric, or a provider of models."""
    identity: str | None = Field(default=None, unique=True)
    """Issuer and subject of a member who signs in through an identity provider."""
    token_hash: str | None = Field(default=None, unique=True)
    token_expires_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    active: bool = True
    protocol_accepted_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    created_at: datetime = time()
