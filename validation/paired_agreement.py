"""Agreement on the same items before and after something was changed: the difference, with the items as its unit."""

import numpy as np
from numpy.typing import NDArray

from validation.intervals import FEW_ITEMS, TAILS
from validation.item_sums import Level, alpha_sums, coefficients_of
from validation.ratings import Ratings
from validation.results import Estimate

DRAWS = 4000


def alpha_change(before: Ratings, after: Ratings, *, seed: int, level: Level = "ordinal") -> Estimate:
    """Krippendorff's alpha after minus alpha before, over the items that can show disagreement both times.

    Above 0, agreement has risen. The interval is the Bayesian bootstrap over the shared items: the same weights before
    and after, so that hard items weigh alike on both sides.

    Args:
        before, after: ratings in the same categories; units are matched by their names.
        seed: of the Dirichlet weights.
        level: of the alphas.

    Raises:
        ValueError: the categories differ.

    Source: Rubin, D. B., Annals of Statistics 1981, doi:10.1214/aos/1176345338.

    >>> pairs = {"split": ["a", "b"], "first": ["a", "a"], "second": ["b", "b"]}
    >>> def table(kinds):
    ...     return Ratings.from_table([pairs[kind] for kind in kinds], categories=["a", "b"])
    >>> clearer = alpha_change(table(["split", "first", "split", "second"] * 3), table(["first", "first", "second", "second"] * 3), seed=1)
    >>> round(clearer.value, 2), clearer.low > 0
    (0.96, True)
    """
    if before.categories != after.categories:
        raise ValueError(f"categories {before.categories!r} before and {after.categories!r} after")
    shared = [unit for unit in _paired(before) if unit in set(_paired(after))]
    n = len(shared)
    if n == 0:
        return Estimate.undefined("no_pairable_items", n=0)
    first, second = _counts(before, shared), _counts(after, shared)
    ratings = int(first.sum() + second.sum())
    weights = np.random.default_rng(seed).dirichlet(np.ones(n), size=DRAWS) * n
    points, drawn = [], []
    for counts in (first, second):
        sums = alpha_sums(counts, level=level)
        points.append(float(coefficients_of(sums)[0]))
        drawn.append(sums.coefficient(sums.items[:, 0] @ weights.T))
    if np.isnan(points).any():
        return Estimate.undefined("no_variation", n=n, n_ratings=ratings)
    value = points[1] - points[0]
    if n < 2:
        return Estimate(value=value, n=n, n_ratings=ratings, notes=("one item: no interval",))
    low, high = np.nanquantile(drawn[1] - drawn[0], TAILS)
    return Estimate(
        value=value,
        low=float(min(low, value)),
        high=float(max(high, value)),
        n=n,
        n_ratings=ratings,
        method=f"{level} alpha, Bayesian bootstrap over the same items",
        notes=("fewer than 30 items: the interval is not to be relied on",) if n < FEW_ITEMS else (),
    )


def _paired(ratings: Ratings) -> list[object]:
    return [unit for unit, paired in zip(ratings.units, ratings.pairable, strict=True) if paired]


def _counts(ratings: Ratings, units: list[object]) -> NDArray[np.int64]:
    place = {unit: row for row, unit in enumerate(ratings.units)}
    return ratings.counts[[place[unit] for unit in units]]
