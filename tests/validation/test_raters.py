"""Raters beside each other, the human ceiling and the latent-class labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.material import shared_json
from validation.agreement import krippendorff_alpha
from validation.dawid_skene import dawid_skene
from validation.human_ceiling import human_ceiling
from validation.rater_groups import agreement_between, rater_groups
from validation.raters import leave_one_rater_out, rater_components, severity
from validation.ratings import MISSING, Ratings
from validation.shuffles import shuffled_within_rows

VECTORS = shared_json("vectors.json") or {}
needs_vectors = pytest.mark.skipif(not VECTORS, reason="vectors.json is not there")
EMPTY = Ratings.from_table([], categories=["F", "B", "P"])
ONE_RATER = Ratings.from_table([["F"], ["P"]], categories=["F", "B", "P"])
NOBODY = Ratings.from_table([[None, None]], categories=["F", "B", "P"])


def nine_items() -> Ratings:
    return Ratings.from_table([list(word) for word in VECTORS["T8.3"]["U"]], categories=["F", "B", "P"])


def nine_items_binary() -> Ratings:
    words = [word.replace("B", "F") for word in VECTORS["T8.3"]["U"]]
    return Ratings.from_table([list(word) for word in words], categories=["F", "P"])


def verdicts() -> np.ndarray:
    return np.array([int(one == "P") for one in VECTORS["T8.3"]["judge"]])


@needs_vectors
def test_severity_is_the_mean_distance_from_the_other_raters() -> None:
    found = severity(nine_items(), seed=1, scores=[0, 1, 2])
    assert [one.lean.value for one in found] == pytest.approx(VECTORS["T8.3"]["severity"], abs=1e-3)
    assert all(abs(one.shrunken or 0) <= abs(one.lean.value or 0) for one in found)
    assert found[0].p is not None
    assert found[0].p < 0.05
    assert all((one.p_adjusted or 0) >= (one.p or 0) for one in found)


@needs_vectors
def test_the_p_of_a_lean_is_that_of_shuffling_the_raters_within_each_item() -> None:
    generator = np.random.default_rng(11)
    codes = generator.integers(0, 3, size=(40, 4))
    codes[generator.random(codes.shape) < 0.25] = MISSING
    codes[:, 0] = np.where(codes[:, 0] == 2, 1, codes[:, 0])
    ratings = Ratings(codes, ("F", "B", "P"), tuple(range(40)), tuple("abcd"))
    shared = codes[ratings.pairable]
    there, m = shared != MISSING, (shared != MISSING).sum(axis=1, keepdims=True)

    def leans(scores: np.ndarray) -> np.ndarray:
        apart = there * (m * scores - scores.sum(axis=-1, keepdims=True)) / (m - 1)
        return np.abs(apart.sum(axis=-2) / there.sum(axis=0))

    scores = np.where(there, shared / 2, 0.0)
    shuffled = leans(shuffled_within_rows(scores, there, permutations=8000, generator=generator))
    expected = (shuffled >= leans(scores) - 1e-9).mean(axis=0)
    found = [one.p for one in severity(ratings, seed=3, permutations=8000)]
    assert found == pytest.approx(expected.tolist(), abs=0.02)
    assert min(expected) < 0.1 < max(expected)


def test_judge_and_raters_answer_to_the_majority_of_the_others() -> None:
    found = human_ceiling(nine_items_binary(), judge=verdicts())
    expected = VECTORS["T8.3"]["LOO_human_judge(B->fail)"]
    assert [found.human.value, found.judge.value] == pytest.approx(expected, abs=1e-3)
    assert found.difference.value == pytest.approx(expected[1] - expected[0], abs=1e-3)
    full = nine_items_binary().counts.argmax(axis=1)
    assert (full == verdicts()).mean() == pytest.approx(VECTORS["T8.3"]["judge_vs_full_majority"], abs=1e-3)


@needs_vectors
def test_dawid_skene_gives_the_labels_of_crowd_kit() -> None:
    found = dawid_skene(nine_items(), least_items=9)
    assert "".join(str(label) for label in found.labels) == VECTORS["T8.3"]["dawid_skene_modal"]
    assert found.posterior is not None
    assert found.posterior.sum(axis=1) == pytest.approx(1)


@needs_vectors
def test_dawid_skene_refuses_nine_items_a_rater_by_default() -> None:
    found = dawid_skene(nine_items())
    assert found.refused_because == "too_few_items"
    assert found.labels == (None,) * 9


def test_dawid_skene_refuses_pairs_of_raters_and_one_category() -> None:
    pairs = Ratings.from_table([["P", "F"]] * 12, categories=["F", "P"])
    assert dawid_skene(pairs).refused_because == "too_few_raters"
    alike = Ratings.from_table([["P", "P", "P"]] * 12, categories=["F", "P"])
    assert dawid_skene(alike).refused_because == "no_variation"


def test_dawid_skene_overrules_a_majority_of_raters_who_err_the_same_way_rarely() -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 2, 300)
    rows = [[int(generator.random() < (0.95 if t else 0.05)) for _ in range(3)] for t in truth]
    rows = [[*row, int(generator.random() < 0.5), int(generator.random() < 0.5)] for row in rows]
    found = dawid_skene(Ratings.from_table(rows, categories=[0, 1]))
    majority = (np.array(rows).sum(axis=1) >= 3).astype(int)
    assert (np.array(found.labels) == truth).mean() > (majority == truth).mean()


def test_an_item_without_ratings_has_no_dawid_skene_label() -> None:
    rows = [["P", "P", "F"], ["F", "F", "P"]] * 6 + [[None, None, None]]
    found = dawid_skene(Ratings.from_table(rows, categories=["F", "P"]))
    assert found.labels[-1] is None
    assert found.refused_because is None


@pytest.mark.parametrize("table", [EMPTY, ONE_RATER, NOBODY])
def test_without_shared_items_nothing_is_said_of_raters(table: Ratings) -> None:
    assert all(not one.lean.defined and one.p is None for one in severity(table, seed=0))
    assert all(not one.alpha.defined and one.change is None for one in leave_one_rater_out(table).values())
    assert rater_groups(table) is None
    ceiling = human_ceiling(table, judge=np.zeros(len(table.units), dtype=np.int64))
    assert not ceiling.human.defined
    assert not ceiling.difference.defined
    assert ceiling.non_inferior is None
    assert dawid_skene(table).refused_because is not None


def test_raters_of_separate_metrics_are_in_separate_components() -> None:
    rows = [["P", "F", None, None]] * 3 + [[None, None, "P", "F"]] * 3
    table = Ratings.from_table(rows, categories=["F", "P"])
    assert rater_components(table).tolist() == [0, 0, 1, 1]
    assert rater_components(NOBODY).tolist() == [MISSING, MISSING]
    assert [one.component for one in severity(table, seed=0)] == [0, 0, 1, 1]


def test_the_published_nested_design_has_eighteen_components() -> None:
    raters = [5, 5, 5, 4] + [1] * 14
    rows, offset = [], 0
    for count in raters:
        row: list[str | None] = [None] * sum(raters)
        row[offset : offset + count] = ["P"] * count
        rows += [row] * 9
        offset += count
    table = Ratings.from_table(rows, categories=["F", "P"])
    assert table.n_ratings == 297
    assert len(set(rater_components(table).tolist())) == 18


def test_without_the_odd_rater_agreement_rises() -> None:
    rows = [["P", "P", "P", "F"], ["F", "F", "F", "P"], ["P", "P", "P", "P"], ["F", "F", "F", "F"]]
    found = leave_one_rater_out(Ratings.from_table(rows, categories=["F", "P"]))
    assert found["r4"].alpha.value == 1
    assert (found["r4"].change or 0) > 0
    assert (found["r1"].change or 0) < 0


def test_leaving_a_rater_out_equals_a_table_without_that_rater() -> None:
    rows = [["P", "F", "P", None], ["F", "F", "P", "P"], ["P", "P", None, "P"], ["F", "F", "F", "P"]]
    found = leave_one_rater_out(Ratings.from_table(rows, categories=["F", "P"]))
    shorter = Ratings.from_table([row[1:] for row in rows], categories=["F", "P"])
    assert found["r1"].alpha.value == pytest.approx(krippendorff_alpha(shorter, level="nominal").value)


def test_raters_with_one_view_are_grouped_together() -> None:
    rows = [["P", "P", "F", "F"], ["F", "F", "P", "P"], ["P", "P", "P", "F"], ["F", "F", "P", "P"]]
    groups = rater_groups(Ratings.from_table(rows, categories=["F", "P"]))
    assert groups is not None
    assert groups["r1"] == groups["r2"] != groups["r3"] == groups["r4"]


def test_agreement_between_raters_counts_shared_items_only() -> None:
    agreement, shared = agreement_between(
        Ratings.from_table([["P", "P", None], ["P", "F", None], [None, "F", "F"]], categories=["F", "P"])
    )
    assert shared.tolist() == [[2, 2, 0], [2, 3, 1], [0, 1, 1]]
    assert agreement[0, 1] == 0.5
    assert np.isnan(agreement[0, 2])


def test_a_judge_that_is_a_copy_of_a_rater_is_as_good_as_the_raters() -> None:
    generator = np.random.default_rng(4)
    truth = generator.integers(0, 2, 200)
    codes = np.where(generator.random((200, 4)) < 0.85, truth[:, None], 1 - truth[:, None])
    table = Ratings.from_table(codes[:, :3].tolist(), categories=[0, 1])
    found = human_ceiling(table, judge=codes[:, 3])
    assert abs(found.difference.value or 1) < 0.06
    assert found.non_inferior is not None
    assert abs((found.judge_alpha.value or 0) - (found.human_alpha.value or 0)) < 0.06


def test_ties_of_the_others_count_for_neither_judge_nor_rater() -> None:
    table = Ratings.from_table([["P", "P", "F"]], categories=["F", "P"])
    found = human_ceiling(table, judge=np.array([1]))
    assert found.tied == 2
    assert found.human.n == 1


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="2 verdicts"):
        human_ceiling(EMPTY, judge=np.array([0, 0]))
    with pytest.raises(ValueError, match="margin"):
        human_ceiling(ONE_RATER, judge=np.array([0, 0]), margin=-1)
    with pytest.raises(ValueError, match="scores"):
        severity(ONE_RATER, seed=0, scores=[0, 1])


ROWS = st.lists(st.lists(st.sampled_from(["F", "P", None]), min_size=3, max_size=3), min_size=1, max_size=10)


@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_leans_do_not_depend_on_the_order_of_raters(rows: list[list[str | None]]) -> None:
    one = severity(Ratings.from_table(rows, categories=["F", "P"]), seed=0, permutations=20)
    other = severity(
        Ratings.from_table([row[::-1] for row in rows], categories=["F", "P"]), seed=0, permutations=20
    )
    for first, second in zip(one, other[::-1], strict=True):
        assert first.lean.value == pytest.approx(second.lean.value)


@settings(max_examples=25, deadline=None)
@given(ROWS, st.lists(st.sampled_from([0, 1, MISSING]), min_size=10, max_size=10))
def test_the_human_ceiling_never_leaves_its_bounds(rows: list[list[str | None]], judge: list[int]) -> None:
    table = Ratings.from_table(rows, categories=["F", "P"])
    found = human_ceiling(table, judge=np.array(judge[: len(rows)]))
    if found.difference.value is not None:
        assert found.human.value is not None
        assert found.judge.value is not None
        assert found.difference.value == pytest.approx(found.judge.value - found.human.value)
