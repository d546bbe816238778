"""Rows of queries as frames: what the read side is made of."""

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Boolean, Connection, Dialect, Engine, Integer, Label, Select, type_coerce
from sqlalchemy.types import NullType, TypeEngine

from impactbench.store.engine import reading
from impactbench.store.types import UTCDateTime

_AT_A_TIME = 200
"""Rows that are taken from the driver at once: so few live so short that Python's collector of garbage has nothing to do."""


def read(engine: Engine, query: Select[*tuple[Any, ...]]) -> pd.DataFrame:
    """The rows of a query: a frame with its columns even where there are no rows."""
    (frame,) = read_together(engine, query)
    return frame


def read_together(engine: Engine, *queries: Select[*tuple[Any, ...]]) -> list[pd.DataFrame]:
    """The rows of several queries that look at the database at one moment.

    Cells come as the driver gives them and are then turned a column at a time: a study has millions of them. What is
    kept as text stays text. For the same reason names are joined to long tables here (`by_id`) and not by the database, which
    would make them anew for every row.
    """
    with reading(engine) as session:
        connection = session.connection()
        return [_rows(connection, query) for query in queries]


def _rows(connection: Connection, query: Select[*tuple[Any, ...]]) -> pd.DataFrame:
    wanted = {column.key: column for column in query.selected_columns}
    plain = query.with_only_columns(
        *(type_coerce(_unnamed(column), NullType()).label(name) for name, column in wanted.items()),
        maintain_column_froms=True,
    )
    cursor: Any = connection.execute(plain).cursor
    cells: list[list[Any]] = [[] for _ in wanted]
    while rows := cursor.fetchmany(_AT_A_TIME):
        for column, more in zip(cells, zip(*rows, strict=True), strict=True):
            column.extend(more)
    columns = {
        name: _column(column.type, of_column, connection.dialect)
        for (name, column), of_column in zip(wanted.items(), cells, strict=True)
    }
    return pd.DataFrame(columns)


def _unnamed(column: Any) -> Any:
    return column.element if isinstance(column, Label) else column


def _column(type_: TypeEngine[Any], cells: list[Any], dialect: Dialect) -> Any:
    if isinstance(type_, Integer) and cells:
        with suppress(TypeError):  # where a cell is missing
            return np.fromiter(cells, dtype=np.int64, count=len(cells))
    if isinstance(type_, Boolean) and (turn := type_.dialect_impl(dialect).result_processor(dialect, None)):
        cells = list(map(turn, cells))
    found = pd.Series(cells)
    if isinstance(type_, UTCDateTime) and found.notna().any():
        return pd.to_datetime(found, utc=True, format="ISO8601")
    return found


def by_id(ids: pd.Series, about: pd.DataFrame) -> pd.DataFrame:
    """For each id its row of a short table, whose first column `id` is."""
    known = about.set_index("id")
    return known.take(known.index.get_indexer(pd.Index(ids))).set_axis(ids.index)
