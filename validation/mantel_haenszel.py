"""Own-family items against others within metrics: Mantel and Haenszel's odds ratio and risk difference."""

import math

import numpy as np
from numpy.typing import NDArray
from statsmodels.stats.contingency_tables import StratifiedTable

from validation.intervals import with_t
from validation.results import Estimate

Floats = NDArray[np.float64]


def odds_ratio(judge: Floats, human: Floats, own: NDArray[np.bool_], strata: NDArray[np.int64]) -> Estimate:
    """Odds of a judge's pass, own to other, within metric and human label: 1 no preference, above 1 favours its own.

    Source: Mantel, N., and Haenszel, W., Journal of the National Cancer Institute 1959; Robins, Breslow and Greenland
    1986 for the interval.
    """
    size = 2 * int(strata.max(initial=0)) + 2
    table = _tables(judge, 1 - human, own, 2 * strata, size) + _tables(
        judge, human, own, 2 * strata + 1, size
    )
    n = len(judge)
    informative = (table.sum(axis=1) > 0).all(axis=1) & (table.sum(axis=2) > 0).all(axis=1)
    if not informative.any():
        return Estimate.undefined("no_variation", n=n)
    pooled = StratifiedTable(np.moveaxis(table[informative], 0, -1))
    total = table[informative].sum(axis=(1, 2))
    against = (table[informative][:, 0, 1] * table[informative][:, 1, 0] / total).sum()
    if against == 0 or pooled.oddsratio_pooled == 0:
        return Estimate.undefined("separation", n=n)
    low, high = pooled.oddsratio_pooled_confint()
    return Estimate(
        value=float(pooled.oddsratio_pooled),
        low=float(low),
        high=float(high),
        n=n,
        n_clusters=len(np.unique(strata)),
        method="Mantel-Haenszel, Robins-Breslow-Greenland",
    )


def _tables(
    judge: Floats, weight: Floats, own: NDArray[np.bool_], strata: NDArray[np.int64], size: int
) -> Floats:
    """(strata, own or other, judge passes or fails): sums of weights."""
    table = np.zeros((size, 2, 2))
    np.add.at(table, (strata, (~own).astype(int), (judge == 0).astype(int)), weight)
    return table


def risk_difference(
    judge: Floats, weight: Floats, own: NDArray[np.bool_], strata: NDArray[np.int64]
) -> Estimate:
    """Difference of the shares that the judge passes, own minus other, among items weighted by `weight`.

    Source: Sato, T., Biometrics 1989, for the variance.
    """
    table = _tables(judge, weight, own, strata, int(strata.max(initial=0)) + 1)
    sizes = table.sum(axis=2)
    both = (sizes > 0).all(axis=1)
    n = round(float(weight.sum()))
    if not both.any():
        return Estimate.undefined("no_metric_with_both", n=n)
    own_n, other_n = sizes[both].T
    a, c = table[both, 0, 0], table[both, 1, 0]
    share = own_n * other_n / (own_n + other_n)
    value = float((share * (a / own_n - c / other_n)).sum() / share.sum())
    # Sato's variance stays valid both for few large and for many sparse strata.
    total = own_n + other_n
    p = (own_n**2 * c - other_n**2 * a + own_n * other_n * (other_n - own_n) / 2) / total**2
    q = (a * (other_n - c) + c * (own_n - a)) / (2 * total)
    variance = float((value * p.sum() + q.sum()) / share.sum() ** 2)
    point = Estimate(value=value, n=n, n_clusters=int(both.sum()))
    error = math.sqrt(max(variance, 0))
    return with_t(point, se=error, df=math.inf, bounds=(-1.0, 1.0), method="Mantel-Haenszel, Sato")
