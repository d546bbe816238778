"""The index of the worked values: every group of `vectors.json` and the tests that hold us to it.

A group that nobody checks fails here, and so does a check that no longer reads its group.
"""

import inspect
import sys
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from tests.material import shared_json
from tests.validation import (
    test_agreement_published,
    test_alternative,
    test_contested,
    test_forensics,
    test_indeterminacy,
    test_intervals,
    test_judge_accuracy,
    test_mapping,
    test_multiverse,
    test_planning,
    test_prevalence,
    test_ranking,
    test_raters,
    test_retest,
    test_self_preference,
    test_shrinkage,
)
from validation import judge_accuracy, self_preference
from validation.false_discovery import bayesian_fdr
from validation.pooling import cluster_sums, jackknife

VECTORS: dict[str, Any] = shared_json("vectors.json") or {}
pytestmark = pytest.mark.skipif(not VECTORS, reason="vectors.json is not there")

Check = Callable[..., None]


def test_the_error_over_four_metrics_is_that_of_their_means() -> None:
    case = VECTORS["T3.3_cluster"]
    right = np.concatenate([np.arange(case["n_each"]) < agreed for agreed in case["agree_by_metric"]])
    metric = np.repeat(np.arange(len(case["agree_by_metric"])), case["n_each"])
    sums, strata, _ = cluster_sums(np.stack([right, np.ones(len(right))], axis=1), metric, None)
    error, freedom = jackknife(sums, lambda total: total[..., 0] / total[..., 1], strata)
    assert (error, freedom) == pytest.approx((case["cluster_se"], 3), abs=1e-4)
    unbounded = case["acc"] + np.array([-1, 1]) * 3.18245 * error
    assert unbounded == pytest.approx(case["t3_ci"], abs=1e-3)
    effect = judge_accuracy(right, np.ones(len(right)), clusters=metric).design_effect
    assert effect.value == pytest.approx(case["deff"], abs=5e-3), "the vector shows two decimals"


def test_flags_stop_where_the_running_share_of_false_ones_passes_q() -> None:
    case = VECTORS["T9.1"]
    running = [total / (k + 1) for k, total in enumerate(accumulate(1 - p for p in case["post"]))]
    assert running == pytest.approx(case["cum"], abs=1e-4)
    for k, share in enumerate(running):
        assert bayesian_fdr(case["post"], share + 1e-9).sum() == k + 1


def test_the_criterion_of_the_worked_comparison_moves_and_people_pass_as_many() -> None:
    case = VECTORS["T6.1"]
    worked = test_self_preference.worked()
    assert self_preference(**worked)["family"].criterion_shift.value == pytest.approx(
        case["criterion_shift"], abs=1e-4
    )
    human = np.array(worked["human"])
    own = np.array(worked["kinship"]) == "sibling"
    assert human[own].mean() == pytest.approx(human[~own].mean())


INDEX: dict[str, tuple[Check, ...]] = {
    "T1.1_map_items": (
        test_multiverse.test_the_worked_cells,
        test_multiverse.test_the_worked_grid,
        test_multiverse.test_the_worked_bound_holds_every_cell,
    ),
    "T1.2_order": (test_mapping.test_mapping_before_or_after_aggregation_differ_for_one_item,),
    "T1.3_forensic": (
        test_forensics.test_published_accuracy_and_kappa_leave_the_error_rates_open,
        test_forensics.test_the_published_pair_is_possible_only_for_multiples_of_six,
        test_intervals.test_the_published_wilson_intervals_follow,
    ),
    "T1.4_internal": (test_mapping.test_the_internal_review_has_four_agreement_rates,),
    "T2.1": (
        test_indeterminacy.test_borderline_is_the_set_of_both,
        test_indeterminacy.test_the_worked_forced_choices,
        test_indeterminacy.test_the_worked_multilabel_score_and_decisions,
        test_indeterminacy.test_the_worked_pass_rate_lies_between_belief_and_plausibility,
    ),
    "T2.2_decode": (test_indeterminacy.test_both_letters_decode_to_both_options,),
    "T3.1": (test_judge_accuracy.test_the_worked_table,),
    "T3.2_eb": (
        test_shrinkage.test_the_worked_example_of_eight_metrics,
        test_shrinkage.test_the_likelihood_check_of_the_worked_example,
    ),
    "T3.3_cluster": (
        test_judge_accuracy.test_the_worked_audit_of_four_metrics_says_almost_nothing_about_a_fifth,
        test_the_error_over_four_metrics_is_that_of_their_means,
    ),
    "T4.1_RG": (test_prevalence.test_the_worked_rogan_gladen_and_lang_reiczigel,),
    "T4.2_ppi": (test_prevalence.test_the_worked_prediction_powered_means,),
    "T4.3_by_verdict": (
        test_prevalence.test_the_worked_verdict_balanced_review,
        test_judge_accuracy.test_weights_undo_a_review_that_was_balanced_by_verdict,
    ),
    "T4.4_cluster_ppi": (test_prevalence.test_the_worked_rectifiers_of_four_metrics,),
    "T5.1_alt": (test_alternative.test_the_worked_example_hangs_on_epsilon,),
    "T6.1": (
        test_self_preference.test_the_worked_comparison_is_reproduced,
        test_self_preference.test_the_worked_regression_is_reproduced,
        test_the_criterion_of_the_worked_comparison_moves_and_people_pass_as_many,
    ),
    "T6.2_power": (test_planning.test_sizes_for_self_preference_are_reproduced,),
    "T6.3_panel": (test_self_preference.test_the_worked_panel_is_reproduced,),
    "T7.1": (
        test_retest.test_the_published_retest_figures_are_reproduced_from_the_split_counts,
        test_retest.test_both_polarities_together_give_the_pooled_published_figures,
    ),
    "T7.2": (test_retest.test_the_ceilings_are_the_published_ones,),
    "T8.1": (test_agreement_published.test_the_worked_values_of_krippendorffs_table,),
    "T8.2": (test_agreement_published.test_the_worked_values_of_the_prevalence_paradox,),
    "T8.3": (
        test_agreement_published.test_the_worked_values_of_nine_items_by_five_raters,
        test_intervals.test_the_item_bootstrap_of_nine_items_is_that_of_a_loop_over_the_package,
        test_raters.test_severity_is_the_mean_distance_from_the_other_raters,
        test_raters.test_judge_and_raters_answer_to_the_majority_of_the_others,
        test_raters.test_dawid_skene_gives_the_labels_of_crowd_kit,
    ),
    "T9.1": (
        test_contested.test_the_largest_set_with_few_expected_false_flags_is_flagged,
        test_flags_stop_where_the_running_share_of_false_ones_passes_q,
    ),
    "T9.2": (
        test_contested.test_shares_have_the_worked_posteriors,
        test_planning.test_nothing_seen_still_leaves_an_upper_bound,
    ),
    "T10.1": (test_planning.test_a_balanced_design_is_recognised,),
    "T10.2": (test_planning.test_the_closed_form_for_two_raters_is_bloch_and_kraemers,),
    "T10.3_adaptive": (test_planning.test_adaptive_overlap_needs_the_core_or_weights,),
    "T11.1": (test_ranking.test_the_worked_rank_sets_are_reproduced,),
    "T11.2": (test_forensics.test_an_unadjusted_difference_does_not_survive_its_comparisons,),
}


def test_every_group_of_worked_values_has_a_check() -> None:
    assert set(INDEX) == set(VECTORS)
    assert len(VECTORS) == 29


@pytest.mark.parametrize("group", INDEX)
def test_a_check_reads_its_group(group: str) -> None:
    assert INDEX[group]
    for check in INDEX[group]:
        assert check.__name__.startswith("test_"), "pytest must run it"
        assert f'"{group}"' in inspect.getsource(sys.modules[check.__module__])
