from validation.agreement import (
    Agreement,
    brennan_prediger,
    coefficients,
    cohen_kappa,
    cohen_kappas,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
    specific_agreement,
)
from validation.alternative import alternative_annotator_test, on_judge_scale
from validation.beta_sweep import beta_sweep
from validation.bootstrap import bootstrap, bootstrap_groups, stratified_bootstrap
from validation.bounds import Bounds
from validation.ceilings import accuracy_ceiling, correlation_ceiling, spearman_brown
from validation.clustered_rate import clustered_rate
from validation.coding import coding
from validation.confusion import Confusion, confusion, kappa_large_sample
from validation.contested import MetricStatus, Status, calibrate, statuses
from validation.corrected_rates import choose_estimator, corrected_rates
from validation.dawid_skene import dawid_skene
from validation.decisions import decision_consistency, prevalence_bias
from validation.false_discovery import bayesian_fdr
from validation.family_permutation import family_permutation
from validation.family_regression import family_regression
from validation.forensics import compatible_sizes, compatible_tables, implied_test, review_designs
from validation.human_ceiling import human_ceiling
from validation.indeterminacy import compare_forced, multilabel_mse
from validation.integrity import inverted_metrics
from validation.intervals import clopper_pearson, stratified_t, wilson
from validation.item_identity import item_identity, text_hash
from validation.judge_accuracy import JudgeAccuracy, judge_accuracy
from validation.many_facet_rasch import many_facet_rasch
from validation.mapping import PRIMARY, Policy, admissible_policies, reference
from validation.metric_evidence import (
    Domain,
    DomainEvidence,
    MetricEvidence,
    expert_disagreement,
    judge_against_experts,
    judge_instability,
)
from validation.missing_verdicts import missing_by_group, missing_verdicts
from validation.multiverse import multiverse
from validation.overlap import items_for_kappa, overlap_plan
from validation.panel_judges import panel_preference
from validation.planning import (
    design_effect,
    detectable_difference,
    detectable_self_preference,
    items_for_difference,
    items_for_share,
    upper_bound_of_none,
)
from validation.polarity import polarity_tripwire
from validation.policy_bounds import accuracy_bounds
from validation.ppi import ppi_mean, stratified_ppi
from validation.prevalence import post_stratified
from validation.published_retest import implied_prevalence, pairwise_from_unanimous
from validation.ranking import Ranking, rank_sets
from validation.rater_groups import rater_groups
from validation.raters import leave_one_rater_out, rater_components, severity
from validation.ratings import Ratings, RatingsError
from validation.response_sets import between_raters, multilabel, pass_rate_bounds, within_rater
from validation.results import Estimate
from validation.retest import flip_rates, retest, retest_by
from validation.rogan_gladen import ErrorCounts, rate_bounds, rogan_gladen
from validation.sampling_weights import hajek, verdict_weights
from validation.self_preference import Kinship, rate_gap, self_preference
from validation.shrinkage import shrink
from validation.stability import stability
from validation.tipping_point import tipping_point
from validation.two_raters import bias_index, prevalence_index
from validation.variance_components import variance_components

__all__ = [
    "PRIMARY",
    "Agreement",
    "Bounds",
    "Confusion",
    "Domain",
    "DomainEvidence",
    "ErrorCounts",
    "Estimate",
    "JudgeAccuracy",
    "Kinship",
    "MetricEvidence",
    "MetricStatus",
    "Policy",
    "Ranking",
    "Ratings",
    "RatingsError",
    "Status",
    "accuracy_bounds",
    "accuracy_ceiling",
    "admissible_policies",
    "alternative_annotator_test",
    "bayesian_fdr",
    "beta_sweep",
    "between_raters",
    "bias_index",
    "bootstrap",
    "bootstrap_groups",
    "brennan_prediger",
    "calibrate",
    "choose_estimator",
    "clopper_pearson",
    "clustered_rate",
    "coding",
    "coefficients",
    "cohen_kappa",
    "cohen_kappas",
    "compare_forced",
    "compatible_sizes",
    "compatible_tables",
    "confusion",
    "conger_kappa",
    "corrected_rates",
    "correlation_ceiling",
    "dawid_skene",
    "decision_consistency",
    "design_effect",
    "detectable_difference",
    "detectable_self_preference",
    "expert_disagreement",
    "family_permutation",
    "family_regression",
    "fleiss_kappa",
    "flip_rates",
    "gwet_ac1",
    "gwet_ac2",
    "hajek",
    "human_ceiling",
    "implied_prevalence",
    "implied_test",
    "inverted_metrics",
    "item_identity",
    "items_for_difference",
    "items_for_kappa",
    "items_for_share",
    "judge_accuracy",
    "judge_against_experts",
    "judge_instability",
    "kappa_large_sample",
    "krippendorff_alpha",
    "leave_one_rater_out",
    "many_facet_rasch",
    "missing_by_group",
    "missing_verdicts",
    "multilabel",
    "multilabel_mse",
    "multiverse",
    "on_judge_scale",
    "overlap_plan",
    "pairwise_from_unanimous",
    "panel_preference",
    "pass_rate_bounds",
    "percent_agreement",
    "polarity_tripwire",
    "post_stratified",
    "ppi_mean",
    "prevalence_bias",
    "prevalence_index",
    "rank_sets",
    "rate_bounds",
    "rate_gap",
    "rater_components",
    "rater_groups",
    "reference",
    "retest",
    "retest_by",
    "review_designs",
    "rogan_gladen",
    "self_preference",
    "severity",
    "shrink",
    "spearman_brown",
    "specific_agreement",
    "stability",
    "statuses",
    "stratified_bootstrap",
    "stratified_ppi",
    "stratified_t",
    "text_hash",
    "tipping_point",
    "upper_bound_of_none",
    "variance_components",
    "verdict_weights",
    "wilson",
    "within_rater",
]
