"""Teams for items: greedy choice, then repairs that keep what is already right.

Items and raters are numbers here; `reviews.assignment` gives them their names. What must hold: a team has the asked
number of distinct raters, none of them barred from the item, and where two panels must meet, one of each. What is made
as even as it can be, in this order: loads, then pairs of raters and each rater's share of every metric and family.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np

from reviews.design.block_designs import cyclic_design

_PROPOSALS_PER_SEAT = 60
_MOST_PROPOSALS = 200_000
_FEWEST_PROPOSALS = 5_000
_PAIR_WEIGHTS = (1, 4, 16, 64)
MOST_PAIR_SPREAD = 2
"""How unevenly pairs of raters may meet without a word about it."""
NO_LIMIT = 10**9


@dataclass(kw_only=True)
class Teams:
    """The teams of all items while they are being made, with the counts that the repairs look at."""

    overlap: int
    panels: Sequence[int]
    """(raters,): the panel of each rater, or -1."""
    must_meet: Sequence[int]
    """The panels that every team must hold."""
    traits: Sequence[tuple[int, ...]]
    """(items,): what each rater should see evenly, such as the item's metric and family, numbered across all."""
    barred: set[tuple[int, int]]
    """(item, rater) pairs that may not be."""
    caps: Sequence[int] = ()
    """(raters,): the most items of each rater; empty where there is no limit."""
    begun: Sequence[Sequence[int]] = ()
    """(items,): raters who have the item already and keep it; empty where nobody has."""
    sizes: Sequence[int] = ()
    """(items,): raters that each team is to have, where it is not `overlap` for all."""
    teams: list[list[int]] = field(init=False)
    loads: list[int] = field(init=False)
    pairs: list[list[int]] = field(init=False)
    seen: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        raters = len(self.panels)
        self.teams = [[] for _ in self.traits]
        self.loads = [0] * raters
        self.pairs = [[0] * raters for _ in range(raters)]
        width = 1 + max((trait for traits in self.traits for trait in traits), default=0)
        self.seen = [[0] * width for _ in range(raters)]
        self.caps = self.caps or [NO_LIMIT] * raters
        self.sizes = self.sizes or [self.overlap] * len(self.traits)
        for item, team in enumerate(self.begun):
            for rater in team:
                self.add(item, rater)
        self.begun = [list(team) for team in self.begun] or [[] for _ in self.traits]

    def may_hold(self, item: int, team: Iterable[int]) -> bool:
        """Whether the panels that must meet do so in this team."""
        present = {self.panels[rater] for rater in team}
        return all(panel in present for panel in self.must_meet)

    def may_replace(self, item: int, leaver: int, joiner: int) -> bool:
        """Whether a rater of the item's team may give their seat to another."""
        team = self.teams[item]
        if joiner in team or (item, joiner) in self.barred or leaver in self.begun[item]:
            return False
        if self.panels[leaver] == self.panels[joiner] or not self.must_meet:
            return True
        return self.may_hold(item, [joiner, *(rater for rater in team if rater != leaver)])

    def add(self, item: int, rater: int, *, change: int = 1) -> None:
        """Seat a rater who is not in the team, or with change -1 take one out."""
        team = self.teams[item]
        if change < 0:
            team.remove(rater)
        for other in team:
            self.pairs[rater][other] += change
            self.pairs[other][rater] += change
        if change > 0:
            team.append(rater)
        self.loads[rater] += change
        for trait in self.traits[item]:
            self.seen[rater][trait] += change

    def replace(self, item: int, leaver: int, joiner: int) -> None:
        self.add(item, leaver, change=-1)
        self.add(item, joiner)


def balance(teams: Teams, *, generator: np.random.Generator) -> None:
    """Fill all teams, then repair loads, evenness and connection.

    Pairs count as much as shares of metrics and families, and more where they stay uneven otherwise. Where nothing
    stands against it and the numbers allow a design in which all pairs meet equally often, that design is taken.
    """
    if seat_by_design(teams, generator=generator):
        return
    fill(teams, generator=generator)
    level_loads(teams)
    for pair_weight in _PAIR_WEIGHTS:
        even_out(teams, generator=generator, pair_weight=pair_weight)
        if pair_spread(teams) <= MOST_PAIR_SPREAD:
            break
    connect(teams)


def seat_by_design(teams: Teams, *, generator: np.random.Generator) -> bool:
    """Seat everybody by a design in which every pair meets equally often; False where there is none to take."""
    n_items, n_raters = len(teams.traits), len(teams.panels)
    hindered = teams.barred or teams.must_meet or any(teams.begun) or set(teams.sizes) != {teams.overlap}
    if hindered or min(teams.caps) < n_items * teams.overlap / n_raters:
        return False
    design = cyclic_design(n_raters, overlap=teams.overlap, items=n_items)
    if design is None:
        return False
    raters = generator.permutation(n_raters).tolist()
    for item, team in zip(generator.permutation(n_items).tolist(), design, strict=True):
        for rater in team:
            teams.add(item, raters[rater])
    return True


def fill(teams: Teams, *, generator: np.random.Generator) -> None:
    """Give each item, in random order, the raters with the least to do, then the least of this kind, then the
    fewest encounters with the team so far; what is still equal is decided by lot.
    """
    raters = range(len(teams.panels))
    lots = generator.random((len(teams.traits), len(teams.panels))).tolist()
    for item in generator.permutation(len(teams.traits)).tolist():
        team, lot = teams.teams[item], lots[item]
        free = {rater for rater in raters if (item, rater) not in teams.barred and rater not in team}
        for seats_left in range(teams.sizes[item] - len(team), 0, -1):
            absent = set(teams.must_meet) - {teams.panels[rater] for rater in team}
            missing = absent & {teams.panels[rater] for rater in free}
            pool = free if seats_left > len(missing) else {r for r in free if teams.panels[r] in missing}
            best = min(pool, key=_wait(teams, item, team, lot))
            teams.add(item, best)
            free.remove(best)


def _wait(
    teams: Teams, item: int, team: list[int], lot: list[float]
) -> Callable[[int], tuple[bool, int, int, int, float]]:
    traits = teams.traits[item]

    def key(rater: int) -> tuple[bool, int, int, int, float]:
        seen, met, load = teams.seen[rater], teams.pairs[rater], teams.loads[rater]
        full = load >= teams.caps[rater]
        return full, load, sum([seen[t] for t in traits]), sum([met[o] for o in team]), lot[rater]

    return key


def level_loads(teams: Teams) -> None:
    """Pass seats on, through others where need be, until nobody above their limit can be relieved by somebody below
    theirs, and nobody at all by somebody with two items less.
    """
    while chain := _find_relief(teams):
        for item, leaver, joiner in chain:
            teams.replace(item, leaver, joiner)


def _find_relief(teams: Teams) -> list[tuple[int, int, int]]:
    """Seats to pass on so that a load above its limit falls, or any load, and one at least two below it rises;
    last link first.

    Whoever the more loaded can reach in vain, the less loaded can only reach in vain: nobody is visited twice.
    """
    items_of: list[list[int]] = [[] for _ in teams.loads]
    for item, team in enumerate(teams.teams):
        for rater in team:
            items_of[rater].append(item)
    loads, caps = teams.loads, teams.caps
    raters = sorted(range(len(loads)), key=lambda rater: (loads[rater] <= caps[rater], -loads[rater]))
    least = min((load for load, cap in zip(loads, caps, strict=True) if load < cap), default=NO_LIMIT)
    came: dict[int, tuple[int, int, int] | None] = {}
    for start in raters:
        most = NO_LIMIT if loads[start] > caps[start] else loads[start] - 2
        if least > most:
            break
        if start in came:
            continue
        came[start] = None
        queue = [start]
        for leaver in queue:
            for joiner in raters:
                if joiner in came:
                    continue
                passed_on = next((i for i in items_of[leaver] if teams.may_replace(i, leaver, joiner)), None)
                if passed_on is None:
                    continue
                came[joiner] = (passed_on, leaver, joiner)
                queue.append(joiner)
                if loads[joiner] < caps[joiner] and loads[joiner] <= most:
                    chain = _trace(came, joiner)
                    if len({link[0] for link in chain}) == len(chain):
                        return chain
    return []


def _trace(came: dict[int, tuple[int, int, int] | None], end: int) -> list[tuple[int, int, int]]:
    chain = []
    link = came[end]
    while link is not None:
        chain.append(link)
        link = came[link[1]]
    return chain


def pair_spread(teams: Teams) -> int:
    """How unevenly pairs meet at most, among pairs of the same two panels."""
    counts: dict[tuple[int, int], list[int]] = {}
    for one, other in combinations(range(len(teams.panels)), 2):
        low, high = sorted((teams.panels[one], teams.panels[other]))
        counts.setdefault((low, high), []).append(teams.pairs[one][other])
    return max((max(meetings) - min(meetings) for meetings in counts.values()), default=0)


def even_out(teams: Teams, *, generator: np.random.Generator, pair_weight: int = 1) -> None:
    """Exchange seats between two items wherever pairs or shares do not become less even; loads stay.

    Evenness is the sum of squared counts, which is least when the counts are equal.
    """
    n_items, k = len(teams.teams), max(teams.sizes, default=0)
    if n_items < 2 or k >= len(teams.panels):
        return
    proposals = min(max(_PROPOSALS_PER_SEAT * n_items * k, _FEWEST_PROPOSALS), _MOST_PROPOSALS)
    items = generator.integers(n_items, size=(proposals, 2)).tolist()
    seats = generator.integers(k, size=(proposals, 2)).tolist()
    for (first, second), (a, b) in zip(items, seats, strict=True):
        if first == second or a >= len(teams.teams[first]) or b >= len(teams.teams[second]):
            continue
        leaver, joiner = teams.teams[first][a], teams.teams[second][b]
        if leaver == joiner:
            continue
        if not teams.may_replace(first, leaver, joiner) or not teams.may_replace(second, joiner, leaver):
            continue
        if _exchange_cost(teams, first, second, leaver, joiner, pair_weight) <= 0:
            teams.replace(first, leaver, joiner)
            teams.replace(second, joiner, leaver)


def _exchange_cost(teams: Teams, first: int, second: int, leaver: int, joiner: int, pair_weight: int) -> int:
    """Half the change in the sums of squares when `leaver` of the first item and `joiner` of the second change seats."""
    met_l, met_j = teams.pairs[leaver], teams.pairs[joiner]
    change: dict[int, int] = {}
    for other in teams.teams[first]:
        if other != leaver:
            change[other] = change.get(other, 0) - 1
    for other in teams.teams[second]:
        if other != joiner:
            change[other] = change.get(other, 0) + 1
    cost = pair_weight * sum([d * (met_l[o] - met_j[o]) + d * d for o, d in change.items()])
    seen_l, seen_j = teams.seen[leaver], teams.seen[joiner]
    for lost, won in zip(teams.traits[first], teams.traits[second], strict=True):
        if lost != won:
            cost += seen_l[won] - seen_l[lost] + seen_j[lost] - seen_j[won] + 2
    return cost


def connect(teams: Teams) -> None:
    """Join the parts of the rater-item graph by exchanging a seat that a part can spare for one of another part."""
    parts = components(teams.teams, len(teams.panels))
    while len(parts) > 1 and max(teams.sizes) > 1:
        exchange = _find_bridge(teams, parts)
        if exchange is None:
            return
        first, second, leaver, joiner = exchange
        teams.replace(first, leaver, joiner)
        teams.replace(second, joiner, leaver)
        parts = components(teams.teams, len(teams.panels))


def _find_bridge(teams: Teams, parts: list[set[int]]) -> tuple[int, int, int, int] | None:
    of_rater = {rater: number for number, part in enumerate(parts) for rater in part}
    for first, team in enumerate(teams.teams):
        for leaver in team:
            if not _can_spare(teams, first, leaver, parts[of_rater[leaver]]):
                continue
            for second, other_team in enumerate(teams.teams):
                for joiner in other_team:
                    if (
                        of_rater[joiner] != of_rater[leaver]
                        and teams.may_replace(first, leaver, joiner)
                        and teams.may_replace(second, joiner, leaver)
                    ):
                        return first, second, leaver, joiner
    return None


def _can_spare(teams: Teams, item: int, rater: int, part: set[int]) -> bool:
    """Whether the rater's part of the graph stays whole without this seat."""
    without = [
        [other for other in team if (number, other) != (item, rater)]
        for number, team in enumerate(teams.teams)
        if part.intersection(team)
    ]
    pieces = components(without, len(teams.panels))
    return len(pieces) == 1 and pieces[0] == part


def components(teams: Sequence[Sequence[int]], n_raters: int) -> list[set[int]]:
    """The connected parts of the rater-item graph, each as its raters; raters without an item are in none.

    >>> components([[0, 1], [1, 2], [3, 4]], 6)
    [{0, 1, 2}, {3, 4}]
    """
    parent = list(range(n_raters))

    def root(rater: int) -> int:
        while parent[rater] != rater:
            parent[rater] = parent[parent[rater]]
            rater = parent[rater]
        return rater

    for team in teams:
        for one, other in pairwise(team):
            parent[root(one)] = root(other)
    parts: dict[int, set[int]] = {}
    for rater in sorted({rater for team in teams for rater in team}):
        parts.setdefault(root(rater), set()).add(rater)
    return list(parts.values())


def pair_counts(teams: Sequence[Sequence[int]], n_raters: int) -> dict[tuple[int, int], int]:
    """(rater, rater) -> the items that both have; pairs that never meet count 0."""
    counts = dict.fromkeys(combinations(range(n_raters), 2), 0)
    for team in teams:
        for pair in combinations(sorted(team), 2):
            counts[pair] += 1
    return counts
