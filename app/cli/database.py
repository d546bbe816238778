"""`impactbench db`: the schema of the database."""

import typer

from app.cli.terminal import err
from impactbench.settings import Settings
from impactbench.store.engine import connect
from impactbench.store.engine import upgrade as upgrade_schema

cli = typer.Typer(help="Make the database, or bring it up to date.", no_args_is_help=True)


@cli.callback()
def _group() -> None:
    """Make the database, or bring it up to date."""


@cli.command()
def upgrade() -> None:
    """Create or update the tables. Safe to run again; no label is ever touched."""
    engine = connect(Settings().database_url)
    revision = upgrade_schema(engine)
    err.print(f"The database {engine.url.render_as_string()} is at revision {revision}.")
