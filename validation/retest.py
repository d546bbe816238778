"""A judge asked again: how often it changes its mind (what that caps is in `validation.ceilings`).

Takes a `Ratings` whose raters are the runs, in order (the first is the run that was deployed), with the same model, prompt
and parameters and the cache bypassed.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from validation.agreement import (
    brennan_prediger,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from validation.ratings import MISSING, Ratings
from validation.ratios import ratio
from validation.results import Estimate
from validation.shrinkage import Shrinkage, shrink

RESTATES = "with three runs of a binary verdict this restates the unanimous share: 1 - (2/3)(1 - unanimous)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retest:
    """How a judge agrees with itself."""

    unanimous: Estimate
    """Share of items on which all runs agree."""
    flip_rate: Estimate
    """1 - unanimous."""
    decision_flips: Estimate
    """Share of items on which the majority of the runs says otherwise than the first run; a tie is no flip."""
    pairwise: Estimate
    """Mean share of agreeing pairs of runs; with three binary runs it says nothing that `unanimous` does not."""
    kappa: Estimate
    """Fleiss' kappa where every item has as many runs, else nominal alpha; moves with the present rate."""
    ac1: Estimate
    """Gwet's AC1: moves less with the present rate."""
    brennan_prediger: Estimate
    """Brennan and Prediger's kappa: does not move with it."""
    entropy: Estimate
    """Mean entropy of an item's runs in bits; with R runs it takes a few values only."""
    runs: int
    """Runs in the table."""


def retest(runs: Ratings) -> Retest:
    """How a judge agrees with itself over repeated runs.

    Items with fewer than two runs are left out. Where the ratings have clusters (metrics), intervals are over
    clusters.

    Args:
        runs: units are items, raters are runs.
    """
    paired = runs.select(runs.pairable)
    counts, sizes = paired.counts, paired.ratings_per_unit
    top = counts.max(axis=1, initial=0)
    unanimous = ratio(top == sizes, clusters=paired.clusters)
    first = paired.codes[:, 0] if paired.codes.shape[1] else np.empty(0, dtype=np.int64)
    had_first = first != MISSING
    in_first = counts[had_first, first[had_first]]
    clusters = None if paired.clusters is None else paired.clusters[had_first]
    equal_runs = len(set(sizes.tolist())) <= 1
    kappa = fleiss_kappa(paired) if equal_runs else krippendorff_alpha(paired, level="nominal")
    pairwise = percent_agreement(paired)
    restated = len(paired.categories) == 2 and set(sizes.tolist()) == {3}
    shares = counts / np.maximum(sizes, 1)[:, None]
    bits = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=1)
    return Retest(
        unanimous=unanimous,
        flip_rate=unanimous.complement,
        decision_flips=ratio((top[had_first] > in_first) & (2 * top > sizes)[had_first], clusters=clusters),
        pairwise=pairwise.noting(RESTATES) if restated and pairwise.defined else pairwise,
        kappa=kappa if equal_runs else kappa.noting("unequal runs: nominal alpha"),
        ac1=gwet_ac1(paired),
        brennan_prediger=brennan_prediger(paired),
        entropy=ratio(
            bits, clusters=paired.clusters, bounds=(0.0, math.log2(max(len(paired.categories), 2)))
        ),
        runs=runs.codes.shape[1],
    )


def retest_by(runs: Ratings, *, strata: Sequence[Hashable]) -> dict[Hashable, Retest]:
    """The retest of each stratum (polarity, model, age ...), in order of first appearance.

    Args:
        runs: units are items, raters are runs.
        strata: (units,) the stratum of each unit.
    """
    if len(strata) != len(runs.units):
        raise ValueError(f"{len(strata)} strata do not go with {len(runs.units)} units")
    names = dict.fromkeys(strata)
    return {
        name: retest(runs.select(np.array([one == name for one in strata], dtype=np.bool_))) for name in names
    }


def flip_rates(runs: Ratings, *, threshold: float = 0.20) -> Shrinkage:
    """The flip rate of each cluster (metric), partially pooled; `below` is P(flip rate under the threshold).

    Raises:
        ValueError: the ratings have no clusters.
    """
    if runs.clusters is None:
        raise ValueError("runs.clusters=None: flip rates by metric need the cluster of each item")
    paired = runs.pairable
    split = runs.counts.max(axis=1, initial=0) < runs.ratings_per_unit
    groups = runs.n_clusters or 0
    flips = np.bincount(runs.clusters[paired & split], minlength=groups)
    items = np.bincount(runs.clusters[paired], minlength=groups)
    return shrink(flips, trials=items, threshold=threshold)
