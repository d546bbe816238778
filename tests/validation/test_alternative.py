import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.material import shared_json
from tests.validation.test_mapping import labels
from validation.alternative import alternative_annotator_test, on_judge_scale
from validation.ratings import Ratings

VECTORS = shared_json("vectors.json")


@pytest.fixture
def worked(shared):
    case = VECTORS["T5.1_alt"]
    truth = np.arange(30) % 2

    def with_errors(key):
        wrong = np.isin(np.arange(30), case[key])
        return np.where(wrong, 1 - truth, truth)

    columns = [with_errors(f"err_{name}") for name in "ABC"]
    return (
        Ratings.from_table(np.stack(columns, axis=1).tolist(), categories=[0, 1]),
        with_errors("err_judge"),
        case,
    )


def test_the_worked_example_hangs_on_epsilon(worked):
    ratings, judge, case = worked
    found = alternative_annotator_test(ratings, judge.tolist(), epsilon=0.1)
    assert found.applicable
    assert found.advantage.value == pytest.approx(case["rho"], abs=1e-5)
    assert [test.p_value.value for test in found.annotators] == pytest.approx(case["p_eps0.1"], abs=1e-6)
    curve = dict(found.epsilon_curve)
    for epsilon, omega in case["winning_rate"].items():
        assert curve[float(epsilon)].value == omega
    assert found.passes
    assert not alternative_annotator_test(ratings, judge.tolist(), epsilon=0.0).passes


def test_p_values_are_those_of_scipy(worked):
    ratings, judge, _ = worked
    found = alternative_annotator_test(ratings, judge.tolist(), epsilon=0.15)
    labelled = ratings.codes
    for r, test in enumerate(found.annotators):
        others = np.delete(labelled, r, axis=1)
        own = (others == labelled[:, [r]]).mean(axis=1)
        other = (others == judge[:, None]).mean(axis=1)
        d = (own >= other).astype(float) - (other >= own)
        assert test.p_value.value == pytest.approx(stats.ttest_1samp(d, 0.15, alternative="less").pvalue)


def test_a_judge_that_is_always_as_close_has_p_zero_above_and_one_at_epsilon_zero():
    table = [[i % 2] * 3 for i in range(30)]
    ratings = Ratings.from_table(table, categories=[0, 1])
    found = alternative_annotator_test(ratings, [i % 2 for i in range(30)])
    assert [test.p_value.value for test in found.annotators] == [0, 0, 0]
    assert found.advantage.value == 1
    assert dict(found.epsilon_curve)[0.0].value == 0


def test_annotators_under_the_minimum_are_not_testable_and_leave_no_verdict():
    ratings = labels(*["PFP"] * 9)
    found = alternative_annotator_test(ratings, ["pass"] * 9)
    assert not found.applicable
    assert "30 items" in found.reason
    assert found.passes is None
    assert found.winning_rate.undefined_because == "too_few_items"
    assert {test.p_value.undefined_because for test in found.annotators} == {"too_few_items"}
    assert found.annotators[0].advantage.defined


def test_under_thirty_items_a_lowered_minimum_uses_wilcoxon():
    rng = np.random.default_rng(1)
    ratings = Ratings.from_table(rng.integers(0, 2, (20, 3)).tolist(), categories=[0, 1])
    found = alternative_annotator_test(ratings, rng.integers(0, 2, 20).tolist(), fewest_items=10)
    assert {test.p_value.method for test in found.annotators} == {"one-sided Wilcoxon test"}
    assert all(0 <= test.p_value.value <= 1 for test in found.annotators)


def test_two_annotators_are_possible_but_unreliable():
    ratings = labels(*["PF", "PP"] * 20)
    found = alternative_annotator_test(ratings, ["pass"] * 40)
    assert "unreliable" in found.winning_rate.notes[0]


@pytest.mark.parametrize("ratings", [labels(), labels("-"), labels("P")])
def test_too_little_to_compare_gives_a_reason(ratings):
    found = alternative_annotator_test(ratings, [None] * len(ratings.units))
    assert not found.applicable
    assert found.advantage.undefined_because == "no_items"


def test_distances_can_count_in_place_of_agreement():
    items = ["PPF", "BBP", "FFB"] * 12
    judge = ["pass", "borderline", "fail"] * 12
    near = alternative_annotator_test(labels(*items), judge, values=[0, 1, 2])
    assert near.annotators[2].advantage.value == 1
    assert near.winning_rate.defined
    with pytest.raises(ValueError, match="values"):
        alternative_annotator_test(labels(*items), judge, values=[0, 1])


def test_rho_is_resampled_by_cluster_where_there_are_clusters(worked):
    ratings, judge, _ = worked
    clustered = Ratings(ratings.codes, ratings.categories, ratings.units, ratings.raters, np.arange(30) // 5)
    assert alternative_annotator_test(clustered, judge.tolist()).advantage.n_clusters == 6
    assert alternative_annotator_test(ratings, judge.tolist()).advantage.n_clusters is None


def test_labels_are_mapped_to_the_scale_of_the_judge_first():
    assert on_judge_scale(labels("PBF"), borderline="pass").codes.tolist() == [[1, 1, 0]]
    assert on_judge_scale(labels("PBF"), borderline="drop").codes.tolist() == [[1, -1, 0]]
    with pytest.raises(ValueError, match="half"):
        on_judge_scale(labels("P"), borderline="half")
    with pytest.raises(ValueError, match="maybe"):
        on_judge_scale(Ratings.from_table([["maybe"]], categories=["maybe"]), borderline="pass")


@pytest.mark.parametrize(("judge", "epsilon"), [(["maybe"], 0.2), (["pass", "pass"], 0.2), (["pass"], 1.5)])
def test_impossible_arguments_are_refused(judge, epsilon):
    with pytest.raises(ValueError, match=r"maybe|units|epsilon"):
        alternative_annotator_test(labels("PP"), judge, epsilon=epsilon)


binary = st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=30, max_size=40)


@settings(max_examples=25, deadline=None)
@given(binary)
def test_a_wider_margin_never_takes_a_win_away(rows):
    ratings = Ratings.from_table([list(row[:3]) for row in rows], categories=[0, 1])
    found = alternative_annotator_test(ratings, [row[3] for row in rows])
    omegas = [omega.value for _, omega in found.epsilon_curve]
    assert omegas == sorted(omegas)
    by_distance = alternative_annotator_test(ratings, [row[3] for row in rows], values=[0, 1])
    assert by_distance.advantage.value == pytest.approx(found.advantage.value)
