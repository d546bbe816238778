"""Who may be given items: people named on the spot, in a file, or known already."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import col, select

from impactbench.adapters.documents import why_unfit
from impactbench.domain import Panel, Role
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.tables import Assignment, Rater, ReviewSet
from reviews.assignment import Member, PlanRefused

_PANELS = " or ".join(Panel)
_LISTS = ("expertise", "languages", "conflicts")


class RaterRefused(PlanRefused):
    """Somebody who cannot be named, added or given items; the text says what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The raters of a review set before it is planned."""

    members: tuple[Member, ...]
    newcomers: tuple[Member, ...]
    """Those of the members who are not in the database yet."""


def parse_rater(text: str) -> Member:
    """Read `NAME:internal` or `NAME:external`; a rater who is known already may be named without the panel.

    Raises:
        RaterRefused: there is no name, or the panel is neither.

    >>> parse_rater("Ada:external").panel
    <Panel.EXTERNAL: 'external'>
    """
    name, _, panel = (
        (part.strip() for part in text.rpartition(":")) if ":" in text else (text.strip(), "", "")
    )
    if not name:
        raise RaterRefused(f"the rater {text!r} has no name; write NAME:{_PANELS}")
    _require_storable(name)
    return Member(name=name, panel=_parse_panel(panel, f"the rater {text!r}"))


def read_raters(path: Path) -> list[Member]:
    """Read a CSV file with the columns `rater` and `panel`, one rater a line.

    It may have the columns `expertise` (slugs of subareas), `languages` (tags) and `conflicts` (benchmark/metric, or
    providers of models), each a list with semicolons, and `max_items`; an empty cell says nothing.

    Raises:
        RaterRefused: the file cannot be read, lacks a column, or a line lacks a name or names no panel.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, row) for row in reader]
            columns = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RaterRefused(f"{path} cannot be read as a CSV file in UTF-8: {error}") from error
    for column in ("rater", "panel"):
        if column not in columns:
            raise RaterRefused(f"{path} has no column {column!r}; its first line must be rater,panel")
    members = []
    for line, row in rows:
        name = (row["rater"] or "").strip()
        if not name:
            raise RaterRefused(f"{path}, line {line}: the column 'rater' is empty; write a name")
        _require_storable(name)
        members.append(
            Member(
                name=name,
                panel=_parse_panel((row["panel"] or "").strip(), f"{path}, line {line}"),
                max_items=_parse_limit((row.get("max_items") or "").strip(), f"{path}, line {line}"),
                **{column: _parse_list(row.get(column) or "") for column in _LISTS},
            )
        )
    return members


def gather_raters(engine: Engine, named: Sequence[Member]) -> Pool:
    """The raters of a new review set: exactly those named, or every active expert where nobody is.

    Whoever is in the database only as a rater of imported labels, without a personal link, takes part only when named.

    Raises:
        RaterRefused: somebody named twice, not an expert, not active, of another panel, or new and without one.
    """
    with reading(engine) as session:
        people = session.exec(select(Rater).order_by(col(Rater.pseudonym))).all()
        of_imports = set(
            session.exec(
                select(Assignment.rater_id)
                .join(ReviewSet, col(ReviewSet.id) == Assignment.review_set_id)
                .where(ReviewSet.origin == "import")
                .distinct()
            )
        )
    if not named:
        known = [
            as_member(person)
            for person in people
            if person.active
            and person.role is Role.EXPERT
            and (person.token_hash is not None or person.id not in of_imports)
        ]
        return Pool(members=tuple(known), newcomers=())
    by_name = {person.pseudonym: person for person in people}
    members = tuple(_settle(member, by_name.get(member.name)) for member in named)
    newcomers = tuple(member for member in members if member.name not in by_name)
    return Pool(members=members, newcomers=newcomers)


def add_person(
    engine: Engine,
    name: str,
    *,
    role: Role,
    panel: Panel | None = None,
    expertise: Sequence[str] = (),
    languages: Sequence[str] = (),
    conflicts: Sequence[str] = (),
) -> bool:
    """Add somebody who may sign in; False where they are known already, in the same role and panel.

    What is said of their expertise, languages and conflicts replaces what was on record of each.

    Raises:
        RaterRefused: there is no name, a panel for somebody who rates nothing, or they are known in another role.
    """
    name = name.strip()
    if not name:
        raise RaterRefused("a person needs a name; a pseudonym will do")
    _require_storable(name)
    if panel is not None and role is not Role.EXPERT:
        raise RaterRefused(f"a {role} rates nothing and so is in no panel; leave --panel out")
    known = as_recorded({"expertise": expertise, "languages": languages, "conflicts": conflicts})
    if role is not Role.EXPERT and any(known.values()):
        raise RaterRefused(
            f"a {role} rates nothing; expertise, languages and conflicts are those of an expert, so leave them out"
        )
    with writing(engine) as session:
        added = insert_if_absent(session, Rater, [{"pseudonym": name, "role": role, "panel": panel}])
        person = session.exec(select(Rater).where(Rater.pseudonym == name)).one()
        if not added and (person.role is not role or person.panel is not panel):
            raise RaterRefused(
                f"{name!r} is known already as {_describe(person.role, person.panel)}; choose another name"
            )
        if known["expertise"]:
            person.expertise = " ".join(known["expertise"])
        person.languages = list(known["languages"]) or person.languages
        person.conflicts = list(known["conflicts"]) or person.conflicts
    return bool(added)


def as_recorded(said: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """What is said of an expert, as it is kept: without blanks around it, nothing empty, nothing twice.

    Raises:
        RaterRefused: a text that no database can keep, or expertise that is no slug.
    """
    known = {
        column: tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
        for column, parts in said.items()
    }
    for part in (part for parts in known.values() for part in parts):
        _require_storable(part)
    for slug in known.get("expertise", ()):
        if len(slug.split()) > 1:
            raise RaterRefused(
                f"{slug!r} is no slug of a subarea; write it without blanks, such as mental-health"
            )
    return known


def _settle(member: Member, person: Rater | None) -> Member:
    """The member with the panel that is on record, and whatever else is on record and was not said anew."""
    if person is None:
        if member.panel is None:
            raise RaterRefused(f"{member.name!r} is not known yet; write {member.name}:{_PANELS} to add them")
        return member
    if person.role is not Role.EXPERT:
        raise RaterRefused(f"{member.name!r} is a {person.role}, and only experts rate; name somebody else")
    if not person.active:
        raise RaterRefused(f"{member.name!r} is no longer active; name somebody else")
    if member.panel is not None and person.panel is not member.panel:
        raise RaterRefused(
            f"{member.name!r} is on record as {_describe(person.role, person.panel)}, not in the {member.panel} panel; "
            f"write {member.name} alone, or name somebody else"
        )
    known = as_member(person)
    return replace(
        known,
        max_items=member.max_items,
        **{column: getattr(member, column) or getattr(known, column) for column in _LISTS},
    )


def as_member(person: Rater) -> Member:
    """A rater as a plan sees them."""
    return Member(
        name=person.pseudonym,
        panel=person.panel,
        expertise=tuple(person.expertise.split()),
        languages=tuple(person.languages),
        conflicts=tuple(person.conflicts),
    )


def on_record(member: Member) -> dict[str, object]:
    """What is kept of a rater in the database."""
    return {
        "expertise": " ".join(member.expertise),
        "languages": list(member.languages),
        "conflicts": list(member.conflicts),
    }


def _require_storable(name: str) -> None:
    if unfit := why_unfit(name):
        raise RaterRefused(f"the name {name!r} holds {unfit}, which no database can keep; take it out")


def _describe(role: Role, panel: Panel | None) -> str:
    return f"{role} without a panel" if panel is None else f"{role} of the {panel} panel"


def _parse_list(cell: str) -> tuple[str, ...]:
    """The parts of a list.

    >>> _parse_list("sleep; grief;")
    ('sleep', 'grief')
    """
    return tuple(part.strip() for part in cell.split(";") if part.strip())


def _parse_limit(text: str, where: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise RaterRefused(f"{where}: max_items {text!r} is no number of items; write 1 or more, or nothing")
    return int(text)


def _parse_panel(panel: str, where: str) -> Panel | None:
    if not panel:
        return None
    try:
        return Panel(panel.lower())
    except ValueError:
        raise RaterRefused(f"{where}: {panel!r} is no panel; write {_PANELS}") from None
