"""Ratios of sums over items (shares, means, error rates), with the interval that their design allows.

Items alone get Wilson's interval (Clopper-Pearson under ten); clusters are pooled as `validation.pooling` says.
"""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from validation.arguments import require_one_length
from validation.intervals import LEAST_CLUSTERS, clopper_pearson, wilson, with_t
from validation.item_sums import quotient
from validation.pooling import DRAWS, Resampling, open_clusters, settled
from validation.results import Estimate

Floats = NDArray[np.float64]

FEWEST_FOR_WILSON = 10


def ratio(
    numerator: ArrayLike,
    denominator: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    fewest_clusters: int = LEAST_CLUSTERS,
    seed: int = 0,
    draws: int = DRAWS,
    policy: str | None = None,
) -> Estimate:
    """The ratio sum(numerator) / sum(denominator): a share, a mean, or a weighted one.

    Args:
        numerator: (items,) what counts; items with a denominator of 0 or nan are left out.
        denominator: (items,) out of how much, weights included; ones by default.
        clusters: (items,) cluster of each item; None where items are independent.
        strata: (items,) design stratum of each item's cluster; clusters are drawn within strata.
        bounds: the least and the largest value that the ratio can have.
        fewest_clusters: with fewer clusters there is no pooled interval.
        seed: of the bootstrap. Equal seeds draw equal clusters, so that ratios of one table stay paired.
        draws: resamples.
        policy: carried into the estimate.

    Raises:
        ValueError: the arrays differ in length.

    >>> agreement = ratio([1] * 30 + [0] * 6)
    >>> round(agreement.value, 4), round(agreement.low, 4), round(agreement.high, 4)
    (0.8333, 0.6811, 0.9213)
    """
    return settled(
        [
            open_ratio(
                numerator,
                denominator,
                clusters=clusters,
                strata=strata,
                bounds=bounds,
                fewest_clusters=fewest_clusters,
                seed=seed,
                draws=draws,
                policy=policy,
            )
        ]
    )[0]


def open_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    fewest_clusters: int = LEAST_CLUSTERS,
    seed: int = 0,
    draws: int = DRAWS,
    policy: str | None = None,
) -> Estimate | Resampling:
    """As `ratio`, but where it has to be resampled that is left to `settled`, which does so for many ratios at once."""
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.ones_like(top) if denominator is None else np.asarray(denominator, dtype=np.float64)
    require_one_length(numerator=top, denominator=bottom, clusters=clusters, strata=strata)
    kept = (np.nan_to_num(bottom) > 0) & ~np.isnan(top)
    top, bottom = top[kept], bottom[kept]
    if len(top) == 0:
        return Estimate.undefined("no_items", n=0, policy=policy)
    alone = of_items(top, bottom, bounds=bounds, policy=policy)
    if clusters is None:
        return alone
    return open_clusters(
        np.stack([top, bottom], axis=1),
        statistic=lambda sums: quotient(sums[..., 0], sums[..., 1]),
        alone=alone,
        clusters=np.asarray(clusters)[kept],
        strata=None if strata is None else np.asarray(strata)[kept],
        bounds=bounds,
        fewest_clusters=fewest_clusters,
        seed=seed,
        draws=draws,
    )


def of_items(top: Floats, bottom: Floats, *, bounds: tuple[float, float], policy: str | None) -> Estimate:
    """A ratio over independent items; unequal weights count as their effective number (Kish 1965)."""
    n, value = len(top), float(top.sum() / bottom.sum())
    if bounds == (0.0, 1.0):
        return _weighted_share(value, float(bottom.sum()), float((bottom**2).sum()), n=n, policy=policy)
    point = Estimate(value=value, n=n, policy=policy)
    if n < 2:
        return point.noting("one item: no interval")
    residual = top - value * bottom
    se = float(np.sqrt(n / (n - 1) * (residual**2).sum()) / bottom.sum())
    return with_t(point, se=se, df=n - 1, bounds=bounds, method="t of items")


def _weighted_share(value: float, weight: float, squares: float, *, n: int, policy: str | None) -> Estimate:
    found = share(min(max(value, 0.0), 1.0), n=n, effective_n=weight**2 / squares)
    return found if policy is None else replace(found, policy=policy)


def ratios_of_groups(
    numerator: Floats, denominator: Floats, groups: NDArray[np.generic], *, policy: str | None = None
) -> tuple[tuple[Hashable, Estimate], ...]:
    """The `ratio` of independent items within each group, all summed at once, in the order of their first appearance.

    Args:
        numerator: (items,) what counts.
        denominator: (items,) out of how much, above 0.
        groups: (items,).
        policy: carried into the estimates.

    >>> [(name, found.value) for name, found in ratios_of_groups(np.array([1.0, 0, 1]), np.ones(3), np.array([7, 7, 2]))]
    [(7, 0.5), (2, 1.0)]
    """
    number, names = pd.factorize(groups)
    n, weights = np.bincount(number, minlength=len(names)), np.bincount(number, denominator)
    values, squares = np.bincount(number, numerator) / weights, np.bincount(number, denominator**2)
    of_group = zip(values.tolist(), weights.tolist(), squares.tolist(), n.tolist(), strict=True)
    return tuple(
        (name, _weighted_share(value, weight, squared, n=size, policy=policy))
        for name, (value, weight, squared, size) in zip(names.tolist(), of_group, strict=True)
    )


def share(value: float, *, n: int, effective_n: float | None = None) -> Estimate:
    """A share of n items: Wilson from ten items on, Clopper-Pearson under ten; soft counts may be fractions.

    >>> share(1.0, n=9).method, round(share(1.0, n=9).low, 3)
    ('Clopper-Pearson', 0.664)
    """
    worth = float(n) if effective_n is None or abs(effective_n - n) < 1e-9 * n else effective_n
    interval = wilson if worth >= FEWEST_FOR_WILSON else clopper_pearson
    return interval(value * n, n, effective_n=None if worth == n else worth)
