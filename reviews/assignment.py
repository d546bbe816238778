"""Who rates what, in which order: a pure function from items and raters to a frozen plan.

The plan follows from the names of the items and raters and the seed alone, to the byte: neither the order in which they
are given nor anything in a database changes it. Codes of assignments are no part of it, because whoever knows the
design must not be able to compute them; they are drawn when a plan is saved.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from impactbench.domain import AssignmentReason, ImpactBenchError, Panel, content_hash
from reviews.design.balance import NO_LIMIT, Teams, balance, components, pair_counts
from reviews.design.ordering import draw_option_orders, insert_repeats, order_items
from reviews.design.plan_notes import notes_on_repeats, notes_on_teams

PANELS = (Panel.INTERNAL, Panel.EXTERNAL)
EARLIER_SET = "have it in an earlier set"
"""Why raters are not given an item that they were given before."""


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
    expertise: tuple[str, ...] = ()
    """Slugs of subareas; none where any will do."""
    languages: tuple[str, ...] = ()
    """Language tags of what they read; none where nobody asked."""
    conflicts: tuple[str, ...] = ()
    """What they must not rate: benchmark/metric, or a provider of models."""
    max_items: int | None = None
    """The most items that they take on; hidden repeats and gold items are not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One rater on one item, at a place in the rater's order (from 1)."""

    rater: str
    position: int
    item: str
    repeat: int = 0
    """1 where the rater has had the item before and is not told so."""
    gold: bool = False
    """Whether the item is there to see how the rater does, and is none of the sample."""

    @property
    def reason(self) -> AssignmentReason:
        if self.gold:
            return AssignmentReason.GOLD
        return AssignmentReason.REPEAT if self.repeat else AssignmentReason.CORE


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
        """The number of sampled items of each rater, those with none too; an item shown again is one item."""
        counts = Counter(seat.rater for seat in self.seats if seat.reason is AssignmentReason.CORE)
        return {member.name: counts[member.name] for member in self.members}

    @cached_property
    def repeats(self) -> dict[str, int]:
        """The number of hidden repeats of each rater."""
        counts = Counter(seat.rater for seat in self.seats if seat.repeat)
        return {member.name: counts[member.name] for member in self.members}

    @cached_property
    def teams(self) -> dict[str, tuple[str, ...]]:
        """The raters of each item, by name."""
        teams: dict[str, list[str]] = {}
        for seat in self.seats:
            if seat.reason is AssignmentReason.CORE:
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
                "seats": [[s.rater, s.position, s.item, s.repeat, s.gold] for s in self.seats],
            }
        )


def plan(
    items: Collection[Item],
    raters: Collection[Member],
    *,
    overlap: int,
    seed: int,
    taken: Collection[tuple[str, str]] = (),
    ineligible: Mapping[tuple[str, str], str] | None = None,
    repeats: float = 0.0,
) -> Plan:
    """Assign every item to `overlap` distinct raters.

    Where both panels are present each item gets one rater of each at least. Loads differ by at most one, as far as
    that rule, limits and bars allow; where the panel rule forbids it they differ by at most one within a panel. Raters
    are connected through common items where there are enough seats for it. Pairs of raters meet as evenly as can be,
    and so does each rater meet the metrics and families. Orders are random, with items of one base scenario apart.

    Args:
        items, raters: in any order; names must differ.
        overlap: raters an item.
        seed: of the only generator.
        taken: (item, rater) pairs that already are assignments elsewhere and are not made again.
        ineligible: (item, rater) pairs that may not be, with the reason: what is true of such raters ("have ...").
        repeats: the share of each rater's items that are shown to them again, unmarked.

    Raises:
        PlanRefused: no plan can have these numbers; the text says what would be right.
    """
    ordered = sorted(items, key=lambda item: item.key)
    members = sorted(raters, key=lambda member: member.name)
    names, panels = [member.name for member in members], [member.panel for member in members]
    must_meet = must_meet_panels(members)
    _require_names(ordered, members)
    _require_enough(ordered, members, overlap, must_meet)
    _require_share(repeats)
    reasons = dict(ineligible or {}) | dict.fromkeys(taken, EARLIER_SET)
    barred = _number_pairs(ordered, members, reasons)
    _require_free_raters(ordered, members, overlap, barred, reasons)

    generator = np.random.default_rng(seed)
    teams = Teams(
        overlap=overlap,
        panels=[-1 if panel is None else PANELS.index(panel) for panel in panels],
        must_meet=[PANELS.index(panel) for panel in must_meet],
        traits=number_traits(ordered),
        barred=barred,
        caps=[NO_LIMIT if member.max_items is None else member.max_items for member in members],
    )
    balance(teams, generator=generator)
    _require_caps_kept(teams, members)
    seats = []
    for number, member in enumerate(members):
        own = [item for item, team in zip(ordered, teams.teams, strict=True) if number in team]
        scenarios = [item.scenario for item in own]
        order = order_items(scenarios, generator)
        shown = insert_repeats(order, scenarios, share=repeats, generator=generator)
        for position, (item, repeat) in enumerate(shown, start=1):
            seats.append(Seat(rater=member.name, position=position, item=own[item].key, repeat=repeat))
    return Plan(
        overlap=overlap,
        seed=seed,
        members=tuple(members),
        seats=tuple(seats),
        option_orders=dict(zip(names, draw_option_orders(panels, generator), strict=True)),
        notes=(
            *notes_on_teams(teams, names, panels, must_meet),
            *notes_on_repeats(dict(zip(names, teams.loads, strict=True)), repeats),
        ),
    )


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
    short = [panel for panel in must_meet_panels(members) if panel not in present]
    return f"no {short[0]} rater" if short else ""


def must_meet_panels(members: Collection[Member]) -> list[Panel]:
    present = {member.panel for member in members}
    return list(PANELS) if present.issuperset(PANELS) else []


def _require_free_raters(
    items: Sequence[Item],
    members: Sequence[Member],
    overlap: int,
    barred: set[tuple[int, int]],
    reasons: Mapping[tuple[str, str], str],
) -> None:
    for number in sorted({item for item, _ in barred}):
        item = items[number]
        free = [member for index, member in enumerate(members) if (number, index) not in barred]
        if lack := shortage(free, members, overlap=overlap):
            others = {m.name: reasons[item.key, m.name] for m in members if (item.key, m.name) in reasons}
            raise PlanRefused(
                f"item {item.key} is free for {lack}, since {list_reasons(others)} (metric {item.metric}); "
                "name raters who may have it, or lower the overlap"
            )


def list_reasons(of_rater: Mapping[str, str]) -> str:
    """Who may not have an item, and why.

    >>> list_reasons({"Ada": EARLIER_SET, "Bo": "have a conflict of interest", "Cy": EARLIER_SET})
    'these have it in an earlier set: Ada, Cy; these have a conflict of interest: Bo'
    """
    by_reason: dict[str, list[str]] = {}
    for rater, reason in of_rater.items():
        by_reason.setdefault(reason, []).append(rater)
    return "; ".join(f"these {reason}: {', '.join(raters)}" for reason, raters in by_reason.items())


def _require_share(repeats: float) -> None:
    if not 0 <= repeats <= 0.5:
        raise PlanRefused(f"repeats {repeats:g} is no share of a rater's items; give one from 0 to 0.5")


def _require_caps_kept(teams: Teams, members: Sequence[Member]) -> None:
    over = sum(max(0, load - cap) for load, cap in zip(teams.loads, teams.caps, strict=True))
    if over:
        full = [m.name for m, load, cap in zip(members, teams.loads, teams.caps, strict=True) if load > cap]
        raise PlanRefused(
            f"{', '.join(full)} would have {over} items more than they may, and nobody else is free for those: "
            f"{len(teams.teams)} items with overlap {teams.overlap} need {sum(teams.loads)} seats; raise the limits, "
            "name more raters, or take fewer items"
        )


def _count(n: int, singular: str, plural: str) -> str:
    return f"{singular if n == 1 else plural} {n}"


def _number_pairs(
    items: Sequence[Item], members: Sequence[Member], pairs: Collection[tuple[str, str]]
) -> set[tuple[int, int]]:
    item_of = {item.key: number for number, item in enumerate(items)}
    rater_of = {member.name: number for number, member in enumerate(members)}
    return {
        (item_of[item], rater_of[rater]) for item, rater in pairs if item in item_of and rater in rater_of
    }


def number_traits(items: Sequence[Item]) -> list[tuple[int, ...]]:
    """The metric and the family of each item, with one numbering for both."""
    names = sorted({("metric", item.metric) for item in items} | {("family", item.family) for item in items})
    number = {name: index for index, name in enumerate(names)}
    return [(number["metric", item.metric], number["family", item.family]) for item in items]


def _numbered(teams: Collection[Sequence[str]], names: Sequence[str]) -> list[list[int]]:
    number = {name: index for index, name in enumerate(names)}
    return [[number[name] for name in team] for team in teams]
