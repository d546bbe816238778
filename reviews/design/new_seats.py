"""More raters for items of an open review set: who is asked, and the assignments that ask them."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import func
from sqlmodel import Session, col, select

from impactbench.domain import AssignmentReason, Role
from impactbench.store.engine import insert_if_absent
from impactbench.store.tables import Assignment, Rater, ReviewSet, Study
from reviews.assignment import PANELS, Item, Member, PlanRefused, number_traits
from reviews.design.balance import NO_LIMIT, Teams, balance
from reviews.design.open_set import OpenSet
from reviews.design.ordering import draw_option_orders, order_items


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSeat:
    """A rater who is to be given an item of an open set."""

    item: str
    rater: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """An item for which there are fewer raters than wanted."""

    item: str
    metric: str
    missing: int
    """Seats that stay empty."""
    lack: str
    """What is short: raters, or a rater of a panel."""
    because: str
    """Why those who are there cannot fill it."""


def find_raters(
    opened: OpenSet, wanted: Mapping[str, int], *, but_for: Collection[str] = ()
) -> tuple[list[NewSeat], list[Shortage]]:
    """Raters for empty seats: balanced with what everybody has already, and nobody is given an item again.

    Where two panels are present and an item has nobody of one, its last empty seat waits for that panel.

    Args:
        wanted: item -> how many more raters it is to have.
        but_for: raters who are given nothing now.
    """
    panel_of = dict(zip(opened.assignments["rater"], opened.assignments["panel"], strict=True))
    taking = [member for member in opened.members if member.name not in but_for]
    gone = {name for team in opened.holders.values() for name in team} - {member.name for member in taking}
    members = [*taking, *(Member(name=name, panel=panel_of[name]) for name in sorted(gone))]
    number = {member.name: place for place, member in enumerate(members)}
    items = [
        Item(key=key, metric=metric, family=family, scenario=f"{metric}/{scenario}")
        for key, metric, family, scenario in zip(
            *(opened.items[name] for name in ("key", "metric", "family", "base_scenario")), strict=True
        )
    ]
    present_panels = {member.panel for member in opened.members} | set(panel_of.values())
    must_meet = [panel for panel in PANELS if present_panels.issuperset(PANELS)]
    seats: dict[str, int] = {}
    short = []
    for item in items:
        need = wanted.get(item.key, 0)
        free = opened.free_for(item.key, but_for=tuple(but_for))
        present = {panel_of.get(name) for name in opened.holders.get(item.key, ())}
        absent = [panel for panel in must_meet if panel not in present]
        lacking = [panel for panel in absent if panel not in {member.panel for member in free}]
        possible = min(len(free), max(0, need - len(lacking)))
        seats[item.key] = min(need, possible)
        if possible < need:
            short.append(
                Shortage(
                    item=item.key,
                    metric=item.metric,
                    missing=need - possible,
                    lack=f"{lacking[0]} rater" if lacking else "rater",
                    because=opened.explain(item.key) or "nobody else takes part",
                )
            )
    teams = Teams(
        overlap=max(seats.values(), default=0),
        panels=[-1 if member.panel is None else PANELS.index(member.panel) for member in members],
        must_meet=[PANELS.index(panel) for panel in must_meet],
        traits=number_traits(items),
        barred={
            (place, number[member.name])
            for place, item in enumerate(items)
            for member in members
            if member.name in gone or (item.key, member.name) in opened.why_not
        },
        caps=[NO_LIMIT if member.max_items is None else member.max_items for member in members],
        begun=[[number[name] for name in opened.holders.get(item.key, ())] for item in items],
    )
    teams.sizes = [len(team) + seats[item.key] for item, team in zip(items, teams.begun, strict=True)]
    generator = np.random.default_rng([int(opened.design["seed"] or 0), opened.state[0]])
    if any(seats.values()):
        balance(teams, generator=generator)
    short += _give_up_beyond_limits(teams, items)
    return [
        NewSeat(item=item.key, rater=members[rater].name)
        for item, team, begun in zip(items, teams.teams, teams.begun, strict=True)
        for rater in sorted(set(team) - set(begun))
    ], short


def _give_up_beyond_limits(teams: Teams, items: Sequence[Item]) -> list[Shortage]:
    """Leave those seats empty that only somebody beyond their limit could fill."""
    short = []
    for place, item in enumerate(items):
        for rater in [one for one in teams.teams[place] if one not in teams.begun[place]]:
            if teams.loads[rater] > teams.caps[rater]:
                teams.add(place, rater, change=-1)
                short.append(
                    Shortage(
                        item=item.key,
                        metric=item.metric,
                        missing=1,
                        lack="rater",
                        because="everybody who may have it is at the most they take",
                    )
                )
    return short


def add_seats(
    session: Session,
    opened: OpenSet,
    review_set: ReviewSet,
    seats: Sequence[NewSeat],
    *,
    reason: AssignmentReason,
    probabilities: Mapping[str, float] | None = None,
) -> int:
    """Add assignments for the seats behind what each rater has; how many were added.

    Args:
        probabilities: item -> the chance with which it was given extra raters; where none is given, a new assignment
            has the chance of the item itself.

    Raises:
        PlanRefused: a rater of the seats is no longer there.
    """
    insert_if_absent(
        session,
        Rater,
        [{"pseudonym": m.name, "role": Role.EXPERT, "panel": m.panel} for m in opened.newcomers],
    )
    items = opened.items.set_index("key").to_dict("index")
    own = opened.assignments
    last = own.groupby("rater")["position"].max()
    people = {
        person.pseudonym: person
        for person in session.exec(
            select(Rater).where(col(Rater.pseudonym).in_([s.rater for s in seats]), col(Rater.active))
        )
    }
    generator = np.random.default_rng([int(opened.design["seed"] or 0), opened.state[0], 1])
    rows = []
    for rater in sorted({seat.rater for seat in seats}):
        if rater not in people:
            raise PlanRefused(f"the rater {rater!r} was changed since the preview; run the command again")
        theirs = [seat.item for seat in seats if seat.rater == rater]
        scenarios = [f"{items[key]['metric']}/{items[key]['base_scenario']}" for key in theirs]
        options = _options(session, review_set, people[rater], generator)
        for place, which in enumerate(order_items(scenarios, generator), start=1):
            item = items[theirs[which]]
            rows.append(
                {
                    "study_id": review_set.study_id,
                    "review_set_id": review_set.id,
                    "conversation_id": item["conversation_id"],
                    "metric_version_id": item["metric_version_id"],
                    "rater_id": people[rater].id,
                    "reason": reason,
                    "code": secrets.token_hex(10),
                    "position": int(last.get(rater, 0)) + place,
                    "option_order": options,
                    "stratum": item["stratum"],
                    "inclusion_probability": (probabilities or {}).get(
                        theirs[which], item["inclusion_probability"]
                    ),
                }
            )
    added = insert_if_absent(session, Assignment, rows)
    if added != len(rows):
        raise PlanRefused(CHANGED)
    return added


CHANGED = "the review set was changed by somebody else since the preview; run the command again for a new one"


def require_unchanged(session: Session, opened: OpenSet) -> None:
    """Refuse what was planned on a state that is no more.

    Raises:
        PlanRefused: assignments were added or given up since.
    """
    now = session.exec(
        select(func.count(col(Assignment.id)), func.count(col(Assignment.released_at)))
        .join(Study, col(Study.id) == Assignment.study_id)
        .where(Study.slug == opened.study)
    ).one()
    if tuple(now) != opened.state:
        raise PlanRefused(CHANGED)


def _options(
    session: Session, review_set: ReviewSet, person: Rater, generator: np.random.Generator
) -> list[str]:
    """The order of options that a rater has in this set already, or one by lot."""
    known = session.exec(
        select(Assignment.option_order)
        .where(Assignment.review_set_id == review_set.id, Assignment.rater_id == person.id)
        .limit(1)
    ).first()
    return list(known or draw_option_orders([person.panel], generator)[0])
