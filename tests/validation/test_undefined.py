"""Every function that takes data meets the four inputs that say nothing: it answers with a reason, and never with NaN.

A function that is added to `validation` fails here until it stands in `CALLS` or, if it takes no data, in `NO_DATA`.
"""

import inspect
import math
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import validation
from tests.validation.every_call import CALLS, INPUTS, Data, _module
from validation.ranking import rank_sets
from validation.results import Estimate

MAY_REFUSE: Mapping[str, tuple[Callable[[Data], bool], str]] = {
    "agreement.cohen_kappa": (lambda d: d.kind == "one_rater", "there is no rater 'r2'"),
    "retest.flip_rates": (lambda d: d.clusters is None, "need the cluster of each item"),
}
"""Wrong arguments rather than data that say nothing: these raise a ValueError, and its docstring says so."""


NO_DATA = {
    "contested.calibrate",  # simulates a design
    "corrected_rates.choose_estimator",  # counts in, words out
    "decisions.thresholds",
    "forensics.compatible_tables",  # published figures
    "forensics.compatible_sizes",
    "forensics.published_table",
    "published_retest.implied_prevalence",
    "forensics.implied_test",
    "published_retest.minority_ratings",
    "published_retest.pairwise_from_unanimous",
    "forensics.review_designs",
    "item_identity.text_hash",
    "intervals.zero_rule",
    "mapping.admissible_policies",
    "metric_evidence.not_assessed",
    "overlap.items_for_kappa",  # plans from assumed values
    "overlap.kappa_half_width",
    "overlap.kappa_variance",
    "overlap.overlap_plan",
    "overlap.pass_count_pmf",
    "panel_judges.double_difference",  # tables of means
    "panel_judges.neutral_difference",
    "ranking.rank_bounds",  # rates and errors that `rank_sets` has found
    "ratios.share",  # one share, as it stands
    "response_sets.decode",
    "response_sets.membership",
    "ceilings.accuracy_ceiling",  # what a figure implies
    "ceilings.correlation_ceiling",
    "ceilings.spearman_brown",
    "rogan_gladen.lang_reiczigel",  # parts of `rogan_gladen`
    "rogan_gladen.youden_lower_end",
    "self_preference.role_overlap",
    "stability.expected_discordance",
    "tipping_point.tipping_point",
    "weights.disagreement_weights",
}
"""Functions of assumed or published figures, which have no items to be short of."""


MACHINERY = {
    "arguments",
    "beta_binomial",
    "blas",
    "item_kinds",
    "item_sums",
    "kappas",
    "mantel_haenszel",
    "order_comparison",
    "planning",
    "pooling",
    "rater_tables",
    "resampled_differences",
    "shuffles",
    "strata",
}
"""Modules of plans, and of sums that only the functions above are fed with."""


PARTS = {
    "standardised_scores.standardised",
    "bootstrap.resampled",
    "bootstrap.resampling_weights",
    "bootstrap.sums_of",
    "confusion.checked",
    "confusion.item_cells",
    "confusion.kappa",
    "confusion.kappa_disagreement",
    "confusion.kappas",
    "confusion.mcc",
    "confusion.mcc_disagreement",
    "confusion.table_of",
    "confusion.unreliable",
    "integrity.finding",
    "intervals.jackknife_t_log",
    "intervals.jackknife_t_logs",
    "intervals.wilson_of_ratio",
    "intervals.with_t",
    "judge_accuracy.accuracy_by_cluster",
    "sampling_weights.probabilities",
    "ratios.of_items",
    "ratios.open_ratio",
    "ratios.ratios_of_groups",
}
"""Parts that take sums, reached through the functions above."""


def public_functions() -> set[str]:
    return {
        f"{module.name}.{name}"
        for module in pkgutil.iter_modules(validation.__path__)
        if module.name not in MACHINERY
        for name, member in inspect.getmembers(_module(module.name), inspect.isfunction)
        if not name.startswith("_") and member.__module__ == f"validation.{module.name}"
    }


def found_in(result: object) -> Iterator[Estimate | float]:
    """Every estimate and every number in a result, however deep; arrays may hold NaN where nothing is available."""
    if isinstance(result, Estimate | float):
        yield result
    elif is_dataclass(result) and not isinstance(result, type):
        for field in fields(result):
            yield from found_in(getattr(result, field.name))
    elif isinstance(result, Mapping):
        for member in result.values():
            yield from found_in(member)
    elif isinstance(result, list | tuple):
        for member in result:
            yield from found_in(member)


def test_no_function_that_takes_data_is_missing_from_the_walk() -> None:
    assert public_functions() == set(CALLS) | NO_DATA | PARTS
    assert not set(CALLS) & (NO_DATA | PARTS)


@pytest.mark.parametrize("name", MAY_REFUSE)
def test_what_is_refused_is_announced(name: str) -> None:
    module, _, function = name.partition(".")
    assert "ValueError: " in str(getattr(_module(module), function).__doc__)


@pytest.mark.parametrize(
    "data", INPUTS, ids=lambda d: f"{d.kind}{'' if d.clusters is None else '_in_clusters'}"
)
@pytest.mark.parametrize("name", CALLS)
def test_data_that_say_nothing_get_a_reason_and_never_a_nan(name: str, data: Data) -> None:
    module, _, function = name.partition(".")
    call = getattr(_module(module), function)
    refuses, message = MAY_REFUSE.get(name, (None, ""))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if refuses is not None and refuses(data):
            with pytest.raises(ValueError, match=message):
                CALLS[name](call, data)
            return
        found = list(found_in(CALLS[name](call, data)))
    for one in found:
        if isinstance(one, Estimate):
            assert one.defined or re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", str(one.undefined_because))
        else:
            assert not math.isnan(one)
    if data.kind == "empty":
        claimed = [one for one in found if isinstance(one, Estimate) and one.defined]
        assert claimed == []
    if data.kind == "all_missing":
        estimates = [one for one in found if isinstance(one, Estimate)]
        assert not estimates or any(not one.defined for one in estimates)


def test_an_empty_ranking_orders_nobody() -> None:
    empty = rank_sets(np.empty((0, 0)), names=(), seed=0)
    assert (empty.models, empty.critical_value) == ((), None)
