"""Who may sign in."""

from datetime import date, datetime

from sqlalchemy import false
from sqlmodel import Field

from impactbench.domain import Panel, Role
from impactbench.store.tables.columns import Table, json, time, to
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
    """Of the newest link made for them; the hash is kept when the link is used, so that it is known again."""
    token_expires_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    token_used_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    token_reusable: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    """Whether the link signs in any number of devices: in a demonstration only."""
    active: bool = True
    protocol_accepted_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    created_at: datetime = time()


class Device(Table, table=True):
    """A browser that somebody signed in with a link. Of its key only a hash is kept; revoked, it opens nothing more."""

    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = to("rater")
    key_hash: str = Field(unique=True)
    created_at: datetime = time()
    last_seen_on: date
    """The day, in UTC: enough to see whether a device is in use, and no record of anybody's hours."""
    revoked_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
