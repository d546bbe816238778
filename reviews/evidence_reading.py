"""A study as it was read last, brought up to date: where labels alone were added, these are read and nothing twice."""

from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from impactbench.store import frames
from impactbench.store.marks import Marks, marks
from reviews.evidence import StudyTables, read_tables, superseded

KEPT = 4
"""Studies that are kept, those that were asked for last."""


@dataclass(frozen=True, slots=True)
class _Read:
    marks: Marks
    tables: StudyTables


class StudyReader:
    """The studies of one database, for everybody who looks at them. Several threads may ask."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._read: dict[str, _Read] = {}
        self._lock = Lock()

    def tables(self, study: str) -> StudyTables:
        """The study as it is now; the very tables of before where nothing was added."""
        with self._lock:
            now, before = marks(self._engine, study), self._read.get(study)
            found = None if before is None else self._further(study, before, now)
            if found is None:
                found = _Read(now, read_tables(self._engine, study))
                if marks(self._engine, study) != now:
                    # Somebody wrote meanwhile, and how much of it was read is not known.
                    self._read.pop(study, None)
                    return found.tables
            self._read.pop(study, None)
            self._read[study] = found
            while len(self._read) > KEPT:
                del self._read[next(iter(self._read))]
            return found.tables

    def _further(self, study: str, before: _Read, now: Marks) -> _Read | None:
        """The study with the labels that were added; None where more than that has changed.

        Labels never go, so that those which are newer and as many as were added are the ones that were added.
        """
        if now == before.marks:
            return before
        if now.rest != before.marks.rest:
            return None
        later = frames.later_labels(self._engine, study, before.marks.newest)
        added = later[later["label_id"] <= now.newest]
        if len(added) != now.labels - before.marks.labels:
            return None
        return _Read(now, with_labels(before.tables, added))


def with_labels(tables: StudyTables, later: pd.DataFrame) -> StudyTables:
    """A study with label revisions that were added to it; what does not depend on labels is shared.

    Args:
        tables: the study.
        later: as `frames.later_labels` gives them.
    """
    asked = tables.assignments["assignment_id"]
    touched = pd.Series(later["assignment_id"].unique())
    newest = frames.newest_labels(later, touched)
    place = pd.Index(asked).get_indexer(pd.Index(touched))
    changed = {name: _with(tables.assignments[name], place, newest[name]) for name in frames.NEWEST_LABEL}
    assignments = tables.assignments.assign(**changed)
    return replace(
        tables,
        metrics=tables.metrics.assign(superseded=superseded(tables.metrics, assignments)),
        assignments=assignments,
    )


def _with(column: pd.Series, place: np.ndarray, cells: pd.Series) -> pd.Series:
    """A column with other cells at some places, of the type that it would have had if it had been read so."""
    if column.dtype == cells.dtype and column.dtype != object:
        changed = column.copy()
        changed.iloc[place] = cells.to_numpy()
        return changed
    every = column.to_numpy(dtype=object, copy=True)
    for where, cell in zip(place.tolist(), cells, strict=True):
        every[where] = cell
    return pd.Series(every, index=column.index).infer_objects()
