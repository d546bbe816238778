import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from tests.material import shared_json
from tests.validation.test_mapping import labels
from validation.beta_sweep import beta_sweep
from validation.decisions import curves, decision_consistency, prevalence_bias, thresholds
from validation.indeterminacy import compare_forced, coverage, multilabel_mse
from validation.response_sets import (
    between_raters,
    decode,
    forced_choice,
    membership,
    multilabel,
    multilabel_of_sets,
    pass_rate_bounds,
    reconstruct,
    within_rater,
)

VECTORS = shared_json("vectors.json")


@pytest.fixture
def worked(shared):
    case = VECTORS["T2.1"]
    ratings = labels(*("P" * p + "B" * b + "F" * f for p, b, f in case["PBF"]))
    return ratings, np.array(case["judge_O"]), np.array(case["judge_omega"]), case


def test_borderline_is_the_set_of_both(worked):
    ratings, _, _, case = worked
    assert multilabel(ratings) == pytest.approx(np.array(case["human_omega"]))


def test_the_worked_forced_choices(worked):
    ratings, judge, _, case = worked
    found = compare_forced(forced_choice(ratings), judge, ties="first")
    assert found.hit_rate.value == case["HR"]
    assert found.mse.value == pytest.approx(case["MSE_s"], abs=1e-4)
    assert found.js_divergence.value == pytest.approx(case["JS_div_nats"], abs=1e-6)
    assert found.js_distance.value == pytest.approx(case["JS_dist_mean"], abs=1e-6)
    assert found.kl_human_judge.value == pytest.approx(case["KL_h_j"], abs=1e-4)
    assert found.kl_judge_human.value == pytest.approx(case["KL_j_h"], abs=1e-4)


def test_a_tie_for_the_most_frequent_choice_is_left_out_and_counted(worked):
    ratings, judge, _, _ = worked
    found = compare_forced(forced_choice(ratings), judge)
    assert (found.hit_rate.value, found.hit_rate.n, found.ties) == (1.0, 3, 1)
    assert found.kappa.value == found.alpha.value == 1


def test_the_worked_multilabel_score_and_decisions(worked):
    ratings, _, judge, case = worked
    human = multilabel(ratings)
    assert multilabel_mse(human, judge).value == pytest.approx(case["MSE_srs"], abs=1e-6)
    for tau, consistent in case["consistency"].items():
        at = {"tau": float(tau), "strict": True}
        assert decision_consistency(human[:, 0], judge[:, 0], **at).value == consistent
        assert prevalence_bias(human[:, 0], judge[:, 0], **at).value == case["bias"][tau]


def test_between_attainable_shares_it_does_not_matter_whether_the_threshold_counts(worked):
    ratings, _, judge, _ = worked
    human = multilabel(ratings)[:, 0]
    for tau in (0.15, 0.45, 0.75, 0.95):
        for measure in (decision_consistency, prevalence_bias):
            assert measure(human, judge[:, 0], tau=tau) == measure(human, judge[:, 0], tau=tau, strict=True)


def test_the_worked_pass_rate_lies_between_belief_and_plausibility(worked):
    found = pass_rate_bounds(worked[0])
    assert (found.low.value, found.high.value) == pytest.approx(VECTORS["T2.1"]["belief_plausibility"])


def test_both_letters_decode_to_both_options(shared):
    case = VECTORS["T2.2_decode"]
    assert list(decode(case["response"], options=case["options"])) == case["omega"]


@pytest.mark.parametrize(
    ("response", "decoded"),
    [("A, C", (1, 0, 1)), ("bc", (0, 1, 1)), ("ABC", (1, 1, 1)), ("B", (0, 1, 0)), ("", None), (None, None)]
    + [(malformed, None) for malformed in ("D", "AA", "pass", "A or B", "1", "-")],
)
def test_answers_decode_to_their_options_or_to_nothing(response, decoded):
    assert decode(response, options=["x", "y", "z"]) == decoded


def test_options_beyond_letters_are_refused():
    for options in ([], ["o"] * 27):
        with pytest.raises(ValueError, match="options"):
            decode("A", options=options)


def test_membership_lists_every_set_once():
    sets = membership(3)
    assert sets.shape == (3, 7)
    assert len({tuple(column) for column in sets.T}) == 7
    assert sets.sum(axis=0).tolist() == [1, 1, 1, 2, 2, 2, 3]
    with pytest.raises(ValueError, match="option"):
        membership(0)


def test_response_sets_and_labels_give_the_same_shares():
    sets = [[[1, 0], [1, 1], [np.nan, np.nan]], [[0, 1], [0, 1], [1, 1]]]
    assert multilabel_of_sets(sets) == pytest.approx(multilabel(labels("PB", "FFB")))
    with pytest.raises(ValueError, match="axes"):
        multilabel_of_sets([[1, 0]])


def test_forced_choices_with_paired_sets_rebuild_the_shares():
    omega = reconstruct([[1, 0], [0.5, 0.5]], choices=[0, 0, 1, 1], sets=[[1, 0], [1, 1], [0, 1], [1, 1]])
    assert omega == pytest.approx(np.array([[1, 0.5], [0.75, 0.75]]))
    with pytest.raises(ValueError, match=r"\[1\]"):
        reconstruct([[0.5, 0.5]], choices=[0], sets=[[1, 0]])
    with pytest.raises(ValueError, match="fit"):
        reconstruct([[0.5, 0.5]], choices=[0], sets=[[1, 0, 0]])


def test_majorities_hide_indeterminacy_within_raters_and_single_reviews_that_between_them():
    assert within_rater(labels("BB", "BB")).value == 1
    assert between_raters(labels("BB", "PP", "PF")).value == pytest.approx(1 / 3)
    assert between_raters(labels("P")).undefined_because == "no_pairable_items"
    assert within_rater(labels("-")).undefined_because == "no_items"


def test_the_sweep_finds_where_conclusions_turn():
    forced = np.array([1.0, 0.6, 0.2, 0.0])
    swept = beta_sweep(forced, {"strict": forced, "lenient": forced + 0.4 * (1 - forced)}, claim=0.75)
    assert swept.rankings[0] == ("strict", "lenient")
    assert swept.ranking_flips_at == pytest.approx(0.2, abs=0.11)
    assert swept.mse["lenient"][4].value == pytest.approx(0)
    assert swept.claim_flips_at["strict"] == 0.5
    assert beta_sweep(forced, {"only": forced}, betas=[0.0]).ranking_flips_at is None
    with pytest.raises(ValueError, match="betas"):
        beta_sweep(forced, {}, betas=[])


def test_curves_hold_one_estimate_a_threshold():
    found = curves([0.2, 0.6, 1.0], [0.4, 0.6, 0.8], taus=thresholds(5))
    assert [c.value for c in found.consistency] == pytest.approx([1, 2 / 3, 1, 1, 2 / 3])
    assert [b.value for b in found.bias] == pytest.approx([0, 1 / 3, 0, 0, -1 / 3])


def test_coverage_counts_choices_that_enough_raters_defend():
    human, judge = [[0.8, 0.6], [0.5, 1.0], [0.2, 1.0]], [[0.9, 0.1]] * 3
    assert coverage(human, judge).value == pytest.approx(2 / 3)


def test_empty_and_unrated_input_gives_reasons():
    nothing = compare_forced(np.full((2, 2), np.nan), np.full((2, 2), np.nan))
    for name in ("hit_rate", "kl_human_judge", "mse", "js_distance"):
        assert getattr(nothing, name).undefined_because == "no_items"
    assert not nothing.kappa.defined
    assert multilabel_mse([], []).undefined_because == "no_items"
    assert coverage([], []).undefined_because == "no_items"
    assert decision_consistency([], [], tau=0.5).undefined_because == "no_items"
    assert pass_rate_bounds(labels("-")).low.undefined_because == "no_items"


@pytest.mark.parametrize(
    "call",
    [
        lambda: compare_forced([[0.5, 0.4]], [[0.5, 0.5]]),
        lambda: compare_forced([[0.5, 0.5]], [[0.5, 0.5, 0]]),
        lambda: decision_consistency([1], [1], tau=2),
        lambda: thresholds(0),
    ],
)
def test_impossible_arguments_are_refused(call):
    with pytest.raises(ValueError, match=r"sum to 1|options|tau|rater"):
        call()


shares = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=8)
"""Of the smallest of all numbers scipy's own divergence is not finite."""


def test_the_smallest_share_diverges_by_nothing():
    assert compare_forced([[5e-324, 1.0]], [[0.0, 1.0]]).js_divergence.value == 0


@settings(max_examples=40, deadline=None)
@given(shares, st.randoms())
def test_divergence_is_symmetric_bounded_and_that_of_scipy(p, random):
    q = random.sample(p, len(p))
    h, j = (np.stack([x, 1 - np.array(x)], axis=1) for x in (p, q))
    there, back = compare_forced(h, j), compare_forced(j, h)
    assert there.js_divergence.value == pytest.approx(back.js_divergence.value, abs=1e-12)
    assert there.js_distance.value == pytest.approx(jensenshannon(h, j, axis=1).mean(), abs=1e-6)
    assert compare_forced(h, h).mse.value == 0
