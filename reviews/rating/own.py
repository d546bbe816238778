"""An assignment that is the rater's own: what every action at the desk finds first, or is refused."""

from typing import NamedTuple

from sqlalchemy import Connection, Integer, Text, bindparam
from sqlmodel import Session, col, select

from impactbench.store.tables import Assignment, Rater
from reviews.labels import LabelRefused

Rows = Session | Connection
"""Whatever statements can be asked of. A connection answers with columns only, and many times faster."""

NOT_YOURS = "This conversation is not in your list."


class Own(NamedTuple):
    """Which item, whose, and where in their list."""

    id: int
    study_id: int
    review_set_id: int
    conversation_id: int
    metric_version_id: int
    rater_id: int
    code: str
    position: int


OWN = tuple(col(getattr(Assignment, name)) for name in Own._fields)
"""The columns of an `Own`, to be selected together with others."""
_RATER = bindparam("rater", type_=Integer)
IS_OWN = (
    col(Assignment.code) == bindparam("code", type_=Text),
    col(Assignment.rater_id) == _RATER,
    select(Rater.id).where(col(Rater.id) == _RATER, col(Rater.active)).correlate(None).exists(),
)
"""Whether an assignment has the code that was named and is of the rater who asks, who may still rate."""

_OWN = select(*OWN).where(*IS_OWN)


def own(rows: Rows, rater_id: int, code: str) -> Own:
    """The assignment behind a code.

    Raises:
        LabelRefused: it is not this rater's, or they may rate no more.
    """
    found = rows.execute(_OWN, {"code": code, "rater": rater_id}).one_or_none()
    if found is None:
        raise LabelRefused(NOT_YOURS)
    return Own(*found)
