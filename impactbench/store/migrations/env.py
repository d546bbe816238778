"""Alembic's entry: the engine hands the connection over, so nothing is configured twice."""

from typing import Any, Literal

import sqlalchemy as sa
from alembic import context

from impactbench.store.tables import Table
from impactbench.store.types import EnumText, UTCDateTime


def _plainly(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Write our own types as SQLAlchemy's, so that a migration stays true when ours change."""
    if kind != "type":
        return False
    match item:
        case EnumText():
            return f"sa.String({item.width})"
        case UTCDateTime():
            return "sa.DateTime(timezone=True)"
        case sa.JSON():
            return 'sa.JSON().with_variant(JSONB(), "postgresql")'
        case sa.types.TypeDecorator() if isinstance(item.impl, sa.String):
            return "sa.String()"
        case _:
            return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    render_as_batch=True,
    render_item=_plainly,
)
with context.begin_transaction():
    context.run_migrations()
