"""How far the tables have come that an audit reads: what tells whether anything changed, and whether only labels were added.

Rows are only ever added, so that their numbers say it all; of the few things that are changed in place there is a word.
"""

import zlib
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Select, func, select
from sqlmodel import col

from impactbench.store import tables as t
from impactbench.store.engine import reading


@dataclass(frozen=True, slots=True)
class Marks:
    """How far the tables of a study, or of all studies, have come."""

    labels: int
    """Label revisions."""
    newest: int
    """The largest id of one."""
    rest: tuple[int, ...]
    """Of everything else."""

    def __str__(self) -> str:
        return "-".join(map(str, (self.labels, self.newest, *self.rest)))


def marks(engine: Engine, study: str) -> Marks:
    """The marks of a study. What concerns it alone is counted only where something was added to any study."""
    known = _KNOWN.setdefault(engine, {})
    with reading(engine) as session:
        rows = session.connection()
        everywhere, seen = _everywhere(rows), known.get(study)
        if seen is not None and seen[0] == everywhere:
            return seen[1]
        own = None if seen is None else _moved_on(rows, study, *seen, everywhere)
        if own is None:
            own = _of_study(rows, study)
            if _everywhere(rows) != everywhere:
                return own  # somebody wrote while it was counted
    known[study] = everywhere, own
    return own


_KNOWN: WeakKeyDictionary[Engine, dict[str, tuple[Marks, Marks]]] = WeakKeyDictionary()
"""The marks of all studies when a study was last counted, and its own."""


def state(engine: Engine, study: str) -> str:
    """A word that changes whenever anything that an audit of the study reads has changed."""
    return str(marks(engine, study))


def _everywhere(rows: Connection) -> Marks:
    """The marks of all studies; a SQLite file is not counted again before somebody has written to it."""
    written = _written(rows)
    known: tuple[object, Marks] | None = rows.info.get(_COUNTED)
    if written is not None and known is not None and known[0] == written:
        return known[1]
    labels, newest = rows.execute(select(func.count(), func.max(col(t.Label.id)))).one()
    slots = rows.execute(select(func.count(), func.count(col(t.Assignment.released_at)))).one()
    grown = [_number(rows, table) for table in (t.Judgment, t.Conversation, t.Adjudication)]
    found = Marks(labels, newest or 0, (*slots, *grown, *_of_no_study(rows)))
    rows.info[_COUNTED] = written, found
    return found


_COUNTED = "impactbench-counted"


def _written(rows: Connection) -> tuple[int, int] | None:
    """What changes with every write to a SQLite file: by other connections, and by this one."""
    if rows.dialect.name != "sqlite":
        return None
    driver: Any = rows.connection.driver_connection
    return int(rows.exec_driver_sql("PRAGMA data_version").scalar_one()), int(driver.total_changes)


def _of_study(rows: Connection, study: str) -> Marks:
    own = select(col(t.Study.id)).where(col(t.Study.slug) == study).scalar_subquery()
    asked = (
        select(
            func.count(col(t.Assignment.id)),
            func.count(col(t.Label.id)),
            func.max(col(t.Label.id)),
            func.count(col(t.Assignment.released_at)),
        )
        .select_from(t.Assignment)
        .outerjoin(t.Label, col(t.Label.assignment_id) == t.Assignment.id)
        .where(col(t.Assignment.study_id) == own)
    )
    judged = (
        select(func.count(col(t.Judgment.id)), func.count(col(t.Conversation.id).distinct()))
        .select_from(t.Conversation)
        .outerjoin(t.Judgment, col(t.Judgment.conversation_id) == t.Conversation.id)
        .join(t.Run, col(t.Run.id) == t.Conversation.run_id)
        .where(col(t.Run.study_id) == own)
    )
    settled = select(func.count()).select_from(t.Adjudication).where(col(t.Adjudication.study_id) == own)
    assigned, labels, newest, released = rows.execute(asked).one()
    rest = (*rows.execute(judged).one(), *rows.execute(settled).one(), *_of_no_study(rows))
    return Marks(labels, newest or 0, (assigned, released, *rest))


def _moved_on(rows: Connection, study: str, before: Marks, own: Marks, now: Marks) -> Marks | None:
    """The marks of a study where nothing but labels was added since; None where this cannot be told.

    Where several write at once a label may appear after another with a larger id: then the numbers do not tally.
    """
    ours = col(t.Study.slug) == study
    later = (
        select(func.count(), func.max(col(t.Label.id)).filter(ours), func.count().filter(ours))
        .select_from(t.Label)
        .join(t.Assignment, col(t.Assignment.id) == t.Label.assignment_id)
        .join(t.Study, col(t.Study.id) == t.Assignment.study_id)
        .where(col(t.Label.id) > before.newest)
    )
    added, newest, of_study = rows.execute(later).one()
    if now.rest != before.rest or now.labels - before.labels != added:
        return None
    return Marks(own.labels + of_study, max(own.newest, newest or 0), own.rest)


def _of_no_study(rows: Connection) -> tuple[int, ...]:
    """Of what belongs to no study: wordings, answers about metrics, where metrics stand, and what raters are called."""
    people = rows.execute(_PEOPLE).all()
    called = zlib.crc32(repr([tuple(person) for person in people]).encode())
    return (*(_number(rows, table) for table in (t.MetricVersion, t.Response, t.Placement)), called)


_PEOPLE: Select[*tuple[Any, ...]] = select(
    col(t.Rater.id), col(t.Rater.pseudonym), col(t.Rater.role), col(t.Rater.panel), col(t.Rater.active)
).order_by(col(t.Rater.id))


def _number(rows: Connection, table: type[t.Table]) -> int:
    return int(rows.execute(select(func.count()).select_from(table)).scalar_one())
