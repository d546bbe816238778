"""The two-by-two table of a reference and a judge, with soft cells, and the coefficients that are made of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from statsmodels.stats.inter_rater import cohens_kappa

from validation.arguments import require_one_length
from validation.intervals import FEW_ITEMS, TOO_FEW, jackknife_t_log, jackknife_t_logs
from validation.item_sums import Disagreement, ItemSums, quotient
from validation.results import Estimate
from validation.strata import numbered

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Reference by judge; the cells are sums of weights and need not be whole numbers."""

    true_pass: float
    """Reference pass, judge pass."""
    false_fail: float
    """Reference pass, judge fail."""
    false_pass: float
    """Reference fail, judge pass: the harm."""
    true_fail: float
    """Reference fail, judge fail."""
    n: int
    """Items with both a reference and a verdict."""

    @property
    def table(self) -> Floats:
        """(2, 2): rows reference pass, fail; columns judge pass, fail."""
        return np.array([[self.true_pass, self.false_fail], [self.false_pass, self.true_fail]])


def confusion(reference: ArrayLike, judge_pass: ArrayLike, *, weights: ArrayLike | None = None) -> Confusion:
    """The table of a reference and a judge; items without the one or the other are left out.

    Args:
        reference: (items,) 1 pass, 0 fail, between them soft, nan not available.
        judge_pass: (items,) 1 pass, 0 fail, nan no verdict.
        weights: (items,) such as one over the inclusion probability.

    Raises:
        ValueError: a value outside these, or arrays of different lengths.

    >>> confusion([1, 0, 0.5, 1], [1, 0, 1, float("nan")])
    Confusion(true_pass=1.5, false_fail=0.0, false_pass=0.5, true_fail=1.0, n=3)
    """
    return table_of(item_cells(*checked(reference, judge_pass, weights))[0])


def table_of(cells: Floats) -> Confusion:
    """The table of (items, 4) cells."""
    true_pass, false_fail, false_pass, true_fail = (float(cell) for cell in cells.sum(axis=0))
    return Confusion(
        true_pass=true_pass, false_fail=false_fail, false_pass=false_pass, true_fail=true_fail, n=len(cells)
    )


def checked(
    reference: ArrayLike, judge_pass: ArrayLike, weights: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """The three arrays as floats, once their values make sense."""
    y, j = np.asarray(reference, dtype=np.float64), np.asarray(judge_pass, dtype=np.float64)
    w = np.ones_like(y) if weights is None else np.asarray(weights, dtype=np.float64)
    require_one_length(reference=y, judge_pass=j, weights=w)
    for name, wrong, values in (
        ("a reference lies between 0 and 1", ~(np.isnan(y) | ((y >= 0) & (y <= 1))), y),
        ("a judge verdict is 0 or 1", ~(np.isnan(j) | (j == 0) | (j == 1)), j),
        ("a weight is above 0", ~((w > 0) & np.isfinite(w)), w),
    ):
        if wrong.any():
            item = int(np.argmax(wrong))
            raise ValueError(f"item {item}: {name}, not {values[item]}")
    return y, j, w


def item_cells(y: Floats, j: Floats, w: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """(usable items, 4) cells true pass, false fail, false pass, true fail, and (items,) which items are usable."""
    usable = ~(np.isnan(y) | np.isnan(j))
    y, j, w = y[usable], j[usable], w[usable]
    return np.stack([w * y * j, w * y * (1 - j), w * (1 - y) * j, w * (1 - y) * (1 - j)], axis=1), usable


def kappa_disagreement(cells: Floats) -> tuple[Floats, Floats]:
    """(4, ...) cells to observed and expected disagreement, whose ratio is 1 - kappa."""
    true_pass, false_fail, false_pass, true_fail = cells
    total = cells.sum(axis=0)
    passes, judged = quotient(true_pass + false_fail, total), quotient(true_pass + false_pass, total)
    fails, judged_fail = quotient(false_pass + true_fail, total), quotient(false_fail + true_fail, total)
    return quotient(false_fail + false_pass, total), passes * judged_fail + fails * judged


def mcc_disagreement(cells: Floats) -> tuple[Floats, Floats]:
    """(4, ...) cells to two numbers whose ratio is 1 - MCC, on the scale of kappa's disagreement."""
    true_pass, false_fail, false_pass, true_fail = cells
    squared = cells.sum(axis=0) ** 2
    margins = (
        (true_pass + false_fail)
        * (false_pass + true_fail)
        * (true_pass + false_pass)
        * (false_fail + true_fail)
    )
    spread = np.sqrt(np.maximum(margins, 0))
    agree = np.where(false_fail + false_pass > 0, true_pass * true_fail - false_fail * false_pass, spread)
    return quotient(2 * (spread - agree), squared), quotient(2 * spread, squared)


def kappa(cells: Floats, *, clusters: NDArray[np.generic] | None = None) -> Estimate:
    """Cohen's kappa of (items, 4) cells: 1 no disagreement, 0 as good as chance, below 0 worse.

    Where one side never varies kappa is 0 (and says so); where both are constant and equal it is undefined.
    """
    return _noting_constant(_coefficient(cells, kappa_disagreement, clusters), cells)


def kappas(tables: Sequence[Floats]) -> list[Estimate]:
    """`kappa` of each of many tables of (items, 4) cells; those of one size are computed in one piece."""
    found = [Estimate.undefined("no_items", n=0)] * len(tables)
    alike: dict[int, list[int]] = {}
    for place, cells in enumerate(tables):
        alike.setdefault(len(cells), []).append(place)
    for n, members in alike.items():
        if n:
            sums = _sums(
                np.stack([tables[place] for place in members], axis=1).transpose(2, 1, 0), kappa_disagreement
            )
            for place, one in zip(members, jackknife_t_logs(sums), strict=True):
                one = replace(one, n_ratings=None)
                one = one.noting(*unreliable(n)) if one.low is not None else one
                found[place] = _noting_constant(one, tables[place])
    return found


def _noting_constant(found: Estimate, cells: Floats) -> Estimate:
    sums = cells.sum(axis=0)
    constant = min(sums[0] + sums[1], sums[2] + sums[3], sums[0] + sums[2], sums[1] + sums[3]) == 0
    return found.noting("the judge or the reference never varies") if found.defined and constant else found


def mcc(cells: Floats, *, clusters: NDArray[np.generic] | None = None) -> Estimate:
    """Matthews' correlation of (items, 4) cells: 1 perfect, 0 unrelated, -1 inverted; undefined if a margin is 0."""
    return _coefficient(cells, mcc_disagreement, clusters)


def kappa_large_sample(table: Confusion) -> Estimate:
    """Cohen's kappa with the large-sample interval of Fleiss, Cohen and Everitt, for items that are independent.

    Source: Fleiss, J. L., Cohen, J., and Everitt, B. S., Psychological Bulletin 1969, doi:10.1037/h0028106.

    >>> k = kappa_large_sample(Confusion(true_pass=15, false_fail=3, false_pass=3, true_fail=15, n=36))
    >>> round(k.value, 4), round(k.low, 4), round(k.high, 4)
    (0.6667, 0.4232, 0.9101)
    """
    cells = table.table
    observed, expected = kappa_disagreement(cells.reshape(4))
    if table.n == 0 or not expected > 0:
        return Estimate.undefined("no_variation" if table.n else "no_items", n=table.n)
    if observed in (0, expected):
        value = float(1 - observed / expected)
        return Estimate(value=value, n=table.n, notes=("the large-sample interval has no width here",))
    found = cohens_kappa(cells)
    return Estimate(
        value=float(found.kappa),
        low=max(float(found.kappa_low), -1.0),
        high=min(float(found.kappa_upp), 1.0),
        n=table.n,
        method="Fleiss-Cohen-Everitt",
        notes=unreliable(table.n),
    )


def unreliable(n: int) -> tuple[str, ...]:
    """The note that an interval of a chance-corrected coefficient needs under 30 items."""
    return ("fewer than 30 items: the interval is unreliable",) if n < FEW_ITEMS else ()


def _coefficient(cells: Floats, disagreement: Disagreement, clusters: NDArray[np.generic] | None) -> Estimate:
    n = len(cells)
    sums = _sums(cells.T[:, None, :], disagreement)
    if n == 0:
        return Estimate.undefined("no_items", n=0)
    numbers = None if clusters is None else numbered(clusters)[1].astype(np.int64)
    n_clusters = None if numbers is None else int(numbers.max()) + 1
    found = replace(jackknife_t_log(sums, clusters=numbers), n_ratings=None)
    if found.defined and n_clusters is not None and n_clusters < 2:
        found = replace(
            found,
            low=None,
            high=None,
            method="",
            n_clusters=n_clusters,
            notes=(TOO_FEW.format(n=n_clusters),),
        )
    return found.noting(*unreliable(n)) if found.low is not None else found


def _sums(cells: Floats, disagreement: Disagreement) -> ItemSums:
    """(4, groups, items) cells as the sums of a coefficient."""
    ones = np.ones(cells.shape[1:])
    return ItemSums(
        items=cells,
        times=ones,
        paired=ones,
        ratings=2 * ones,
        disagreement=disagreement,
        largest=np.ones(len(ones)),
    )
