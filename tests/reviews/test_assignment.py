import json
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impactbench.domain import Panel
from reviews.assignment import Item, Member, Plan, PlanRefused, plan
from validation.balanced_design import balanced_design


def items_of(n: int, *, metrics: int = 18, families: int = 3) -> list[Item]:
    """Conversations in which metric, family and base scenario vary as in a study."""
    return [
        Item(
            key=f"run/{i:05}",
            metric=f"m{i % metrics}",
            family=f"f{i // metrics % families}",
            scenario=f"m{i % metrics}/s{i // metrics % 6 // 2}",
        )
        for i in range(n)
    ]


def members_of(internal: int, external: int = 0, neither: int = 0) -> list[Member]:
    panels = [Panel.INTERNAL] * internal + [Panel.EXTERNAL] * external + [None] * neither
    return [Member(name=f"{panel or 'n'}-{i:02}", panel=panel) for i, panel in enumerate(panels)]


def spread(numbers: list[int]) -> int:
    return max(numbers) - min(numbers)


def bytes_of(made: Plan) -> bytes:
    seats = [[seat.rater, seat.position, seat.item] for seat in made.seats]
    return json.dumps([seats, made.option_orders, made.notes, made.plan_hash]).encode()


def require_invariants(made: Plan, items: list[Item], members: list[Member], overlap: int) -> None:
    panel_of = {member.name: member.panel for member in members}
    both = {Panel.INTERNAL, Panel.EXTERNAL} <= set(panel_of.values())
    assert set(made.teams) == {item.key for item in items}
    for team in made.teams.values():
        assert len(team) == len(set(team)) == overlap
        assert not both or {Panel.INTERNAL, Panel.EXTERNAL} <= {panel_of[name] for name in team}
    for name, load in made.loads.items():
        places = [seat.position for seat in made.seats if seat.rater == name]
        assert places == list(range(1, load + 1))
    for panel in set(panel_of.values()):
        assert spread([load for name, load in made.loads.items() if panel_of[name] is panel]) <= 1
    if spread(list(made.loads.values())) > 1:
        assert both
        assert any("loads cannot be equal across panels" in note for note in made.notes)


@st.composite
def designs(draw: st.DrawFn) -> tuple[int, list[Member], int, int]:
    members = members_of(draw(st.integers(0, 6)), draw(st.integers(0, 6)), draw(st.integers(0, 2)))
    if not members:
        members = members_of(1)
    panels = {member.panel for member in members}
    fewest = 2 if {Panel.INTERNAL, Panel.EXTERNAL} <= panels else 1
    overlap = draw(st.integers(fewest, len(members)))
    return draw(st.integers(1, 40)), members, overlap, draw(st.integers(0, 1000))


@given(designs())
@settings(max_examples=40, deadline=None)
def test_every_plan_keeps_the_rules(design: tuple[int, list[Member], int, int]) -> None:
    n, members, overlap, seed = design
    items = items_of(n, metrics=4)
    made = plan(items, members, overlap=overlap, seed=seed)
    require_invariants(made, items, members, overlap)


@given(designs())
@settings(max_examples=40, deadline=None)
def test_raters_are_connected_wherever_there_are_seats_for_it(
    design: tuple[int, list[Member], int, int],
) -> None:
    n, members, overlap, seed = design
    made = plan(items_of(n, metrics=4), members, overlap=overlap, seed=seed)
    busy = sum(load > 0 for load in made.loads.values())
    if overlap >= 2 and n * (overlap - 1) >= busy - 1:
        assert made.parts == 1
    assert (made.parts > 1) == any("cannot be compared" in note for note in made.notes) or overlap == 1


@given(designs())
@settings(max_examples=40, deadline=None)
def test_loads_are_equal_across_panels_whenever_the_panel_rule_allows(
    design: tuple[int, list[Member], int, int],
) -> None:
    n, members, overlap, seed = design
    made = plan(items_of(n, metrics=4), members, overlap=overlap, seed=seed)
    sizes = Counter(member.panel for member in members)
    lowest = n * overlap // len(members)
    if all(sizes[panel] * lowest >= n for panel in (Panel.INTERNAL, Panel.EXTERNAL)):
        assert spread(list(made.loads.values())) <= 1


@given(designs(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_same_seed_gives_the_same_bytes_in_whatever_order_things_come(
    design: tuple[int, list[Member], int, int], order: object
) -> None:
    n, members, overlap, seed = design
    items = items_of(n, metrics=4)
    first = plan(items, members, overlap=overlap, seed=seed)
    order.shuffle(items)  # type: ignore[attr-defined]
    order.shuffle(members)  # type: ignore[attr-defined]
    assert bytes_of(plan(items, members, overlap=overlap, seed=seed)) == bytes_of(first)


@given(designs())
@settings(max_examples=40, deadline=None)
def test_a_base_scenario_follows_itself_only_where_there_is_no_other_way(
    design: tuple[int, list[Member], int, int],
) -> None:
    n, members, overlap, seed = design
    items = items_of(n, metrics=2)
    scenario_of = {item.key: item.scenario for item in items}
    made = plan(items, members, overlap=overlap, seed=seed)
    for name, load in made.loads.items():
        order = [scenario_of[seat.item] for seat in made.seats if seat.rater == name]
        most = max(Counter(order).values(), default=0)
        repeats = sum(one == other for one, other in pairwise(order))
        assert repeats == max(0, 2 * most - 1 - load)


@given(designs(), st.data())
@settings(max_examples=40, deadline=None)
def test_no_rater_is_given_an_item_again(
    design: tuple[int, list[Member], int, int], data: st.DataObject
) -> None:
    n, members, overlap, seed = design
    items = items_of(n, metrics=4)
    pairs = st.tuples(
        st.sampled_from([item.key for item in items]), st.sampled_from([m.name for m in members])
    )
    taken = data.draw(st.sets(pairs, max_size=n))
    try:
        made = plan(items, members, overlap=overlap, seed=seed, taken=taken)
    except PlanRefused as refusal:
        assert "have it in an earlier set" in str(refusal)  # noqa: PT017
        return
    assert not taken & {(seat.item, seat.rater) for seat in made.seats}
    assert all(len(set(team)) == overlap for team in made.teams.values())


@pytest.mark.parametrize(
    ("n", "members", "overlap", "seed", "loads", "pairs_met"),
    [
        (162, members_of(19), 2, 7, {17, 18}, 144),
        (162, members_of(19), 3, 7, {25, 26}, 171),
        (100, members_of(7), 3, 11, {42, 43}, 21),
        (48, members_of(3, 3), 3, 7, {24}, 15),
        (18, members_of(2, 2), 3, 7, {13, 14}, 6),
    ],
)
def test_designs_of_real_size_are_balanced_and_connected(
    n: int, members: list[Member], overlap: int, seed: int, loads: set[int], pairs_met: int
) -> None:
    made = plan(items_of(n), members, overlap=overlap, seed=seed)
    assert set(made.loads.values()) == loads
    assert made.parts == 1
    assert sum(count > 0 for count in made.pairs.values()) >= pairs_met
    panel_of = {member.name: member.panel for member in members}
    within: dict[bool, list[int]] = {}
    for (one, other), count in made.pairs.items():
        within.setdefault(panel_of[one] is panel_of[other], []).append(count)
    assert all(spread(counts) <= 2 for counts in within.values())
    assert made.notes == ()


def test_each_rater_meets_every_metric_and_family_about_equally() -> None:
    items = items_of(162)
    made = plan(items, members_of(10, 9), overlap=3, seed=7)
    of_item = {item.key: item for item in items}
    for trait in ("metric", "family"):
        counts = Counter((getattr(of_item[seat.item], trait), seat.rater) for seat in made.seats)
        for value in {getattr(item, trait) for item in items}:
            assert spread([counts[value, rater] for rater in made.loads]) <= 3


def test_five_internal_and_one_external_rater_say_that_the_panel_rule_wins() -> None:
    made = plan(items_of(48), members_of(5, 1), overlap=3, seed=7)
    assert made.loads["external-05"] == 48
    assert made.notes == (
        "Each item needs an internal and an external rater, so loads cannot be equal across panels: 19 or 20 for each "
        "internal rater and 48 for each external rater; within a panel they differ by at most one.",
    )


def test_options_are_reversed_for_half_of_the_raters_of_each_panel() -> None:
    made = plan(items_of(48), members_of(4, 4), overlap=3, seed=7)
    orders = Counter((name.split("-")[0], order) for name, order in made.option_orders.items())
    assert set(orders.values()) == {2}
    assert {order for _, order in orders} == {
        ("pass", "borderline", "fail"),
        ("fail", "borderline", "pass"),
    }


def test_another_seed_gives_another_plan() -> None:
    hashes = {plan(items_of(20), members_of(4), overlap=2, seed=seed).plan_hash for seed in range(5)}
    assert len(hashes) == 5


def test_more_raters_than_seats_leaves_some_without_work_and_says_so() -> None:
    made = plan(items_of(1), members_of(4), overlap=2, seed=1)
    assert sorted(made.loads.values()) == [0, 0, 1, 1]
    assert "2 seats for 4 raters" in made.notes[0]


def test_overlap_one_says_that_no_agreement_can_come_of_it() -> None:
    assert "agreement cannot be computed" in plan(items_of(6), members_of(2), overlap=1, seed=1).notes[0]


@pytest.mark.parametrize(
    ("n", "members", "overlap", "sentence"),
    [
        (
            4,
            members_of(2),
            3,
            "overlap 3 needs 3 raters and there are 2; name more raters or give an overlap of",
        ),
        (4, members_of(1), 2, "overlap 2 needs 2 raters and there is 1"),
        (4, [], 1, "there is no rater to assign to"),
        (0, members_of(2), 1, "there is no item to assign"),
        (4, members_of(2), 0, "overlap 0 is no number of raters"),
        (4, members_of(1, 1), 1, "overlap 1 cannot give every item an internal and an external rater"),
        (4, members_of(2) * 2, 1, "rater 'internal-00' is named twice"),
    ],
)
def test_the_impossible_is_refused_with_what_would_be_right(
    n: int, members: list[Member], overlap: int, sentence: str
) -> None:
    with pytest.raises(PlanRefused, match=sentence):
        plan(items_of(n), members, overlap=overlap, seed=1)


def test_an_item_that_everybody_has_is_refused_by_name() -> None:
    taken = {("run/00001", "internal-00"), ("run/00001", "internal-01")}
    with pytest.raises(PlanRefused, match="run/00001 is free for 1 of the 3 raters"):
        plan(items_of(3), members_of(3), overlap=2, seed=1, taken=taken)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("overlap", [2, 3])
def test_the_study_of_162_items_and_19_raters_keeps_every_invariant(overlap: int, seed: int) -> None:
    made = plan(items_of(162), members_of(19), overlap=overlap, seed=seed)
    assert spread(list(made.loads.values())) <= 1
    assert made.parts == 1
    assert spread(list(made.pairs.values())) <= 2


@pytest.mark.parametrize(
    ("raters", "overlap", "items", "together"), [(7, 3, 7, 1), (19, 3, 57, 1), (13, 4, 13, 1), (7, 3, 14, 2)]
)
def test_every_pair_meets_equally_often_where_the_numbers_allow_it(
    raters: int, overlap: int, items: int, together: int
) -> None:
    made = plan(items_of(items), members_of(raters), overlap=overlap, seed=5)
    assert set(made.pairs.values()) == {together}
    assert len(set(made.loads.values())) == 1
    number = {name: place for place, name in enumerate(made.loads)}
    teams = [[number[name] for name in team] for team in made.teams.values()]
    design = balanced_design(teams, raters=raters)
    assert design is not None
    assert (design.items, design.items_per_pair) == (items, together)


def test_pairs_that_cannot_meet_evenly_are_said_to() -> None:
    bound = {(item.key, "internal-00"): "have a conflict of interest" for item in items_of(40)[6:]}
    made = plan(items_of(40), members_of(5), overlap=3, seed=1, ineligible=bound)
    assert spread(list(made.pairs.values())) > 2
    assert any("Pairs of raters meet unevenly" in note for note in made.notes)


def test_a_full_overlap_lets_all_pairs_meet_as_often() -> None:
    made = plan(items_of(20), members_of(4), overlap=4, seed=1)
    assert set(made.pairs.values()) == {20}
    assert made.notes == ()


@pytest.mark.parametrize(("n", "members"), [(48, members_of(3, 3)), (5000, members_of(20, 20))])
def test_a_plan_of_real_size_is_level_and_in_one_piece(n: int, members: list[Member]) -> None:
    made = plan(items_of(n, metrics=200), members, overlap=3, seed=7)
    assert spread(list(made.loads.values())) <= 1
    assert made.parts == 1
