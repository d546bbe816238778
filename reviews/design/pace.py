"""How long rating takes: measured from what has been rated, or assumed where nothing has."""

from dataclasses import dataclass
from math import ceil

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.store.engine import reading
from impactbench.store.tables import Label

ASSUMED_MINUTES = 4.0
ITEMS_PER_SESSION = 20
"""More than this in one sitting and care wears off."""
_FEWEST_LABELS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Minutes that an item takes a rater."""

    minutes: float
    """The median of active time, or an assumption."""
    n_labels: int
    """Labels that the median is of; 0 where it is assumed."""

    @property
    def source(self) -> str:
        return f"the median of {self.n_labels} labels" if self.n_labels else "assumed until there are labels"

    def hours(self, items: int) -> float:
        return items * self.minutes / 60

    def sessions(self, items: int) -> int:
        return ceil(items / ITEMS_PER_SESSION)


def measure_pace(engine: Engine) -> Pace:
    """The median active time of all first labels that recorded one."""
    query = select(Label.active_seconds).where(Label.revision == 1, col(Label.active_seconds) > 0)
    with reading(engine) as session:
        seconds = sorted(time for time in session.exec(query) if time is not None)
    if len(seconds) < _FEWEST_LABELS:
        return Pace(minutes=ASSUMED_MINUTES, n_labels=0)
    middle = (seconds[(len(seconds) - 1) // 2] + seconds[len(seconds) // 2]) / 2
    return Pace(minutes=middle / 60, n_labels=len(seconds))
