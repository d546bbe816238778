"""Agreement, and how far a judge can be trusted: statistics that know nothing of any study.

>>> from validation import Ratings, krippendorff_alpha
>>> table = [["pass", "pass"], ["fail", "fail"], ["pass", "fail"], ["fail", "fail"], ["pass", "pass"]]
>>> round(krippendorff_alpha(Ratings.from_table(table, categories=["fail", "pass"])).value, 2)
0.64

A name is imported from its module when it is first asked for, so that `import validation` costs next to nothing and
`from validation import Ratings` does not pay for a regression. Type checkers read `__init__.pyi`.
"""

import sys
from importlib import import_module
from types import ModuleType

_PUBLIC = {
    "agreement": (
        "Agreement brennan_prediger coefficients cohen_kappa cohen_kappas conger_kappa fleiss_kappa "
        "gwet_ac1 gwet_ac2 krippendorff_alpha percent_agreement specific_agreement"
    ),
    "alternative": "alternative_annotator_test on_judge_scale",
    "bootstrap": "bootstrap bootstrap_groups stratified_bootstrap",
    "bounds": "Bounds",
    "clustered_rate": "clustered_rate",
    "confusion": "Confusion confusion kappa_large_sample",
    "contested": "MetricStatus Status calibrate statuses",
    "false_discovery": "bayesian_fdr",
    "corrected_rates": "choose_estimator corrected_rates",
    "dawid_skene": "dawid_skene",
    "decisions": "decision_consistency prevalence_bias",
    "beta_sweep": "beta_sweep",
    "family_permutation": "family_permutation",
    "family_regression": "family_regression",
    "forensics": "compatible_sizes compatible_tables implied_test review_designs",
    "published_retest": "implied_prevalence pairwise_from_unanimous",
    "human_ceiling": "human_ceiling",
    "indeterminacy": "compare_forced multilabel_mse",
    "integrity": "inverted_metrics",
    "coding": "coding",
    "item_identity": "item_identity text_hash",
    "intervals": "clopper_pearson stratified_t wilson",
    "judge_accuracy": "JudgeAccuracy judge_accuracy",
    "polarity": "polarity_tripwire",
    "many_facet_rasch": "many_facet_rasch",
    "mapping": "PRIMARY Policy admissible_policies reference",
    "metric_evidence": (
        "Domain DomainEvidence MetricEvidence expert_disagreement judge_against_experts judge_instability"
    ),
    "missing_verdicts": "missing_by_group missing_verdicts",
    "multiverse": "multiverse",
    "policy_bounds": "accuracy_bounds",
    "overlap": "items_for_kappa overlap_plan",
    "panel_judges": "panel_preference",
    "planning": (
        "design_effect detectable_difference detectable_self_preference items_for_difference "
        "items_for_share upper_bound_of_none"
    ),
    "ppi": "ppi_mean stratified_ppi",
    "prevalence": "post_stratified",
    "sampling_weights": "hajek verdict_weights",
    "ranking": "Ranking rank_sets",
    "raters": "leave_one_rater_out rater_components severity",
    "rater_groups": "rater_groups",
    "ratings": "Ratings RatingsError",
    "response_sets": "between_raters multilabel pass_rate_bounds within_rater",
    "results": "Estimate",
    "retest": "flip_rates retest retest_by",
    "ceilings": "accuracy_ceiling correlation_ceiling spearman_brown",
    "rogan_gladen": "ErrorCounts rate_bounds rogan_gladen",
    "self_preference": "Kinship rate_gap self_preference",
    "shrinkage": "shrink",
    "stability": "stability",
    "tipping_point": "tipping_point",
    "two_raters": "bias_index prevalence_index",
    "variance_components": "variance_components",
}
"""Each module and what of it is public."""

_HOME = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted(_HOME)


class _Public(ModuleType):
    """The package; where a function bears the name of its module (`retest`), the name means the function."""

    def __getattr__(self, name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found: object = getattr(import_module(f"{self.__name__}.{_HOME[name]}"), name)
        self.__dict__[name] = found
        return found

    def __setattr__(self, name: str, value: object) -> None:
        # Importing a submodule binds it here: not under a name that is promised to a function.
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Public
