"""`impactbench people`: who may sign in, how, and as what."""

from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from app.cli.terminal import err, open_database, out
from impactbench.domain import Panel, Role
from impactbench.settings import Settings
from reviews.members import expertise as expertise_of
from reviews.members import people
from reviews.members.devices import devices_of, end_device
from reviews.members.invitations import VALID_DAYS, invite, make_token
from reviews.members.people import PersonRefused
from reviews.members.raters import add_person

cli = typer.Typer(help="Add people who sign in, and look after their ways in.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The pseudonym of the person.")]

DOORS = {
    "device": "signed in",
    "link": "personal link",
    "organisation": "organisation",
    "none": "no way in",
    "left": "has left",
}


class Recorded(StrEnum):
    """What is on record of an expert."""

    EXPERTISE = "expertise"
    LANGUAGES = "languages"
    CONFLICTS = "conflicts"


_LINK_WORKS = f"The link works once, on one device, within {VALID_DAYS} days."


@cli.callback()
def _group() -> None:
    """Add people who sign in, and look after their ways in."""


@cli.command()
def add(
    name: Annotated[str, typer.Argument(help="A pseudonym: all that others will see of this person.")],
    role: Annotated[Role, typer.Option(help="What they may see. Only an expert rates.")] = Role.EXPERT,
    panel: Annotated[Panel | None, typer.Option(help="The panel of an expert.")] = None,
    expertise: Annotated[
        list[str] | None, typer.Option(help="The slug of a subarea that an expert knows; may be repeated.")
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(help="A language that they read, as a tag such as de; may be repeated."),
    ] = None,
    conflict: Annotated[
        list[str] | None,
        typer.Option(
            help="What they must not rate: BENCHMARK/METRIC, or a maker of models; may be repeated."
        ),
    ] = None,
) -> None:
    """Add a person and print their personal link. Run again, it makes a new link and the old one stops working.

    A link works once, on the device where it is opened.
    """
    engine = open_database()
    added = add_person(
        engine,
        name,
        role=role,
        panel=panel,
        expertise=expertise or [],
        languages=language or [],
        conflicts=conflict or [],
    )
    link = invite(engine, name.strip(), base_url=Settings().base_url)
    said = "is added" if added else "was known already and has a new link; the old one no longer works"
    err.print(f"{name.strip()} ({role}) {said}. {_LINK_WORKS}", markup=False)
    out.print(link, markup=False)


@cli.command("invite")
def invite_again(name: Name) -> None:
    """Print a new personal link for somebody. One they had not used yet stops working; their devices stay signed in."""
    link = invite(open_database(), name, base_url=Settings().base_url)
    err.print(f"{name} has a new link. {_LINK_WORKS}", markup=False)
    out.print(link, markup=False)


@cli.command()
def devices(name: Name) -> None:
    """The devices on which somebody is signed in."""
    known = devices_of(open_database(), name)
    if not known:
        err.print(f"{name} is signed in nowhere.", markup=False)
        return
    table = Table("Number", "Signed in", "Until", "Last seen (UTC)")
    for one in known:
        table.add_row(
            str(one.number), f"{one.since:%Y-%m-%d}", f"{one.until:%Y-%m-%d}", f"{one.last_seen_on:%Y-%m-%d}"
        )
    out.print(table)


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
def revoke(
    name: Name,
    device: Annotated[
        int | None, typer.Option(help="Sign out this device alone, by its number in `people devices`.")
    ] = None,
) -> None:
    """End a person's link and sign them out everywhere, or on one device. `people invite` makes a new link."""
    engine = open_database()
    if device is not None:
        end_device(engine, name, device)
        err.print(f"{name} is signed out on device {device}.", markup=False)
        return
    said = (
        f"The link of {name} no longer works, and their devices are signed out."
        if people.revoke(engine, name)
        else f"{name} had no link that works and was signed in nowhere; nothing has changed."
    )
    err.print(said, markup=False)


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
def describe(
    name: Name,
    expertise: Annotated[
        list[str] | None, typer.Option(help="The slug of a subarea that they know; may be repeated.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="A language that they read, as a tag; may be repeated.")
    ] = None,
    conflict: Annotated[
        list[str] | None,
        typer.Option(
            help="What they must not rate: BENCHMARK/METRIC, or a maker of models; may be repeated."
        ),
    ] = None,
    clear: Annotated[
        list[Recorded] | None, typer.Option(help="Empty this, so that nothing is on record; may be repeated.")
    ] = None,
) -> None:
    """Show what is on record of an expert, or put something else in its place: what is said replaces what was.

    It decides what they are given from now on. What they were given and said stays as it is.
    """
    emptied = dict.fromkeys(map(str, clear or []), ())
    said = {"expertise": expertise, "languages": language, "conflicts": conflict}
    if twice := [word for word in emptied if said[word]]:
        raise PersonRefused(f"{twice[0]} cannot be cleared and given at once; leave one of the two out")
    found = expertise_of.describe(
        open_database(),
        name,
        **{column: emptied.get(column, parts or None) for column, parts in said.items()},
    )
    table = Table("On record", name)
    for column in Recorded:
        table.add_row(column.capitalize(), Text(", ".join(getattr(found, column)) or "nothing"))
    out.print(table)
    for note in found.notes:
        err.print(note, markup=False)


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
