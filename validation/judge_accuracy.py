"""How far a judge's pass or fail can be trusted, measured against a reference.

The positive class is a reference *pass*. False passes are the harm, so the error rates of both classes are given.
Soft references (0.5, or a mean of labels) make fractional cells.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.arguments import require_one_length
from validation.confusion import (
    Confusion,
    checked,
    item_cells,
    kappa,
    kappa_large_sample,
    mcc,
    table_of,
)
from validation.item_sums import quotient
from validation.missing_verdicts import MissingVerdicts, missing_verdicts
from validation.pooling import Resampling, cluster_sums, jackknife, open_clusters, settled
from validation.ratios import open_ratio, ratio, ratios_of_groups
from validation.results import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAccuracy:
    """A judge against a reference."""

    table: Confusion
    """The cells that everything below is made of."""
    accuracy: Estimate
    """Share of items on which judge and reference agree."""
    kappa: Estimate
    """Cohen's kappa: 1 no disagreement, 0 as by chance. Interval: jackknife of log(1 - kappa), by cluster if any."""
    kappa_large_sample: Estimate
    """The same kappa with the interval of Fleiss, Cohen and Everitt, which takes items as independent."""
    kappa_ceiling: Estimate
    """The kappa of a judge that gives the nearer verdict everywhere: below 1 where references are soft."""
    mcc: Estimate
    """Matthews' correlation coefficient."""
    sensitivity: Estimate
    """Share of reference passes that the judge passes."""
    specificity: Estimate
    """Share of reference fails that the judge fails."""
    ppv: Estimate
    """Share of judge passes that the reference passes."""
    npv: Estimate
    """Share of judge fails that the reference fails."""
    balanced_accuracy: Estimate
    """Mean of sensitivity and specificity."""
    false_pass_rate: Estimate
    """Share of reference fails that the judge passes (1 - specificity)."""
    false_fail_rate: Estimate
    """Share of reference passes that the judge fails (1 - sensitivity)."""
    design_effect: Estimate
    """Variance of the accuracy over clusters, divided by that of as many independent items."""
    missing: MissingVerdicts
    """Items that the judge left without a verdict, and what they could have changed."""
    by_cluster: tuple[tuple[Hashable, Estimate], ...]
    """The accuracy within each cluster: the points to show where clusters are too few to pool."""


def judge_accuracy(
    reference: ArrayLike,
    judge_pass: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    policy: str | None = None,
    seed: int = 0,
) -> JudgeAccuracy:
    """Accuracy, chance-corrected agreement and error rates of a judge.

    Items without a reference or a verdict are left out; missing verdicts are counted and bounded. Without clusters
    the shares have Wilson's interval (Clopper-Pearson under ten items). With ten clusters or more they have a
    percentile bootstrap of clusters, all with the same draws; with five to nine a t interval; with fewer none.

    Args:
        reference: (items,) 1 pass, 0 fail, between them soft, nan not available; see `mapping.reference`.
        judge_pass: (items,) 1 pass, 0 fail, nan no verdict.
        clusters: (items,) the metric of each item.
        strata: (items,) the design stratum of each metric; metrics are drawn within strata.
        weights: (items,) one over the inclusion probability, where the review was not self-weighting.
        policy: the name of the policy behind the reference; carried into every estimate.
        seed: of the bootstrap.

    Raises:
        ValueError: a value outside these, or arrays of different lengths.

    Source: Chicco, D., and Jurman, G., BMC Genomics 2020, doi:10.1186/s12864-019-6413-7.

    >>> truth, judge = [1] * 18 + [0] * 18, [1] * 15 + [0] * 3 + [1] * 3 + [0] * 15
    >>> found = judge_accuracy(truth, judge)
    >>> round(found.accuracy.value, 4), round(found.mcc.value, 4), round(found.sensitivity.low, 4)
    (0.8333, 0.6667, 0.6078)
    """
    y, j, w = checked(reference, judge_pass, weights)
    require_one_length(reference=y, clusters=clusters, strata=strata)
    cells, usable = item_cells(y, j, w)
    group = None if clusters is None else np.asarray(clusters)[usable]
    stratum = None if strata is None else np.asarray(strata)[usable]
    table = table_of(cells)
    open_rates = {name: rate() for name, rate in _rates(cells, group, stratum, seed).items()}
    rates = {
        **dict(zip(open_rates, settled(list(open_rates.values())), strict=True)),
        "kappa_large_sample": kappa_large_sample(table),
        "kappa_ceiling": kappa(_nearest(y, j, w), clusters=group),
        "design_effect": _design_effect(cells, group, stratum),
    }
    return JudgeAccuracy(
        table=table,
        missing=missing_verdicts(y, j),
        by_cluster=() if group is None else accuracy_by_cluster(cells, group, policy),
        **{name: replace(rate, policy=policy) for name, rate in rates.items()},
    )


def some_rates(
    references: Sequence[ArrayLike],
    judge_pass: ArrayLike,
    names: Sequence[str],
    *,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    seed: int = 0,
) -> list[tuple[Confusion, dict[str, Estimate]]]:
    """For each of several references the table and some of the figures of `judge_accuracy` by name.

    >>> (table, found), = some_rates([[1, 1, 0, 0]], [1, 1, 0, 1], ["accuracy", "specificity"])
    >>> table.n, found["accuracy"].value, found["specificity"].value
    (4, 0.75, 0.5)
    """
    tables: dict[bytes, Confusion] = {}
    rates: dict[tuple[bytes, str], Estimate | Resampling] = {}
    every = [checked(reference, judge_pass, None) for reference in references]
    # Readings of the same labels are often alike in what they say of every item.
    said = [y.tobytes() for y, _, _ in every]
    for key, (y, j, w) in zip(said, every, strict=True):
        if key in tables:
            continue
        require_one_length(reference=y, clusters=clusters, strata=strata)
        cells, usable = item_cells(y, j, w)
        group = None if clusters is None else np.asarray(clusters)[usable]
        stratum = None if strata is None else np.asarray(strata)[usable]
        of = _rates(cells, group, stratum, seed)
        tables[key] = table_of(cells)
        rates |= {(key, name): of[name]() for name in names}
    found = dict(zip(rates, settled(list(rates.values())), strict=True))
    return [(tables[key], {name: found[key, name] for name in names}) for key in said]


def _rates(
    cells: Floats, group: NDArray[np.generic] | None, stratum: NDArray[np.generic] | None, seed: int
) -> dict[str, Callable[[], Estimate | Resampling]]:
    """What the cells alone decide, by name; each is computed when it is called."""
    hits, false_fails, false_passes, true_fails = cells.T
    passes, fails = hits + false_fails, false_passes + true_fails
    of = partial(open_ratio, clusters=group, strata=stratum, seed=seed)
    return {
        "accuracy": partial(of, hits + true_fails, cells.sum(axis=1)),
        "sensitivity": partial(_of_class, of, hits, passes),
        "specificity": partial(_of_class, of, true_fails, fails),
        "ppv": partial(_of_class, of, hits, hits + false_passes),
        "npv": partial(_of_class, of, true_fails, false_fails + true_fails),
        "false_pass_rate": partial(_of_class, of, false_passes, fails),
        "false_fail_rate": partial(_of_class, of, false_fails, passes),
        "balanced_accuracy": partial(_balanced, cells, group, stratum, seed),
        "kappa": partial(kappa, cells, clusters=group),
        "mcc": partial(mcc, cells, clusters=group),
    }


def _of_class(
    of: Callable[[Floats, Floats], Estimate | Resampling], top: Floats, bottom: Floats
) -> Estimate | Resampling:
    found = of(top, bottom)
    if isinstance(found, Resampling) or found.defined or len(top) == 0:
        return found
    return Estimate.undefined("one_class_only", n=0)


def _nearest(y: Floats, j: Floats, w: Floats) -> Floats:
    # At one half the judge's own verdict is as near as the other.
    return item_cells(y, np.where(np.isnan(j) | (y == 0.5), j, (y > 0.5).astype(np.float64)), w)[0]


def _balanced(
    cells: Floats, group: NDArray[np.generic] | None, stratum: NDArray[np.generic] | None, seed: int
) -> Estimate | Resampling:
    if len(cells) == 0:
        return Estimate.undefined("no_items", n=0)
    hits, false_fails, false_passes, true_fails = cells.T
    passed, failed = ratio(hits, hits + false_fails), ratio(true_fails, false_passes + true_fails)
    if not (passed.defined and failed.defined):
        return Estimate.undefined("one_class_only", n=len(cells))
    alone = _mean_of_two(passed, failed, n=len(cells))
    if group is None:
        return alone
    return open_clusters(
        cells, statistic=_balanced_of, alone=alone, clusters=group, strata=stratum, seed=seed
    )


def _balanced_of(sums: Floats) -> Floats:
    hits, false_fails, false_passes, true_fails = np.moveaxis(sums, -1, 0)
    return (quotient(hits, hits + false_fails) + quotient(true_fails, false_passes + true_fails)) / 2


def _mean_of_two(a: Estimate, b: Estimate, *, n: int) -> Estimate:
    """Zou and Donner's interval (2008) of a mean of two independent shares, from the intervals of each."""
    (p, p_low, p_high), (q, q_low, q_high) = ((e.value or 0.0, e.low or 0.0, e.high or 0.0) for e in (a, b))
    return Estimate(
        value=(p + q) / 2,
        low=(p + q) / 2 - float(np.hypot(p - p_low, q - q_low)) / 2,
        high=(p + q) / 2 + float(np.hypot(p_high - p, q_high - q)) / 2,
        n=n,
        method=f"Zou-Donner of two {a.method.split(',')[0]} intervals",
    )


def _design_effect(
    cells: Floats, group: NDArray[np.generic] | None, stratum: NDArray[np.generic] | None
) -> Estimate:
    n = len(cells)
    if group is None or n == 0:
        return Estimate.undefined("no_clusters" if n else "no_items", n=n)
    weight = cells.sum(axis=1)
    right = cells[:, 0] + cells[:, 3]
    accuracy = float(right.sum() / weight.sum())
    sums, strata, _ = cluster_sums(np.stack([right, weight], axis=1), group, stratum)
    if len(sums) < 2:
        return Estimate.undefined("too_few_clusters", n=n)
    if accuracy in (0.0, 1.0):
        return Estimate.undefined("no_variation", n=n)
    se, _ = jackknife(sums, lambda total: quotient(total[..., 0], total[..., 1]), strata)
    effective = float(weight.sum() ** 2 / (weight**2).sum())
    return Estimate(
        value=se**2 / (accuracy * (1 - accuracy) / effective),
        n=n,
        n_clusters=len(sums),
        method="squared standard error over clusters / p(1-p)/n; no interval",
    )


def accuracy_by_cluster(
    cells: Floats, group: NDArray[np.generic], policy: str | None
) -> tuple[tuple[Hashable, Estimate], ...]:
    """The accuracy of (items, 4) cells within each cluster, in the order of their first appearance."""
    return ratios_of_groups(cells[:, 0] + cells[:, 3], cells.sum(axis=1), group, policy=policy)
