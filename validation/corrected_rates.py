"""Which correction of a pass rate the labels allow, why, and the corrected rates of groups that follow from it."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.arguments import require_one_length
from validation.borrowed_rates import borrowed_rates
from validation.ppi import ppi_mean
from validation.prevalence import post_stratified
from validation.ratios import share
from validation.results import Estimate
from validation.sampling_weights import verdict_weights

Floats = NDArray[np.float64]

LabelsFrom = Literal["group", "elsewhere", "hand_picked"]
Estimator = Literal["post_stratified", "ppi", "rogan_gladen", "bounds", "borrowed"]

ENOUGH_FOR_PPI = 100
FEWEST_LABELS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An estimator and the reason for it."""

    estimator: Estimator
    """post_stratified and ppi use labels of the group; rogan_gladen error rates of elsewhere; borrowed the errors of
    the other groups; bounds corrects nothing."""
    because: str
    """Why, in words."""
    flag: str | None
    """What a reader must be told beside the number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRate:
    """The corrected pass rate of one group (a model, a model and polarity, ...)."""

    group: Hashable
    choice: Choice
    judge_rate: Estimate
    """The share that the judge passes."""
    rate: Estimate
    """The share that experts would pass."""


def choose_estimator(
    *, labels_from: LabelsFrom, reviewed_pass: int, reviewed_fail: int, soft_scores: bool = False
) -> Choice:
    """The estimator that the situation allows.

    Args:
        labels_from: a probability sample of the group, another source, or items picked by hand.
        reviewed_pass, reviewed_fail: labels among the items that the judge passes, and fails.
        soft_scores: whether the judge gives scores and not verdicts.

    Raises:
        ValueError: an unknown source.

    >>> choose_estimator(labels_from="group", reviewed_pass=30, reviewed_fail=20).estimator
    'post_stratified'
    """
    if labels_from not in get_args(LabelsFrom):
        raise ValueError(f"labels_from must be one of {', '.join(get_args(LabelsFrom))}, not {labels_from!r}")
    if labels_from == "hand_picked":
        return Choice(
            estimator="bounds",
            because="the labels are no probability sample, so nothing identifies the rate",
            flag="no correction: bounds only",
        )
    if labels_from == "elsewhere":
        return Choice(
            estimator="rogan_gladen",
            because="the labels come from elsewhere, so only error rates can be carried over",
            flag="transport assumption: sensitivity and specificity are equal here and there",
        )
    if soft_scores:
        return Choice(
            estimator="ppi", because="the judge gives scores, which verdict strata would waste", flag=None
        )
    if reviewed_pass + reviewed_fail < FEWEST_LABELS or 0 in (reviewed_pass, reviewed_fail):
        return Choice(
            estimator="borrowed",
            because=f"{reviewed_pass} and {reviewed_fail} labels by verdict are too few to stand alone",
            flag="the judge's errors are borrowed from the other groups by partial pooling",
        )
    if min(reviewed_pass, reviewed_fail) >= ENOUGH_FOR_PPI:
        return Choice(
            estimator="ppi",
            because="100 labels or more under each verdict: PPI++ equals post-stratification and takes weights",
            flag=None,
        )
    return Choice(
        estimator="post_stratified",
        because="labels sampled from the group: unbiased whatever the judge's errors, sound near 0 and 1",
        flag=None,
    )


def corrected_rates(
    reference: ArrayLike,
    judge_pass: ArrayLike,
    *,
    groups: ArrayLike,
    inclusion: ArrayLike | None = None,
    superpopulation: bool = False,
    seed: int = 0,
) -> tuple[GroupRate, ...]:
    """The corrected pass rate of every group, from labels that are a probability sample of it.

    Args:
        reference: (items,) expert verdicts of all conversations judged, nan where not reviewed; soft allowed.
        judge_pass: (items,) verdicts; items without one are left out.
        groups: (items,) for instance the model.
        inclusion: (items,) inclusion probabilities of the labels; by default equal within group and verdict.
        superpopulation: whether the conversations are themselves a sample.
        seed: of the draws.

    Raises:
        ValueError: arrays of different lengths, or values that are no verdicts.
    """
    y, j = np.asarray(reference, dtype=np.float64), np.asarray(judge_pass, dtype=np.float64)
    group = np.asarray(groups)
    require_one_length(reference=y, judge_pass=j, groups=group, inclusion=inclusion)
    if not np.isin(j[~np.isnan(j)], (0, 1)).all() or ((y < 0) | (y > 1)).any():
        raise ValueError("verdicts are 0 or 1 (nan where missing), references between 0 and 1")
    weight = np.ones_like(j) if inclusion is None else 1 / np.asarray(inclusion, dtype=np.float64)
    names = list(dict.fromkeys(group.tolist()))
    judged = [(group == name) & ~np.isnan(j) for name in names]
    counts = np.array([_counts(y[rows], j[rows], weight[rows]) for rows in judged]).reshape(-1, 6)
    labels = [
        [int((~np.isnan(y[rows]) & (j[rows] == verdict)).sum()) for verdict in (1, 0)] for rows in judged
    ]
    choices = [choose_estimator(labels_from="group", reviewed_pass=a, reviewed_fail=b) for a, b in labels]
    any_borrowed = any(choice.estimator == "borrowed" for choice in choices)
    lent = borrowed_rates(counts) if any_borrowed else ()

    found = []
    for at, (name, rows, choice) in enumerate(zip(names, judged, choices, strict=True)):
        passes, total, k1, n1, k0, n0 = counts[at]
        match choice.estimator:
            case "ppi":
                rate = _ppi(y[rows], j[rows], None if inclusion is None else weight[rows])
            case "borrowed":
                rate = lent[at]
            case _:
                rate = post_stratified(
                    int(passes),
                    judged=int(total),
                    reviewed_pass=(k1, n1),
                    reviewed_fail=(k0, n0),
                    superpopulation=superpopulation,
                    seed=seed,
                ).rate
        rate = replace(rate, n=sum(labels[at]))
        found.append(
            GroupRate(
                group=name,
                choice=choice,
                judge_rate=share(passes / total, n=int(total))
                if total
                else Estimate.undefined("no_items", n=0),
                rate=rate.noting(choice.flag) if choice.flag and rate.defined else rate,
            )
        )
    return tuple(found)


def _counts(y: Floats, j: Floats, weight: Floats) -> tuple[float, float, float, float, float, float]:
    k1, n1 = _effective(y[j == 1], weight[j == 1])
    k0, n0 = _effective(y[j == 0], weight[j == 0])
    return float((j == 1).sum()), float(len(j)), k1, n1, k0, n0


def _effective(y: Floats, weight: Floats) -> tuple[float, float]:
    """Human passes and reviewed items, at the effective number of unequally weighted labels (Kish 1965)."""
    labelled = ~np.isnan(y)
    w, values = weight[labelled], y[labelled]
    if len(w) == 0:
        return 0.0, 0.0
    n = float(w.sum() ** 2 / (w**2).sum())
    return min(float((w * values).sum() / w.sum()) * n, n), n


def _ppi(y: Floats, j: Floats, weight: Floats | None) -> Estimate:
    labelled = ~np.isnan(y)
    passes, judged = int((j == 1).sum()), len(j)
    w = (
        verdict_weights(j[labelled], judge_passes=passes, judged=judged)
        if weight is None
        else weight[labelled]
    )
    return ppi_mean(y[labelled], predictions=j[labelled], unlabelled=j, weights=w).rate
