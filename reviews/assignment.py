"""Who rates what, in which order: a pure function from items and raters to a frozen plan.

The plan follows from the names of the items and raters and the seed alone, to the byte: neither the order in which they
are given nor anything in a database changes it. Codes of assignments are no part of it, because whoever knows the
design must not be able to compute them; they are drawn when a plan is saved.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from impactbench.domain import ImpactBenchError, Panel, content_hash
from reviews.balance import Teams, balance, components, pair_counts

SCALE = ("pass", "borderline", "fail")
"""The options in the order that half of the raters see; the other half sees them reversed."""
_PANELS = (Panel.INTERNAL, Panel.EXTERNAL)


class PlanRefused(ImpactBenchError):
    """A review set that cannot be assigned as asked; the text says what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A conversation to be rated on its metric."""

    key: str
    """Its stable name."""
    metric: str
    family: str
    """The lineage of the target model."""
    scenario: str
    """The base scenario: its teen and adult twins, and other models on it, share this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A rater who may be given items."""

    name: str
    panel: Panel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One rater on one item, at a place in the rater's order (from 1)."""

    rater: str
    position: int
    item: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Every seat of a review set. The same items, raters, overlap and seed give the same plan."""

    overlap: int
    seed: int
    members: tuple[Member, ...]
    """By name."""
    seats: tuple[Seat, ...]
    """By rater, then position."""
    option_orders: dict[str, tuple[str, ...]]
    """The options of each rater from first to last."""
    notes: tuple[str, ...]
    """What is less than what was to be wished, in sentences."""

    @cached_property
    def loads(self) -> dict[str, int]:
        """The number of items of each rater, those with none too."""
        counts = Counter(seat.rater for seat in self.seats)
        return {member.name: counts[member.name] for member in self.members}

    @cached_property
    def teams(self) -> dict[str, tuple[str, ...]]:
        """The raters of each item, by name."""
        teams: dict[str, list[str]] = {}
        for seat in self.seats:
            teams.setdefault(seat.item, []).append(seat.rater)
        return {item: tuple(sorted(teams[item])) for item in sorted(teams)}

    @cached_property
    def pairs(self) -> dict[tuple[str, str], int]:
        """How many items two raters have in common."""
        names = [member.name for member in self.members]
        counts = pair_counts(_numbered(self.teams.values(), names), len(names))
        return {(names[one], names[other]): count for (one, other), count in counts.items()}

    @cached_property
    def parts(self) -> int:
        """Parts of the rater-item graph that nothing connects; 1 lets all raters be compared."""
        names = [member.name for member in self.members]
        return len(components(_numbered(self.teams.values(), names), len(names)))

    @cached_property
    def plan_hash(self) -> str:
        """A hash of all of it."""
        return content_hash(
            {
                "overlap": self.overlap,
                "seed": self.seed,
                "raters": [[member.name, member.panel] for member in self.members],
                "options": self.option_orders,
                "seats": [[seat.rater, seat.position, seat.item] for seat in self.seats],
            }
        )


def plan(
    items: Collection[Item],
    raters: Collection[Member],
    *,
    overlap: int,
    seed: int,
    taken: Collection[tuple[str, str]] = (),
) -> Plan:
    """Assign every item to `overlap` distinct raters.

    Where both panels are present each item gets one rater of each at least. Loads differ by at most one, as far as
    that rule and `taken` allow; where the rule forbids it they differ by at most one within a panel. Raters are
    connected through common items where there are enough seats for it. Pairs of raters meet as evenly as can be, and
    so does each rater meet the metrics and families. Orders are random, with items of one base scenario apart.

    Args:
        items, raters: in any order; names must differ.
        overlap: raters an item.
        seed: of the only generator.
        taken: (item, rater) pairs that already are assignments elsewhere and are not made again.

    Raises:
        PlanRefused: no plan can have these numbers; the text says what would be right.
    """
    ordered = sorted(items, key=lambda item: item.key)
    members = sorted(raters, key=lambda member: member.name)
    must_meet = _must_meet(members)
    _require_names(ordered, members)
    _require_enough(ordered, members, overlap, must_meet)
    barred = _number_pairs(ordered, members, taken)
    _require_free_raters(ordered, members, overlap, barred)

    generator = np.random.default_rng(seed)
    teams = Teams(
        overlap=overlap,
        panels=[-1 if member.panel is None else _PANELS.index(member.panel) for member in members],
        must_meet=[_PANELS.index(panel) for panel in must_meet],
        traits=_number_traits(ordered),
        barred=barred,
    )
    balance(teams, generator=generator)
    seats = []
    for number, member in enumerate(members):
        own = [item for item, team in zip(ordered, teams.teams, strict=True) if number in team]
        for position, item in enumerate(_order(own, generator), start=1):
            seats.append(Seat(rater=member.name, position=position, item=item.key))
    return Plan(
        overlap=overlap,
        seed=seed,
        members=tuple(members),
        seats=tuple(seats),
        option_orders=_draw_option_orders(members, generator),
        notes=_notes(teams, members, must_meet),
    )


def _order(items: Sequence[Item], generator: np.random.Generator) -> list[Item]:
    """A random order in which a base scenario follows itself only where there is no other way."""
    rest = [items[index] for index in generator.permutation(len(items))]
    left = Counter(item.scenario for item in rest)
    order: list[Item] = []
    last = ""
    while rest:
        scenario, most = max(left.items(), key=lambda entry: (entry[1], entry[0]))
        if 2 * most > len(rest) and scenario != last:
            wanted = scenario
        else:
            wanted = next((item.scenario for item in rest if item.scenario != last), last)
        item = next(item for item in rest if item.scenario == wanted)
        rest.remove(item)
        left[wanted] -= 1
        order.append(item)
        last = wanted
    return order


def _draw_option_orders(
    members: Sequence[Member], generator: np.random.Generator
) -> dict[str, tuple[str, ...]]:
    """Half of the raters see the options reversed, within a panel as nearly as overall."""
    shuffled = [members[index] for index in generator.permutation(len(members))]
    shuffled.sort(key=lambda member: member.panel or "")
    first = int(generator.integers(2))
    orders = {
        member.name: SCALE if (number + first) % 2 else SCALE[::-1] for number, member in enumerate(shuffled)
    }
    return {member.name: orders[member.name] for member in members}


def _notes(teams: Teams, members: Sequence[Member], must_meet: Sequence[Panel]) -> tuple[str, ...]:
    notes = []
    seats = sum(teams.loads)
    if idle := [member.name for member, load in zip(members, teams.loads, strict=True) if not load]:
        notes.append(
            f"There are {seats} seats for {len(members)} raters: {', '.join(idle)} will have nothing to rate."
        )
    if max(teams.loads) - min(teams.loads) > 1:
        notes.append(_explain_loads(teams, must_meet))
    parts = len(components(teams.teams, len(members)))
    if teams.overlap == 1:
        notes.append(
            "With overlap 1 no item has two raters: agreement cannot be computed and raters cannot be compared."
        )
    elif parts > 1:
        notes.append(
            f"The raters fall into {parts} groups without an item in common, so the groups cannot be compared: "
            "more items or a larger overlap would connect them."
        )
    return tuple(notes)


def _explain_loads(teams: Teams, must_meet: Sequence[Panel]) -> str:
    ranges = {}
    for panel in must_meet:
        loads = [
            load
            for load, number in zip(teams.loads, teams.panels, strict=True)
            if number == _PANELS.index(panel)
        ]
        ranges[panel] = (min(loads), max(loads))
    if teams.barred or not ranges:
        return (
            f"Loads range from {min(teams.loads)} to {max(teams.loads)}, because some raters already have "
            "some of these items from an earlier set."
        )
    shares = " and ".join(
        f"{_span(low, high)} for each {panel} rater" for panel, (low, high) in ranges.items()
    )
    return (
        f"Each item needs an internal and an external rater, so loads cannot be equal across panels: {shares}; "
        "within a panel they differ by at most one."
    )


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} or {high}" if high == low + 1 else f"{low} to {high}"


def _require_names(items: Sequence[Item], members: Sequence[Member]) -> None:
    for what, names in (("item", [i.key for i in items]), ("rater", [m.name for m in members])):
        if doubled := [one for one, other in pairwise(names) if one == other]:
            raise PlanRefused(f"{what} {doubled[0]!r} is named twice; name each {what} once")


def _require_enough(
    items: Sequence[Item], members: Sequence[Member], overlap: int, must_meet: Sequence[Panel]
) -> None:
    if not items:
        raise PlanRefused("there is no item to assign; choose at least one conversation")
    if not members:
        raise PlanRefused(
            "there is no rater to assign to; name raters with --rater NAME:internal or NAME:external"
        )
    if overlap < 1:
        raise PlanRefused(f"overlap {overlap} is no number of raters an item; give 1 or more")
    if overlap > len(members):
        raise PlanRefused(
            f"overlap {overlap} needs {overlap} raters and there {_count(len(members), 'is', 'are')}; "
            f"name more raters or give an overlap of at most {len(members)}"
        )
    if overlap == 1 and must_meet:
        raise PlanRefused(
            "overlap 1 cannot give every item an internal and an external rater; "
            "give an overlap of 2 or more, or name raters of one panel"
        )


def shortage(free: Collection[Member], members: Collection[Member], *, overlap: int) -> str:
    """What keeps an item from having a full team of those who are free for it; empty where nothing does."""
    if len(free) < overlap:
        return f"{len(free)} of the {len(members)} raters"
    present = {member.panel for member in free}
    short = [panel for panel in _must_meet(members) if panel not in present]
    return f"no {short[0]} rater" if short else ""


def _must_meet(members: Collection[Member]) -> list[Panel]:
    present = {member.panel for member in members}
    return list(_PANELS) if present.issuperset(_PANELS) else []


def _require_free_raters(
    items: Sequence[Item], members: Sequence[Member], overlap: int, barred: set[tuple[int, int]]
) -> None:
    for number in sorted({item for item, _ in barred}):
        free = [member for index, member in enumerate(members) if (number, index) not in barred]
        if lack := shortage(free, members, overlap=overlap):
            raise PlanRefused(
                f"item {items[number].key} is free for {lack}, since the others have it in an earlier set; "
                "name raters who have not, or lower the overlap"
            )


def _count(n: int, singular: str, plural: str) -> str:
    return f"{singular if n == 1 else plural} {n}"


def _number_pairs(
    items: Sequence[Item], members: Sequence[Member], taken: Collection[tuple[str, str]]
) -> set[tuple[int, int]]:
    item_of = {item.key: number for number, item in enumerate(items)}
    rater_of = {member.name: number for number, member in enumerate(members)}
    return {
        (item_of[item], rater_of[rater]) for item, rater in taken if item in item_of and rater in rater_of
    }


def _number_traits(items: Sequence[Item]) -> list[tuple[int, ...]]:
    """The metric and the family of each item, with one numbering for both."""
    names = sorted({("metric", item.metric) for item in items} | {("family", item.family) for item in items})
    number = {name: index for index, name in enumerate(names)}
    return [(number["metric", item.metric], number["family", item.family]) for item in items]


def _numbered(teams: Collection[Sequence[str]], names: Sequence[str]) -> list[list[int]]:
    number = {name: index for index, name in enumerate(names)}
    return [[number[name] for name in team] for team in teams]
