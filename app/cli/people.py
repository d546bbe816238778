"""`impactbench people`: who may sign in."""

from typing import Annotated

import typer

from app.cli.terminal import err, open_database, out
from impactbench.domain import Panel, Role
from impactbench.settings import Settings
from reviews.invitations import VALID_DAYS, invite
from reviews.raters import add_person

cli = typer.Typer(help="Add people who sign in, and give them their links.", no_args_is_help=True)


@cli.callback()
def _group() -> None:
    """Add people who sign in, and give them their links."""


@cli.command()
def add(
    name: Annotated[str, typer.Argument(help="A pseudonym: all that others will see of this person.")],
    role: Annotated[Role, typer.Option(help="What they may see. Only an expert rates.")] = Role.EXPERT,
    panel: Annotated[Panel | None, typer.Option(help="The panel of an expert.")] = None,
) -> None:
    """Add a person and print their personal link. Run again, it makes a new link and the old one stops working."""
    engine = open_database()
    added = add_person(engine, name, role=role, panel=panel)
    link = invite(engine, name.strip(), base_url=Settings().base_url)
    said = "is added" if added else "was known already and has a new link; the old one no longer works"
    err.print(f"{name.strip()} ({role}) {said}. The link is valid for {VALID_DAYS} days.", markup=False)
    out.print(link, markup=False)
