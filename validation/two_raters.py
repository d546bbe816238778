"""Two raters, two categories: how lopsided the categories are, and how the raters differ.

Both are read beside a kappa: prevalence lowers it, bias raises it (Byrt, Bishop and Carlin 1993).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from validation.intervals import FEW, FEW_CLUSTERS, LEAST_CLUSTERS, LEVEL, ONE_ITEM, TOO_FEW
from validation.ratings import Ratings
from validation.results import Estimate

FloatArray = NDArray[np.float64]


def prevalence_index(ratings: Ratings) -> Estimate:
    """How lopsided the two categories are: |both say one - both say the other| / n.

    0 where both categories are as common, 1 where all agreeing items lie in one. Undefined unless the table has two
    raters and two declared categories.

    Source: Byrt, T., Bishop, J., and Carlin, J. B., Journal of Clinical Epidemiology 1993,
    doi:10.1016/0895-4356(93)90018-V.

    >>> table = [["yes", "yes"]] * 80 + [["yes", "no"]] * 10 + [["no", "yes"]] * 5 + [["no", "no"]] * 5
    >>> prevalence_index(Ratings.from_table(table, categories=["yes", "no"])).value
    0.75
    """
    return _index(ratings, lambda first, second: 1 - first - second)


def bias_index(ratings: Ratings) -> Estimate:
    """How far the raters' shares of a category are apart: |only one says it - only the other does| / n.

    0 where both use the categories as often, 1 where one rater only ever says the one and the other the
    other. Undefined unless the table has two raters and two declared categories.

    Source: Byrt, T., Bishop, J., and Carlin, J. B., Journal of Clinical Epidemiology 1993,
    doi:10.1016/0895-4356(93)90018-V.

    >>> table = [["yes", "yes"]] * 80 + [["yes", "no"]] * 10 + [["no", "yes"]] * 5 + [["no", "no"]] * 5
    >>> bias_index(Ratings.from_table(table, categories=["yes", "no"])).value
    0.05
    """
    return _index(ratings, lambda first, second: first - second)


def _index(ratings: Ratings, signed: Callable[[FloatArray, FloatArray], FloatArray]) -> Estimate:
    """The size of the mean of a signed value of each item (from the two codes), with a t interval folded at 0."""
    if len(ratings.raters) != 2:
        return Estimate.undefined("not_two_raters", n=0)
    if len(ratings.categories) != 2:
        return Estimate.undefined("not_two_categories", n=0)
    paired = ratings.pairable
    n = int(paired.sum())
    if n == 0:
        return Estimate.undefined("no_pairable_items", n=0, n_ratings=0)
    first, second = ratings.codes[paired].T.astype(np.float64)
    value = signed(first, second)
    mean = float(value.mean())
    point = Estimate(value=abs(mean), n=n, n_ratings=2 * n)
    if n == 1:
        return point.noting(ONE_ITEM)
    residual, units = value - mean, n
    notes: tuple[str, ...] = ()
    if ratings.clusters is not None:
        by_cluster = np.unique(ratings.clusters[paired], return_inverse=True)[1]
        clusters = int(by_cluster.max()) + 1
        if clusters >= 2:
            point = replace(point, n_clusters=clusters)
            if clusters < LEAST_CLUSTERS:
                return point.noting(TOO_FEW.format(n=clusters))
            residual, units = np.bincount(by_cluster, residual).astype(np.float64), clusters
            notes = (FEW.format(n=clusters),) if clusters < FEW_CLUSTERS else ()
    tail = (1 - LEVEL) / 2
    if np.ptp(value) == 0:
        # No item differs from the others: the share of items that would is below 1 - .025^(1/n).
        reach = 1 - tail ** (1 / n)
        method = "bound on the share of items unlike these, folded at 0"
    else:
        reach = float(stats.t.isf(tail, units - 1) * np.sqrt(units / (units - 1) * (residual**2).sum()) / n)
        method = "t of the signed mean, folded at 0"
    low, high = max(mean - reach, -1.0), min(mean + reach, 1.0)
    return replace(
        point,
        low=0.0 if low <= 0 <= high else min(abs(low), abs(high)),
        high=max(abs(low), abs(high)),
        method=method,
        notes=notes,
    )
