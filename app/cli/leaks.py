"""`impactbench review leaks` and `impactbench review exposures`: what raters must not read, and what they were sent."""

import dataclasses
import re
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from app.cli.terminal import err, open_database, out
from reviews.blindness.exposures import exposures as read_exposures
from reviews.blindness.leak_scan import Leak, LeakRefused, decide, maintainer, scan

Study = Annotated[str, typer.Argument(help="The study, by its slug.")]
_STATES = {"hide": "hidden", "show": "shown", None: "waits"}


def leaks(
    study: Study,
    hide: Annotated[
        list[str] | None,
        typer.Option(help="Hide these, by number: 3, or 3-7, or 3,5,9; may be repeated."),
    ] = None,
    show: Annotated[list[str] | None, typer.Option(help="Show these to raters, by number.")] = None,
    hide_all: Annotated[bool, typer.Option("--hide-all", help="Hide everything that still waits.")] = False,
    by: Annotated[
        str | None, typer.Option(help="Who decides; needed where there are several maintainers.")
    ] = None,
    waiting: Annotated[bool, typer.Option("--waiting", help="List only what waits for a decision.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List where conversations may give their model away, and decide what raters see there.

    Names of the study's models are hidden at once; words that may mean something else wait for a decision.
    """
    engine = open_database()
    found = scan(engine, study)
    to_hide, to_show = _chosen(found, hide or []), _chosen(found, show or [])
    if twice := {leak.number for leak in to_hide} & {leak.number for leak in to_show}:
        raise LeakRefused(f"number {min(twice)} is both to be hidden and to be shown: name it once")
    if hide_all:
        to_hide += [leak for leak in found if leak.waits and leak not in to_show]
    if to_hide or to_show:
        who = maintainer(engine, by)
        changed = decide(engine, to_hide, "hide", decided_by=who) + decide(
            engine, to_show, "show", decided_by=who
        )
        err.print(
            f"{_places(changed)} decided: {len(to_hide)} to hide, {len(to_show)} to show.", markup=False
        )
        found = scan(engine, study)
    listed = [leak for leak in found if leak.waits or not waiting]
    if as_json:
        out.print_json(data=[{**dataclasses.asdict(leak), "hidden": leak.hidden} for leak in listed])
        return
    for leak in listed:
        out.print(_line(leak))
    undecided = sum(leak.waits for leak in found)
    err.print(
        f"{_places(len(found))} in all, {sum(leak.hidden for leak in found)} hidden, {undecided} to be decided.",
        markup=False,
    )


def exposures(study: Study) -> None:
    """Print who was sent what, when, as CSV: one row each time that an item was sent to a rater."""
    log = read_exposures(open_database(), study)
    log["shown_at"] = [f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in log["shown_at"]]
    log.to_csv(sys.stdout, index=False, lineterminator="\n")


def _line(leak: Leak) -> Text:
    state = "hidden, certain" if leak.certain and leak.decision is None else _STATES[leak.decision]
    if leak.waits:
        state += ", hidden until then" if leak.hidden else ", shown until then"
    before, behind = (re.sub(r"\s+", " ", words) for words in (leak.before, leak.behind))
    return Text.assemble(
        f"{leak.number:>4}  {leak.run}/{leak.conversation}, turn {leak.turn}, {leak.speaker}: …{before}",
        (leak.found, "bold"),
        f"{behind}…  [{state}]",
    )


def _chosen(found: Sequence[Leak], texts: Sequence[str]) -> list[Leak]:
    """The leaks of numbers such as 3, 3-7 and 3,5,9."""
    by_number = {leak.number: leak for leak in found}
    chosen: dict[int, Leak] = {}
    for part in ",".join(texts).split(",") if texts else []:
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is None:
            raise LeakRefused(f"{part.strip()!r} is no number of the list; write 3, 3-7 or 3,5,9")
        first, last = int(match[1]), int(match[2] or match[1])
        if not (1 <= first <= last <= len(found)):
            raise LeakRefused(
                f"there is no number {part.strip()} in the list, which has {_places(len(found))}"
            )
        chosen.update((number, by_number[number]) for number in range(first, last + 1))
    return list(chosen.values())


def _places(number: int) -> str:
    return "1 place" if number == 1 else f"{number:,} places"
