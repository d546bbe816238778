import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from tests.validation.test_mapping import labels
from validation.mapping import PRIMARY, Policy, admissible_policies, reference
from validation.multiverse import STATISTICS, multiverse
from validation.policy_bounds import accuracy_bounds

VECTORS = shared_json("vectors.json")
BORDERLINE, SINGLES = ("pass", "fail", "drop", "half"), ("include", "exclude")
GRID = tuple(
    Policy(order=order, borderline=borderline, aggregation=aggregation, tie=tie, singles=singles)
    for order, aggregation, tie in (
        ("map_then_agg", "majority", "drop"),
        ("map_then_agg", "majority", "half"),
        ("map_then_agg", "unanimous", "half"),
        ("map_then_agg", "any_fail", "half"),
        ("map_then_agg", "any_pass", "half"),
        ("agg_then_map", "plurality", "drop"),
        ("agg_then_map", "plurality", "half"),
    )
    for borderline in BORDERLINE
    for singles in SINGLES
)


@pytest.fixture
def worked(shared):
    case = VECTORS["T1.1_map_items"]
    letters, judge = zip(*case["items"].values(), strict=True)
    return labels(*map("".join, letters)), np.array(judge, dtype=float), case


def policy_of(key: str) -> Policy:
    singles, borderline, order, rule, tie = key.split("|")
    return Policy(
        order={"map_agg": "map_then_agg", "agg_map": "agg_then_map"}[order],
        borderline=borderline,
        aggregation=rule,
        tie=tie,
        singles={"incl": "include", "excl": "exclude"}[singles],
    )


def test_the_worked_cells(worked):
    ratings, judge, case = worked
    for key, (n, accuracy, kappa) in case["expected"].items():
        (cell,) = multiverse(ratings, judge, policies=[policy_of(key)]).cells
        assert cell.n == n, key
        assert cell.accuracy.value == pytest.approx(accuracy, abs=1e-4), key
        assert cell.kappa.value == pytest.approx(kappa, abs=1e-4), key


def test_the_worked_grid(worked):
    ratings, judge, case = worked
    grid = multiverse(ratings, judge, policies=GRID, fewest_items=1)
    values = [cell.accuracy.value for cell in grid.cells if cell.accuracy.defined]
    expected = case["grid"]
    assert len(values) == expected["cells"]
    assert [min(values), np.median(values), max(values)] == pytest.approx(
        [expected["min_acc"], expected["median_acc"], expected["max_acc"]], abs=1e-9
    )
    assert sum(cell.n == 0 for cell in grid.cells) == 1


def test_the_worked_bound_holds_every_cell(worked):
    ratings, judge, case = worked
    found = accuracy_bounds(ratings, judge)
    assert [found.low.value, found.high.value] == pytest.approx(case["bounds_acc"], abs=1e-9)


def test_cells_that_do_not_count_say_why(worked):
    ratings, judge, _ = worked
    assert {cell.left_out_because for cell in multiverse(ratings, judge).cells} == {"fewer than 10 items"}
    grid = multiverse(ratings, judge, policies=GRID, fewest_items=1)
    assert [c.left_out_because for c in grid.cells if c.policy.trivially_unanimous] == [
        "a single reviewer makes an item unanimous"
    ] * 4
    one_class = multiverse(labels(*["P"] * 12), np.ones(12), policies=[PRIMARY])
    assert one_class.cells[0].left_out_because == "references of one class"


def many_items(n=60, seed=2):
    rng = np.random.default_rng(seed)
    items = ["".join(rng.choice(list("PBF"), size=rng.integers(1, 5), p=[0.5, 0.2, 0.3])) for _ in range(n)]
    return labels(*items), rng.integers(0, 2, n).astype(float)


def test_the_spread_is_made_of_real_cells_and_each_knows_its_policy():
    ratings, judge = many_items()
    grid = multiverse(ratings, judge)
    spread = grid.spread("accuracy")
    values = [cell.accuracy.value for cell in grid.curve("accuracy")]
    assert values == sorted(values)
    assert spread.cells == len(values) == len(grid.counting)
    assert (spread.minimum.value, spread.maximum.value) == (values[0], values[-1])
    assert spread.minimum.value <= spread.p10.value <= spread.median.value <= spread.p90.value
    assert spread.median.policy in {policy.name for policy in admissible_policies().policies}
    widths = [2 * cell.accuracy.half_width for cell in grid.counting]
    assert spread.vibration_ratio.value == pytest.approx((values[-1] - values[0]) / np.median(widths))


def test_eta_squared_is_one_for_the_only_decision_that_differs():
    ratings, judge = many_items()
    varied = [Policy(borderline=b) for b in ("pass", "fail", "drop")]
    decisions = multiverse(ratings, judge, policies=varied).spread("accuracy").decisions
    assert decisions["borderline"].value == pytest.approx(1)
    assert decisions["tie"].value == pytest.approx(0)
    assert multiverse(ratings, judge, policies=[PRIMARY]).spread("kappa").decisions[
        "tie"
    ].undefined_because == ("no_variation")


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_claim_is_robust_mixed_or_fails(statistic):
    ratings, judge = many_items()
    grid = multiverse(ratings, judge)
    spread = grid.spread(statistic)
    assert grid.claim(statistic, at_least=-1).verdict == "robust"
    assert grid.claim(statistic, at_least=1.01).verdict == "fails"
    mixed = grid.claim(statistic, at_least=spread.median.value)
    assert mixed.verdict == "mixed"
    assert 0 < mixed.holds_share.value < 1
    assert mixed.lower_end_share.value <= mixed.holds_share.value


def test_without_counting_cells_nothing_is_claimed():
    for grid in (multiverse(labels(), []), multiverse(labels("PP"), [1.0], policies=[])):
        assert grid.spread("kappa").median.undefined_because == "no_policies"
        assert grid.claim("kappa", at_least=0.6).verdict == "not estimable"
    assert accuracy_bounds(labels(), []).low.undefined_because == "no_items"
    assert accuracy_bounds(labels("P"), [np.nan]).low.undefined_because == "no_items"
    assert accuracy_bounds(labels("P"), [1], policies=[]).low.undefined_because == "no_items"


def test_missing_verdicts_are_left_out_of_every_cell():
    ratings, judge = many_items()
    judge[:5] = np.nan
    assert max(cell.n for cell in multiverse(ratings, judge).cells) == 55


def test_clusters_of_the_ratings_are_the_clusters_of_the_cells():
    import pandas as pd

    from validation.ratings import Ratings

    frame = pd.DataFrame(
        [
            {"unit": u, "rater": r, "value": ["pass", "fail", "borderline"][(u * r) % 3], "metric": u % 6}
            for u, r in itertools.product(range(36), range(1, 4))
        ]
    )
    ratings = Ratings.from_frame(frame, categories=["fail", "borderline", "pass"], cluster="metric")
    (cell,) = multiverse(ratings, np.arange(36) % 2, policies=[PRIMARY]).cells
    assert cell.accuracy.n_clusters == 6


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.text("PBF", min_size=1, max_size=4), st.booleans()), min_size=1, max_size=8))
def test_the_bound_of_items_that_all_policies_keep_contains_the_whole_grid(pairs):
    ratings, judge = labels(*(item for item, _ in pairs)), np.array([j for _, j in pairs], dtype=float)
    found = accuracy_bounds(ratings, judge)
    for policy in admissible_policies().policies:
        truth = reference(ratings, policy)
        if not np.isnan(truth).any():
            accuracy = (1 - np.abs(truth - judge)).mean()
            assert found.low.value - 1e-9 <= accuracy <= found.high.value + 1e-9
