"""Every public function of the statistics that takes data, how it is called, and data that say nothing."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from validation.mapping import admissible_policies
from validation.metric_evidence import MetricEvidence, gather
from validation.ratings import MISSING, Ratings
from validation.rogan_gladen import ErrorCounts
from validation.self_preference import Kinship

CATEGORIES = ("fail", "borderline", "pass")


@dataclass(frozen=True)
class Data:
    """One input that says nothing, in every shape that a function may ask for."""

    kind: str
    ratings: Ratings
    """In fail, borderline, pass."""
    binary: Ratings
    """In fail, pass."""
    reference: NDArray[np.float64]
    judge: NDArray[np.float64]
    clusters: NDArray[np.int64] | None

    @property
    def n(self) -> int:
        return len(self.reference)

    @property
    def groups(self) -> list[str]:
        """A name for each item, two in all."""
        return ["ab"[item % 2] for item in range(self.n)]

    @property
    def counted(self) -> int:
        """How many of the items have a reference."""
        return int((~np.isnan(self.reference)).sum())

    @property
    def labels(self) -> list[str | None]:
        """The judge's labels."""
        return [None if np.isnan(j) else CATEGORIES[2 * int(j)] for j in self.judge]

    @property
    def both(self) -> tuple[list[float], list[float]]:
        """Reference and judge of the items that have both."""
        known = ~np.isnan(self.reference) & ~np.isnan(self.judge)
        return self.reference[known].tolist(), self.judge[known].tolist()

    @property
    def shares(self) -> NDArray[np.float64]:
        """(items, 2): pass and fail."""
        return np.stack([self.reference, 1 - self.reference], axis=1)

    @property
    def judge_shares(self) -> NDArray[np.float64]:
        return np.stack([self.judge, 1 - self.judge], axis=1)

    @property
    def rates(self) -> NDArray[np.float64]:
        """(items, 2): as if items were metrics, and reference and judge two models."""
        return np.stack([self.reference, self.judge], axis=1)


def _data(
    kind: str,
    codes: NDArray[np.int64],
    reference: list[float],
    judge: list[float],
    *,
    clustered: bool,
) -> Data:
    clusters = np.arange(len(codes), dtype=np.int64) % 6 if clustered else None
    names = tuple(f"u{unit}" for unit in range(len(codes)))
    raters = tuple(f"r{rater + 1}" for rater in range(codes.shape[1]))
    halves = np.where(codes == MISSING, MISSING, codes // 2)
    return Data(
        kind=kind,
        ratings=Ratings(codes=codes, categories=CATEGORIES, units=names, raters=raters, clusters=clusters),
        binary=Ratings(
            codes=halves, categories=("fail", "pass"), units=names, raters=raters, clusters=clusters
        ),
        reference=np.array(reference, dtype=np.float64),
        judge=np.array(judge, dtype=np.float64),
        clusters=clusters,
    )


def _inputs() -> Iterator[Data]:
    nan, mixed = float("nan"), [0.0, 1.0] * 6
    alternating = np.array([[2 * (unit % 2)] for unit in range(12)])
    for clustered in (False, True):
        yield _data("empty", np.empty((0, 0), dtype=np.int64), [], [], clustered=clustered)
        yield _data("one_class", np.full((12, 3), 2), [1.0] * 12, [1.0] * 12, clustered=clustered)
        yield _data("one_rater", alternating, mixed, [nan] * 12, clustered=clustered)
        yield _data("all_missing", np.full((12, 3), MISSING), [nan] * 12, [nan] * 12, clustered=clustered)


INPUTS = list(_inputs())


def _evidence(data: Data) -> list[MetricEvidence]:
    metric_evidence = importlib.import_module("validation.metric_evidence")
    return gather(metric_evidence.expert_disagreement({"m": data.ratings}, seed=0))


def _counts(data: Data) -> tuple[float, int]:
    reference, judge = data.both
    return float(sum(one == other for one, other in zip(reference, judge, strict=True))), len(reference)


def _frame(data: Data) -> pd.DataFrame:
    return pd.DataFrame({"present": data.reference, "metric": data.groups, "item": np.arange(data.n)})


def _kinship(data: Data) -> list[Kinship]:
    return [Kinship.SELF if name == "a" else Kinship.OTHER for name in data.groups]


def _marked(data: Data) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return data.ratings.counts[:, 1], data.ratings.ratings_per_unit


def _errors(data: Data) -> ErrorCounts:
    reference, judge = (np.array(side) for side in data.both)
    return ErrorCounts(
        true_pass=int((reference * judge).sum()),
        passes=int(reference.sum()),
        true_fail=int(((1 - reference) * (1 - judge)).sum()),
        fails=int((1 - reference).sum()),
    )


def _judged(data: Data) -> dict[str, Any]:
    return {"judge_passes": int(np.nansum(data.judge)), "judged": int((~np.isnan(data.judge)).sum())}


def _reviewed(data: Data) -> dict[str, Any]:
    reference, judge = (np.array(side) for side in data.both)
    return {
        "reviewed_pass": (float(reference[judge == 1].sum()), int((judge == 1).sum())),
        "reviewed_fail": (float(reference[judge == 0].sum()), int((judge == 0).sum())),
    }


def _sets(data: Data) -> NDArray[np.float64]:
    return data.shares[:, None, :]


Call = Callable[[Callable[..., Any], Data], object]


CALLS: Mapping[str, Call] = {
    "graded.compare_graded": lambda f, d: f(d.reference, d.judge, levels=[0.0, 1.0], threshold=0.5),
    "paired_agreement.alpha_change": lambda f, d: f(d.ratings, d.ratings, seed=0),
    "standardised_scores.standardised_groups": lambda f, d: f(
        d.reference.tolist(), raters=d.groups, groups=d.groups, clusters=list(range(d.n))
    ),
    "agreement.coefficients": lambda f, d: f(d.ratings),
    "agreement.percent_agreement": lambda f, d: (f(d.ratings), f(d.ratings, pair_weighted=True)),
    "agreement.specific_agreement": lambda f, d: f(d.ratings),
    "agreement.cohen_kappa": lambda f, d: [f(d.ratings, "r1", "r2", weights=w) for w in COHEN],
    "agreement.cohen_kappas": lambda f, d: [f(d.ratings, weights=w) for w in COHEN],
    "agreement.fleiss_kappa": lambda f, d: [
        f(d.ratings, form=form) for form in ("pairable", "gwet", "pooled")
    ],
    "agreement.conger_kappa": lambda f, d: f(d.ratings),
    "agreement.krippendorff_alphas": lambda f, d: [
        f([d.ratings, d.binary], level=level) for level in ("nominal", "ordinal")
    ],
    "agreement.krippendorff_alpha": lambda f, d: (
        [
            f(d.ratings, level=level, values=(1.0, 2.0, 3.0))
            for level in ("nominal", "ordinal", "interval", "ratio")
        ]
        + [f(d.ratings, unit_weights=np.full(d.n, 2.0))]
    ),
    "agreement.gwet_ac1": lambda f, d: f(d.ratings),
    "agreement.gwet_ac2": lambda f, d: f(d.ratings),
    "agreement.brennan_prediger": lambda f, d: f(d.ratings),
    "alternative.alternative_annotator_test": lambda f, d: f(d.ratings, d.labels),
    "alternative.on_judge_scale": lambda f, d: f(d.ratings, borderline="fail").codes,
    "bootstrap.bootstrap": lambda f, d: f(d.ratings, "alpha_nominal", draws=50, seed=0),
    "bootstrap.bootstrap_groups": lambda f, d: (
        f([], "fleiss", draws=50, seed=0),
        f([d.ratings], "ac1", draws=50, seed=0),
    ),
    "bootstrap.stratified_bootstrap": lambda f, d: f(
        d.both[0], strata=d.groups[: len(d.both[0])], draws=50, seed=0
    ),
    "clustered_rate.clustered_rate": lambda f, d: f(d.reference, d.judge, clusters=d.groups),
    "clustered_rate.rate_from_rectifiers": lambda f, d: f(
        np.subtract(*d.both), judge_rate=0.5, n=len(d.both[0])
    ),
    "confusion.confusion": lambda f, d: f(d.reference, d.judge),
    "confusion.kappa_large_sample": lambda f, d: f(_module("confusion").confusion(d.reference, d.judge)),
    "false_discovery.bayesian_fdr": lambda f, d: f(d.both[0]),
    "contested.statuses": lambda f, d: f(_evidence(d)),
    "contested.queue": lambda f, d: f(_module("contested").statuses(_evidence(d))),
    "corrected_rates.corrected_rates": lambda f, d: f(d.reference, d.judge, groups=d.groups),
    "borrowed_rates.borrowed_rates": lambda f, d: f(
        [[*_judged(d).values(), *_reviewed(d)["reviewed_pass"], *_reviewed(d)["reviewed_fail"]]]
    ),
    "dawid_skene.dawid_skene": lambda f, d: f(d.ratings),
    "decisions.decision_consistency": lambda f, d: f(d.reference, d.judge, tau=0.5, clusters=d.clusters),
    "decisions.prevalence_bias": lambda f, d: f(d.reference, d.judge, tau=0.5, clusters=d.clusters),
    "decisions.curves": lambda f, d: f(d.reference, d.judge, taus=(0.3, 0.5), clusters=d.clusters),
    "beta_sweep.beta_sweep": lambda f, d: f(d.reference, {"judge": d.judge}, clusters=d.clusters),
    "family_permutation.family_permutation": lambda f, d: f(
        d.rates, own=np.array([True, False]), seed=0, permutations=20
    ),
    "family_regression.family_regression": lambda f, d: f(
        judge=d.judge, human=d.reference, kinship=_kinship(d), metric=d.clusters
    ),
    "human_ceiling.human_ceiling": lambda f, d: f(
        d.binary, judge=np.where(np.isnan(d.judge), MISSING, np.nan_to_num(d.judge)).astype(np.int64)
    ),
    "indeterminacy.compare_forced": lambda f, d: f(d.shares, d.judge_shares, clusters=d.clusters),
    "indeterminacy.coverage": lambda f, d: f(d.shares, d.judge_shares, clusters=d.clusters),
    "indeterminacy.multilabel_mse": lambda f, d: f(d.shares, d.judge_shares, clusters=d.clusters),
    "item_identity.item_identity": lambda f, d: f(dict.fromkeys(range(d.n)), dict.fromkeys(range(d.n))),
    "coding.coding": lambda f, d: f(*d.both),
    "coding.coding_findings": lambda f, d: f(*d.both, name="column"),
    "integrity.inverted_metrics": lambda f, d: f(d.reference, d.judge, clusters=d.groups),
    "intervals.wilson": lambda f, d: f(sum(d.both[0]), len(d.both[0])),
    "intervals.clopper_pearson": lambda f, d: f(sum(d.both[0]), len(d.both[0])),
    "intervals.stratified_t": lambda f, d: f(d.both[0], strata=d.groups[: len(d.both[0])]),
    "judge_accuracy.judge_accuracy": lambda f, d: f(d.reference, d.judge, clusters=d.clusters),
    "judge_accuracy.some_rates": lambda f, d: f(
        [d.reference], d.judge, ["accuracy", "kappa", "ppv"], clusters=d.clusters
    ),
    "polarity.polarity_tripwire": lambda f, d: f(d.reference, d.judge, clusters=d.groups),
    "many_facet_rasch.many_facet_rasch": lambda f, d: f(d.ratings),
    "mapping.reference": lambda f, d: [f(d.ratings, policy) for policy in admissible_policies().policies],
    "metric_evidence.gather": lambda f, d: f(
        _module("metric_evidence").expert_disagreement({"m": d.ratings}, seed=0)
    ),
    "metric_evidence.expert_disagreement": lambda f, d: f({"m": d.ratings}, seed=0),
    "metric_evidence.judge_against_experts": lambda f, d: (f({}), f({"m": _counts(d)})),
    "metric_evidence.judge_instability": lambda f, d: (f({}), f({"m": _counts(d)})),
    "missing_verdicts.missing_verdicts": lambda f, d: f(d.reference, d.judge),
    "missing_verdicts.missing_by_group": lambda f, d: f(d.judge, groups=d.groups),
    "multiverse.multiverse": lambda f, d: f(d.ratings, d.judge),
    "policy_bounds.accuracy_bounds": lambda f, d: f(d.ratings, d.judge),
    "balanced_design.balanced_design": lambda f, d: f([], raters=len(d.ratings.raters)),
    "panel_judges.panel_preference": lambda f, d: f(
        d.rates,
        judges=("A", "B"),
        judge_families={"A": "a"},
        families=d.groups,
        clusters=None if d.clusters is None else d.clusters.tolist(),
    ),
    "ppi.ppi_mean": lambda f, d: f(d.both[0], predictions=d.both[1], unlabelled=d.judge[~np.isnan(d.judge)]),
    "ppi.stratified_ppi": lambda f, d: f(
        d.both[0],
        predictions=d.both[1],
        unlabelled=d.both[1],
        strata=d.groups[: len(d.both[0])],
        unlabelled_strata=d.groups[: len(d.both[0])],
    ),
    "prevalence.post_stratified": lambda f, d: f(**_judged(d), **_reviewed(d)),
    "sampling_weights.verdict_weights": lambda f, d: f(d.both[1], **_judged(d)),
    "sampling_weights.hajek": lambda f, d: f(d.reference, inclusion=np.full(d.n, 0.5), clusters=d.clusters),
    "sampling_weights.horvitz_thompson": lambda f, d: f(
        d.reference, inclusion=np.full(d.n, 0.5), judged=2 * d.n
    ),
    "ranking.rank_sets": lambda f, d: f(d.rates, names=("a", "b"), seed=0, resamples=50),
    "raters.rater_components": lambda f, d: f(d.ratings),
    "raters.severity": lambda f, d: f(d.ratings, seed=0, permutations=20),
    "raters.leave_one_rater_out": lambda f, d: f(d.ratings),
    "rater_groups.agreement_between": lambda f, d: f(d.ratings),
    "rater_groups.rater_groups": lambda f, d: f(d.ratings),
    "ratios.ratio": lambda f, d: f(d.reference, clusters=d.clusters),
    "response_sets.multilabel": lambda f, d: f(d.ratings),
    "response_sets.forced_choice": lambda f, d: f(d.ratings),
    "response_sets.multilabel_of_sets": lambda f, d: f(_sets(d)),
    "response_sets.reconstruct": lambda f, d: f(d.shares, choices=[0, 1], sets=[[1, 0], [1, 1]]),
    "response_sets.pass_rate_bounds": lambda f, d: f(d.ratings),
    "response_sets.within_rater": lambda f, d: f(d.ratings),
    "response_sets.between_raters": lambda f, d: f(d.ratings),
    "retest.retest": lambda f, d: f(d.binary),
    "retest.retest_by": lambda f, d: f(d.binary, strata=d.groups),
    "retest.flip_rates": lambda f, d: f(d.binary),
    "rogan_gladen.rogan_gladen": lambda f, d: f(**_judged(d), errors=_errors(d)),
    "rogan_gladen.rate_bounds": lambda f, d: f(**_judged(d), sensitivity=(0.8, 0.9), specificity=(0.8, 0.9)),
    "self_preference.self_preference": lambda f, d: f(
        judge=d.judge, human=d.reference, kinship=_kinship(d), metric=d.clusters
    ),
    "self_preference.rate_gap": lambda f, d: f(_counts(d), _counts(d)),
    "share_evidence.indeterminacy": lambda f, d: f({"m": _marked(d)}),
    "share_evidence.construct": lambda f, d: f({"m": (0, len(d.both[0]), 0)}),
    "share_evidence.saturation": lambda f, d: f({"m": (int(sum(d.both[0])), len(d.both[0]))}),
    "share_evidence.differential_error": lambda f, d: f({"m": (*_counts(d), *_counts(d))}),
    "shrinkage.shrink": lambda f, d: (f([], trials=[]), f([_counts(d)[0]], trials=[_counts(d)[1]])),
    "shrinkage.maximum_likelihood": lambda f, d: f([_counts(d)[0]] * 2, trials=[_counts(d)[1]] * 2),
    "stability.stability": lambda f, d: f(
        d.both[0], names=range(len(d.both[0])), perturbations={"judge": d.both[1]}
    ),
    "stability.reweightings": lambda f, d: f(np.array(d.both).T, draws=3, seed=0),
    "stability.leave_one_out": lambda f, d: f(np.array(d.both).T, names=range(len(d.both[0]))),
    "two_raters.prevalence_index": lambda f, d: f(d.binary),
    "two_raters.bias_index": lambda f, d: f(d.binary),
    "variance_components.variance_components": lambda f, d: f(
        _frame(d), value="present", levels=("metric", "item")
    ),
}


COHEN = ("unweighted", "linear", "quadratic")


def _module(name: str) -> Any:
    return importlib.import_module(f"validation.{name}")
