"""Coefficients of agreement as functions of sums over items.

Every coefficient here is 1 - observed / expected disagreement, and both depend on the data only through sums over
items. Leaving an item out, drawing items with replacement and weighting them are then one and the same thing: other
weights in one matrix product. The axis of the statistics comes first, so that each statistic lies together in memory.

A disagreement is summed over pairs of different categories only. Where no two categories meet it is an exact zero,
which is how an undefined coefficient (0/0) is told from a defined one.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from numbers import Real
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from validation.strata import numbered

FloatArray = NDArray[np.float64]
Disagreement = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

Level = Literal["nominal", "ordinal", "interval", "ratio"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSums:
    """What a coefficient needs to know of each item, and how sums of it become the coefficient."""

    items: FloatArray
    """(statistics, groups, items): one column an item (or a whole cluster); groups are separate tables."""
    times: FloatArray
    """(groups, items): how many items there are of this column."""
    paired: FloatArray
    """(groups, items): how many items of this column can show disagreement (one, or a cluster's many)."""
    ratings: FloatArray
    """(groups, items): how many ratings those items have."""
    disagreement: Disagreement
    """Sums (statistics, ...) to observed and expected disagreement, each (...); NaN where there is no pair."""
    largest: FloatArray
    """(groups,): the largest disagreement that two ratings can show; the unit of the zero rule."""
    clustered: bool = False
    """Whether a column is a cluster."""

    def total(self) -> FloatArray:
        """(statistics, groups): the sums over all items."""
        total: FloatArray = (self.items * self.times).sum(axis=-1)
        return total

    def coefficient(self, sums: FloatArray) -> FloatArray:
        """Sums (statistics, ...) to the coefficient (...), NaN where it is undefined."""
        observed, expected = self.disagreement(sums)
        return 1 - quotient(observed, expected)

    @property
    def n_items(self) -> FloatArray:
        """(groups,): items that can show disagreement."""
        n: FloatArray = (self.paired * self.times).sum(axis=-1)
        return n

    @property
    def n_ratings(self) -> FloatArray:
        """(groups,): the ratings of those items."""
        n: FloatArray = (self.ratings * self.times).sum(axis=-1)
        return n

    @property
    def n_blocks(self) -> FloatArray:
        """(groups,): columns that can show disagreement: items, or clusters."""
        n: FloatArray = ((self.paired > 0) * self.times).sum(axis=-1)
        return n

    def by_cluster(self, clusters: NDArray[np.int64] | None) -> "ItemSums":
        """The same sums with one column a cluster; as they are where fewer than two clusters hold pairs."""
        if clusters is None or self.clustered:
            return self
        holding, _ = numbered(clusters[(self.paired > 0).any(axis=0)])
        if len(holding) < 2:
            return self
        member = _membership(clusters)
        items = _summed(self.items * self.times, member)
        return replace(
            self,
            items=items,
            times=(items != 0).any(axis=0).astype(np.float64),
            paired=_summed(self.paired * self.times, member),
            ratings=_summed(self.ratings * self.times, member),
            clustered=True,
        )


def _membership(clusters: NDArray[np.int64]) -> csr_array:
    """(clusters, items): 1 where the item lies in the cluster; sparse, for a study has a thousand of them."""
    first, number = numbered(clusters)
    items = np.arange(len(clusters))
    return csr_array((np.ones(len(clusters)), (number, items)), shape=(len(first), len(clusters)))


def _summed(values: FloatArray, member: csr_array) -> FloatArray:
    """(..., items) to (..., clusters): the sum over the items of each cluster."""
    flat = member @ values.reshape(-1, values.shape[-1]).T
    return np.ascontiguousarray(flat.T).reshape(*values.shape[:-1], member.shape[0])


def quotient(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """The ratio, NaN where the denominator is not above zero."""
    shapes = np.shape(numerator), np.shape(denominator)
    ratio = np.full(shapes[0] if shapes[0] == shapes[1] else np.broadcast_shapes(*shapes), np.nan)
    np.divide(numerator, denominator, out=ratio, where=np.asarray(denominator) > 0)
    return ratio


def coefficients_of(sums: ItemSums) -> FloatArray:
    """(groups,): the coefficient of each group, NaN where undefined."""
    return sums.coefficient(sums.total())


def scale_values(categories: Sequence[Hashable]) -> list[float]:
    """The categories as numbers where they all are numbers, else their places on the declared scale."""
    numbers = [float(cast(float, c)) for c in categories if isinstance(c, Real)]
    return numbers if len(numbers) == len(categories) else [float(place) for place in range(len(categories))]


def alpha_sums(
    counts: NDArray[np.int64],
    *,
    level: Level,
    values: Sequence[float] | None = None,
    unit_weights: FloatArray | None = None,
) -> ItemSums:
    """Krippendorff's alpha: the values of paired items and the coincidences of different categories.

    Args:
        counts: (items, categories) or (groups, items, categories).
        level: the level of measurement.
        values: the number of each category, for `interval` and `ratio`.
        unit_weights: (items,) weights of the items, such as one over their inclusion probability.
    """
    n, m, paired = by_category(counts)
    n *= paired
    pairs = list(combinations(range(len(n)), 2))
    per_value = paired / np.maximum(m - 1, 1)
    if level == "nominal":
        # All pairs of categories are equally far apart, so one sum does for all of them.
        together = [((m * paired) ** 2 - (n**2).sum(axis=0)) / 2 * per_value]
    else:
        together = [n[c] * n[k] * per_value for c, k in pairs]

    def distances(n_of: FloatArray) -> Sequence[FloatArray | float]:
        match level:
            case "nominal":
                return [1.0] * len(pairs)
            case "ordinal":
                rank = np.cumsum(n_of, axis=0) - n_of / 2
                return [(rank[c] - rank[k]) ** 2 for c, k in pairs]
            case "interval":
                return [(v[c] - v[k]) ** 2 for c, k in pairs]
            case "ratio":
                return [((v[c] - v[k]) / (v[c] + v[k])) ** 2 if v[c] + v[k] else 0.0 for c, k in pairs]
            case _:
                raise ValueError(f"level must be one of {', '.join(get_args(Level))}, not {level!r}")

    v = np.arange(len(n), dtype=np.float64) if values is None else np.asarray(values, dtype=np.float64)

    def disagreement(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        n_of, together_of = sums[: len(n)], sums[len(n) :]
        total = n_of.sum(axis=0)
        if level == "nominal":
            observed = together_of[0]
            expected = sum((n_of[c] * n_of[k] for c, k in pairs), np.zeros_like(total))
        else:
            observed, expected = np.zeros_like(total), np.zeros_like(total)
            for (c, k), o, distance in zip(pairs, together_of, distances(n_of), strict=True):
                observed = observed + o * distance
                expected = expected + n_of[c] * n_of[k] * distance
        return quotient(2 * observed, total), quotient(2 * expected, total * (total - 1))

    sums = item_sums_of(
        np.concatenate([n, *(t[None] for t in together)]), m, paired, disagreement, unit_weights
    )
    n_total = sums.total()[: len(n)]
    used = n_total > 0
    seen = [d * (used[c] & used[k]) for (c, k), d in zip(pairs, distances(n_total), strict=True)]
    return replace(sums, largest=np.max(seen, axis=0) if seen else np.ones(len(m)))


def by_category(counts: NDArray[np.int64]) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Counts with the categories first, (categories, groups, items); the ratings an item; whether it has two."""
    by_group = counts if counts.ndim == 3 else counts[None]
    n = by_group.transpose(2, 0, 1).astype(np.float64, order="C")
    m = n.sum(axis=0)
    return n, m, m >= 2


def between_categories(apart: FloatArray, meeting: Callable[[int, int], FloatArray]) -> FloatArray:
    """The sum over ordered pairs of different categories of how far they are apart times how often they meet."""
    pairs = [(c, k) for c, k in combinations(range(len(apart)), 2) if apart[c, k]]
    if not pairs:
        return meeting(0, 0) * 0
    terms = [2 * apart[c, k] * meeting(c, k) for c, k in pairs]
    return np.asarray(sum(terms[1:], terms[0]))


def largest_of(apart: FloatArray, used: NDArray[np.bool_]) -> FloatArray:
    """(groups,): the largest disagreement of two categories that are `used` (categories, groups)."""
    largest: FloatArray = np.max(apart[:, :, None] * used[:, None] * used[None], axis=(0, 1), initial=0)
    return largest


def item_sums_of(
    items: FloatArray,
    m: FloatArray,
    paired: NDArray[np.bool_],
    disagreement: Disagreement,
    unit_weights: FloatArray | None,
) -> ItemSums:
    """The sums of items that count once each, or by their weights."""
    if unit_weights is not None:
        weights = np.broadcast_to(unit_weights, m.shape)
        items, paired = items * weights, paired & (weights > 0)
    return ItemSums(
        items=items,
        times=np.ones_like(m),
        paired=paired.astype(np.float64),
        ratings=m * paired,
        disagreement=disagreement,
        largest=np.ones(len(m)),
    )
