"""What resampling rests on: draws are multinomial, kinds of items lose nothing, and references alike are one computation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from validation.item_kinds import kinds_of_items
from validation.item_sums import alpha_sums, coefficients_of
from validation.judge_accuracy import judge_accuracy, some_rates
from validation.mapping import Policy, admissible_policies, reference
from validation.pooling import settled
from validation.rater_tables import alpha_by_rater, alpha_of_all
from validation.ratings import MISSING, Ratings
from validation.ratios import open_ratio, ratio, ratios_of_groups
from validation.strata import stratified_weights, times_drawn


def test_draws_with_replacement_have_the_moments_of_a_multinomial() -> None:
    drawn = times_drawn(5, 200_000, np.random.default_rng(0))
    assert (drawn.sum(axis=0) == 5).all()
    assert drawn.mean(axis=1) == pytest.approx(np.ones(5), abs=0.01)
    assert np.cov(drawn) == pytest.approx(np.eye(5) - 1 / 5, abs=0.01)


def test_the_same_seed_draws_the_same_and_every_resample_is_whole() -> None:
    strata = np.zeros(3000, dtype=np.int64)
    weights = stratified_weights(strata, resamples=200, seed=4)
    assert (weights == stratified_weights(strata, resamples=200, seed=4)).all()
    assert (weights.sum(axis=0) == 3000).all()


counts = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=0, max_size=12)


@settings(max_examples=60, deadline=None)
@given(counts)
def test_items_are_what_their_kinds_say(rows: list[list[int]]) -> None:
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    kinds, kind = kinds_of_items(table)
    assert (kinds[kind] == table).all()
    assert len(kinds) == len({tuple(row) for row in rows})


def test_kinds_of_very_many_categories_are_told_apart() -> None:
    table = np.zeros((3, 40), dtype=np.int64)
    table[0, 0], table[1, 39], table[2, 39] = 9, 9, 9
    kinds, kind = kinds_of_items(table)
    assert len(kinds) == 2
    assert (kinds[kind] == table).all()


cells = st.lists(st.lists(st.sampled_from([0, 1, MISSING]), min_size=4, max_size=4), min_size=1, max_size=9)


@settings(max_examples=60, deadline=None)
@given(cells, st.data())
def test_tables_by_rater_equal_tables_made_one_by_one(rows: list[list[int]], data: st.DataObject) -> None:
    codes = np.array(rows, dtype=np.int64)
    instead = np.array(data.draw(st.lists(st.sampled_from([0, 1]), min_size=len(rows), max_size=len(rows))))
    ratings = Ratings(codes, (0, 1), tuple(range(len(rows))), tuple("abcd"))
    assert coefficients_of(alpha_of_all(ratings.counts)) == pytest.approx(_alpha(codes), nan_ok=True)
    without, replaced = [], []
    for rater in range(4):
        one, other = codes.copy(), codes.copy()
        one[:, rater] = MISSING
        there = codes[:, rater] != MISSING
        other[there, rater] = instead[there]
        without += _alpha(one).tolist()
        replaced += _alpha(other).tolist()
    assert coefficients_of(alpha_by_rater(ratings.counts, codes)) == pytest.approx(without, nan_ok=True)
    assert coefficients_of(alpha_by_rater(ratings.counts, codes, instead=instead)) == pytest.approx(
        replaced, nan_ok=True
    )


def _alpha(codes: np.ndarray) -> np.ndarray:
    by_category = np.stack([(codes == k).sum(axis=1) for k in (0, 1)], axis=1)
    return coefficients_of(alpha_sums(by_category, level="nominal"))


def test_a_reading_gives_an_item_what_it_gives_it_alone() -> None:
    generator = np.random.default_rng(2)
    codes = generator.integers(-1, 3, size=(60, 4))
    ratings = Ratings(codes, ("fail", "borderline", "pass"), tuple(range(60)), tuple("abcd"))
    adjudicated = generator.choice([0.0, 1.0, np.nan], 60)
    for policy in (*admissible_policies().policies, Policy(tie="adjudicated")):
        whole = reference(ratings, policy, adjudicated=adjudicated)
        alone = [
            reference(ratings.select(np.arange(60) == k), policy, adjudicated=adjudicated[[k]])[0]
            for k in range(60)
        ]
        assert whole.tolist() == pytest.approx(alone, nan_ok=True), policy.name


def test_references_that_are_alike_have_the_figures_of_each() -> None:
    generator = np.random.default_rng(6)
    truth, judge, clusters = generator.integers(0, 2, 90), generator.integers(0, 2, 90), np.arange(90) % 12
    turned = 1 - truth
    found = some_rates([truth, turned, truth], judge, ["accuracy", "kappa"], clusters=clusters, seed=3)
    assert found[0] == found[2]
    for reference_, (_, rates) in zip((truth, turned), found, strict=False):
        whole = judge_accuracy(reference_, judge, clusters=clusters, seed=3)
        assert rates == {"accuracy": whole.accuracy, "kappa": whole.kappa}


def test_ratios_drawn_together_are_those_drawn_alone() -> None:
    generator = np.random.default_rng(8)
    clusters, strata = np.arange(120) % 24, (np.arange(120) % 24) // 12
    tops = [generator.integers(0, 2, 120).astype(float) for _ in range(3)]
    together = settled([open_ratio(top, clusters=clusters, strata=strata, seed=5) for top in tops])
    assert together == [ratio(top, clusters=clusters, strata=strata, seed=5) for top in tops]


def test_ratios_of_groups_are_those_of_each_group() -> None:
    generator = np.random.default_rng(9)
    top, bottom = generator.random(50), 1 + generator.random(50)
    groups = generator.integers(0, 6, 50)
    found = ratios_of_groups(top * bottom, bottom, groups, policy="p")
    assert [name for name, _ in found] == list(dict.fromkeys(groups.tolist()))
    for name, one in found:
        own = groups == name
        alone = ratio((top * bottom)[own], bottom[own], policy="p")
        assert (one.n, one.policy, one.method) == (alone.n, "p", alone.method)
        assert (one.value, one.low, one.high) == pytest.approx((alone.value, alone.low, alone.high))
