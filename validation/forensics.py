"""What a published agreement figure implies: the tables, designs and rates that are compatible with it.

Published figures are rounded counts. Enumerating the counts that round to them shows what the paper does not say,
and whether two figures can stand side by side at all.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from validation.arguments import require_at_least, require_share
from validation.intervals import Z, wilson
from validation.item_sums import quotient
from validation.judge_accuracy import JudgeAccuracy, judge_accuracy
from validation.results import Estimate

LARGEST_N = 2000
"""Enumeration is quadratic in n: above this a table is pinned down by nothing anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompatibleTables:
    """Every 2 x 2 table of `n` items that rounds to a published agreement and kappa."""

    tables: NDArray[np.int64]
    """(tables, 4): both pass, human pass and judge fail, human fail and judge pass, both fail."""
    n: int
    """Items in each table."""
    agreement: Estimate
    """The published agreement with the Wilson interval that it deserves."""
    kappa: Estimate
    """The published kappa with the large-sample interval (conditional on the margins that it implies)."""
    expected_agreement: tuple[float, float] | None
    """Smallest and largest chance agreement among the tables."""
    sensitivity: tuple[float, float] | None
    """Smallest and largest sensitivity among the tables."""
    specificity: tuple[float, float] | None
    """Smallest and largest specificity among the tables."""

    @property
    def possible(self) -> bool:
        """Whether any table is compatible with the two figures."""
        return len(self.tables) > 0

    @property
    def rates(self) -> NDArray[np.float64]:
        """(tables, 2): sensitivity and specificity of each table, nan where nobody passes, or nobody fails."""
        tp, fn, fp, tn = self.tables.T.astype(np.float64)
        return np.stack([quotient(tp, tp + fn), quotient(tn, tn + fp)], axis=1)


def compatible_tables(*, n: int, agreement: float, kappa: float, decimals: int = 3) -> CompatibleTables:
    """The 2 x 2 tables of `n` items whose agreement and kappa round to the published ones.

    An empty answer means that the two figures cannot come from n items.

    Args:
        n: items.
        agreement: the published share of items on which both agree, between 0 and 1.
        kappa: the published Cohen kappa.
        decimals: decimals to which both were rounded.

    Raises:
        ValueError: n is not between 1 and `LARGEST_N`, or the agreement is not a share.

    >>> found = compatible_tables(n=36, agreement=0.833, kappa=0.667)
    >>> len(found.tables), [round(end, 3) for end in found.sensitivity]
    (13, [0.667, 1.0])
    >>> compatible_tables(n=40, agreement=0.833, kappa=0.667).possible
    False
    """
    if not 1 <= n <= LARGEST_N:
        raise ValueError(f"n={n!r} must be between 1 and {LARGEST_N}")
    require_share("agreement", agreement)
    half_unit = 0.5 * 10.0**-decimals + 1e-12
    tables = np.concatenate(
        [_tables_with(n, errors) for errors in _error_counts(n, agreement, half_unit)]
        or [np.empty((0, 4), dtype=np.int64)]
    )
    expected, table_kappa = _chance_and_kappa(tables, n)
    fits = np.abs(table_kappa - kappa) <= half_unit
    tables, expected = tables[fits], expected[fits]
    tp, fn, fp, tn = tables.T
    return CompatibleTables(
        tables=tables,
        n=n,
        agreement=_published_share(agreement, n),
        kappa=_published_kappa(kappa, agreement, expected, n),
        expected_agreement=_range(expected),
        sensitivity=_range(_ratio(tp, tp + fn)),
        specificity=_range(_ratio(tn, tn + fp)),
    )


def compatible_sizes(*, agreement: float, kappa: float, largest: int, decimals: int = 3) -> list[int]:
    """The numbers of items, up to `largest`, from which both published figures can come.

    >>> compatible_sizes(agreement=0.833, kappa=0.667, largest=30)
    [6, 12, 18, 24, 30]
    """
    return [
        n
        for n in range(1, largest + 1)
        if compatible_tables(n=n, agreement=agreement, kappa=kappa, decimals=decimals).possible
    ]


def published_table(
    *, both_pass: int, only_human_passes: int, only_judge_passes: int, both_fail: int
) -> JudgeAccuracy:
    """What a published 2 x 2 table says, with the intervals that its counts deserve if items are independent.

    Raises:
        ValueError: a count below 0, no item at all, or more than `LARGEST_N` items.

    >>> found = published_table(both_pass=15, only_human_passes=3, only_judge_passes=3, both_fail=15)
    >>> round(found.accuracy.value, 3), round(found.kappa.value, 3)
    (0.833, 0.667)
    """
    counts = [both_pass, only_human_passes, only_judge_passes, both_fail]
    if min(counts) < 0 or not 1 <= sum(counts) <= LARGEST_N:
        raise ValueError(f"the counts {counts!r} must be 0 or more and add up to between 1 and {LARGEST_N}")
    return judge_accuracy(np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewDesign:
    """How many raters each metric had, as far as published totals tell."""

    raters_per_metric: tuple[int, ...]
    """Raters of each metric, largest first."""
    n_components: int
    """Connected components of the rater-item graph when no rater did two metrics: severities compare only within
    one."""


def review_designs(
    *, ratings: int, items: int, items_per_metric: int, most_raters: int, fewest_raters: int = 1
) -> list[ReviewDesign]:
    """The nested designs (each rater rates all items of a metric) that give a published number of ratings.

    Args:
        ratings: ratings in all.
        items: distinct items in all.
        items_per_metric: items that each rater of a metric sees.
        most_raters: raters on one metric at most.
        fewest_raters: raters on one metric at least (2 for a set described as "rated by several").

    >>> review_designs(ratings=171, items=36, items_per_metric=9, most_raters=5, fewest_raters=2)
    [ReviewDesign(raters_per_metric=(5, 5, 5, 4), n_components=4)]
    """
    require_at_least("items_per_metric", items_per_metric, 1)
    if items % items_per_metric or ratings % items_per_metric:
        return []
    splits = _partitions(ratings // items_per_metric, items // items_per_metric, most_raters, fewest_raters)
    return [ReviewDesign(raters_per_metric=split, n_components=len(split)) for split in splits]


def implied_test(
    *, difference: float, low: float, high: float, comparisons: int = 1
) -> tuple[float, float, float]:
    """z, the two-sided p and the Bonferroni p that a published difference and its 95% interval imply.

    >>> [round(number, 3) for number in implied_test(difference=2.1, low=0.4, high=3.8, comparisons=45)]
    [2.421, 0.015, 0.696]
    """
    if not low < high:
        raise ValueError(f"the interval [{low!r}, {high!r}] has no width")
    z = difference / ((high - low) / (2 * Z))
    p = 2 * norm.sf(abs(z))
    return float(z), float(p), float(min(1.0, p * comparisons))


def _error_counts(n: int, agreement: float, half_unit: float) -> NDArray[np.int64]:
    errors = np.arange(n + 1)
    return errors[np.abs((n - errors) / n - agreement) <= half_unit]


def _tables_with(n: int, errors: int) -> NDArray[np.int64]:
    tp, fn = np.meshgrid(np.arange(n - errors + 1), np.arange(errors + 1), indexing="ij")
    return np.stack([tp, fn, errors - fn, n - errors - tp], axis=-1).reshape(-1, 4).astype(np.int64)


def _chance_and_kappa(tables: NDArray[np.int64], n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    tp, fn, fp, tn = (tables / n).T
    human, judge = tp + fn, tp + fp
    expected = human * judge + (1 - human) * (1 - judge)
    defined = expected < 1 - 1e-12
    kappa = np.full(len(tables), np.inf)
    kappa[defined] = (tp + tn - expected)[defined] / (1 - expected[defined])
    return expected, kappa


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return part[whole > 0] / whole[whole > 0]


def _range(values: NDArray[np.float64]) -> tuple[float, float] | None:
    return (float(values.min()), float(values.max())) if values.size else None


def _published_share(share: float, n: int) -> Estimate:
    return replace(wilson(round(share * n), n), value=share, method="Wilson, of the published count")


def _published_kappa(kappa: float, agreement: float, expected: NDArray[np.float64], n: int) -> Estimate:
    if not expected.size:
        return Estimate.undefined("no_compatible_table", n=n)
    error = math.sqrt(agreement * (1 - agreement) / n) / (1 - float(expected.mean()))
    half = Z * error
    return Estimate(
        value=kappa,
        low=float(max(-1, kappa - half)),
        high=float(min(1, kappa + half)),
        n=n,
        method="large-sample, at the chance agreement the figures imply",
    )


def _partitions(total: int, parts: int, most: int, fewest: int) -> list[tuple[int, ...]]:
    if parts == 0:
        return [()] if total == 0 else []
    return [
        (first, *rest)
        for first in range(min(most, total), fewest - 1, -1)
        for rest in _partitions(total - first, parts - 1, first, fewest)
    ]
