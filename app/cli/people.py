"""`impactbench people`: who may sign in, how, and as what."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from app.cli.terminal import err, open_database, out
from impactbench.domain import Panel, Role
from impactbench.settings import Settings
from reviews import people
from reviews.invitations import VALID_DAYS, invite, make_token
from reviews.raters import add_person

cli = typer.Typer(help="Add people who sign in, and look after their ways in.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The pseudonym of the person.")]

DOORS = {
    "link": "personal link",
    "organisation": "organisation",
    "none": "no way in",
    "left": "has left",
}


@cli.callback()
def _group() -> None:
    """Add people who sign in, and look after their ways in."""


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


@cli.command("list")
def list_people() -> None:
    """Everybody: their role and panel, how they come in, and how far they are."""
    known = people.list_people(open_database())
    if not known:
        err.print("There is nobody yet; add somebody with `impactbench people add NAME`.", markup=False)
        return
    table = Table("Name", "Role", "Panel", "Comes in by", "Until", "Answered")
    for one in known:
        until = f"{one.link_until:%Y-%m-%d}" if one.link_until else ""
        answered = f"{one.answered} of {one.asked}" if one.asked else ""
        table.add_row(Text(one.name), one.role, one.panel or "", DOORS[one.door], until, answered)
    out.print(table)


@cli.command()
def revoke(name: Name) -> None:
    """End a person's link and sign them out everywhere. `people add` or `review links` makes a new one."""
    had = people.revoke(open_database(), name)
    said = (
        "no longer works, and their devices are signed out" if had else "did not exist; nothing has changed"
    )
    err.print(f"The link of {name} {said}.", markup=False)


@cli.command()
def deactivate(name: Name) -> None:
    """Let a person go: no way in, a neutral name, nothing personal kept. Their labels stay, and so does every figure."""
    former = people.deactivate(open_database(), name)
    err.print(f"{name} has left and is called {former} from now on. All labels stay.", markup=False)
    out.print(former, markup=False)


@cli.command()
def role(
    name: Name,
    new: Annotated[Role, typer.Argument(metavar="ROLE", help="What they may see from now on.")],
    panel: Annotated[Panel | None, typer.Option(help="The panel of an expert.")] = None,
) -> None:
    """Give a person another role, or an expert another panel."""
    people.change_role(open_database(), name, role=new, panel=panel)
    err.print(f"{name} is {new} now{f' of the {panel} panel' if panel else ''}.", markup=False)


@cli.command()
def link(
    name: Name,
    identity: Annotated[str, typer.Option(help="ISSUER#SUBJECT, as the identity provider tells them.")],
) -> None:
    """Let a person sign in through their organisation, as this identity."""
    people.link_identity(open_database(), name, identity)
    err.print(f"{name} signs in as {identity} from now on.", markup=False)


@cli.command()
def code(name: Name) -> None:
    """Print a one-time code for a person's first sign-in through their organisation. A link they had stops working."""
    engine = open_database()
    secret = make_token(engine, name)
    err.print(
        f"{name} types this code once, after signing in. It is valid for {VALID_DAYS} days.", markup=False
    )
    out.print(secret, markup=False)
