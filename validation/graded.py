"""Two graded scores of the same items, such as the mean of several judges and the mean of several raters."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from validation.agreement import cohen_kappa
from validation.arguments import require_one_length
from validation.intervals import Z
from validation.ratings import Ratings
from validation.ratios import ratio
from validation.results import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedComparison:
    """How two graded scores go together."""

    kappa_quadratic: Estimate
    """Cohen's kappa with quadratic weights, each score taken to the nearest level; halfway, to the lower."""
    pearson: Estimate
    """Correlation of the scores; Fisher's interval."""
    spearman: Estimate
    """Correlation of their ranks; Bonett and Wright's interval."""
    same_side: Estimate
    """Share of items on which both lie on the same side of the threshold; at it counts as below."""
    mean_absolute_difference: Estimate
    """Mean distance of the scores, in units of the scale."""


def compare_graded(
    first: ArrayLike, second: ArrayLike, *, levels: Sequence[float], threshold: float = 0.0
) -> GradedComparison:
    """Compare two scores of the same items; items that lack one are left out.

    Args:
        first, second: (items,) numbers within the levels, nan where there is none.
        levels: the numbers of the scale, ascending.
        threshold: what parts the two sides.

    Raises:
        ValueError: different lengths.

    References:
        Bonett and Wright (2000), Psychometrika 65. doi:10.1007/BF02294183

    >>> found = compare_graded([0.0, 1.0, 1.0, 0.4], [0.0, 1.0, 0.6, 1.0], levels=[0, 0.5, 1], threshold=0.5)
    >>> found.same_side.value, round(found.mean_absolute_difference.value, 2)
    (0.75, 0.25)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    require_one_length(first=a, second=b)
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = a[both], b[both]
    scale = np.asarray(levels, dtype=np.float64)
    pairs = np.stack([_nearest(a, scale), _nearest(b, scale)], axis=1)
    table = Ratings.from_table(pairs.tolist(), categories=scale.tolist())
    span = float(scale[-1] - scale[0])
    return GradedComparison(
        kappa_quadratic=cohen_kappa(table, *table.raters, weights="quadratic")
        if len(a)
        else Estimate.undefined("no_items", n=0),
        pearson=_correlation(a, b, spread=lambda _: 1.0, method="Fisher z"),
        spearman=_correlation(
            stats.rankdata(a), stats.rankdata(b), spread=lambda r: 1 + r * r / 2, method="Bonett-Wright"
        ),
        same_side=ratio((a > threshold) == (b > threshold)),
        mean_absolute_difference=ratio(np.abs(a - b), bounds=(0.0, span)),
    )


def _nearest(scores: Floats, levels: Floats) -> Floats:
    found: Floats = levels[np.abs(scores[:, None] - levels).argmin(axis=1)]
    return found


def _correlation(a: Floats, b: Floats, *, spread: Callable[[float], float], method: str) -> Estimate:
    n = len(a)
    if n < 2:
        return Estimate.undefined("too_few_items", n=n)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return Estimate.undefined("no_variation", n=n)
    value = float(np.clip(np.corrcoef(a, b)[0, 1], -1, 1))
    if n < 4 or abs(value) == 1:
        return Estimate(value=value, n=n, notes=("no interval below four items or at a perfect correlation",))
    half = Z * math.sqrt(spread(value) / (n - 3))
    return Estimate(
        value=value,
        low=math.tanh(math.atanh(value) - half),
        high=math.tanh(math.atanh(value) + half),
        n=n,
        method=method,
    )
