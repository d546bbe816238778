"""Raters compared with each other: who shares items, who leans which way, who agrees with whom.

Words before numbers: raters who differ may hold a coherent view of their own, so look at the groups before calling anyone
an outlier.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import false_discovery_control

from validation.arguments import require_at_least
from validation.intervals import with_t
from validation.item_kinds import kinds_of_items
from validation.item_sums import coefficients_of
from validation.rater_tables import alpha_by_rater, alpha_of_all
from validation.ratings import MISSING, Ratings
from validation.results import Estimate

ROUNDING = 1e-9
"""How far two equal leans may lie apart when they are summed in another order."""


def rater_components(ratings: Ratings) -> NDArray[np.int64]:
    """(raters,): the connected component of the rater-item graph that each rater is in; `MISSING` without a rating.

    Raters in different components share no item, directly or through others: their severity cannot be compared.

    >>> nested = Ratings.from_table([["a", "b", None], ["b", "b", None], [None, None, "a"]], categories=["a", "b"])
    >>> rater_components(nested).tolist()
    [0, 0, 1]
    """
    given = ratings.codes != MISSING
    units, raters = given.shape
    if not given.any():
        return np.full(raters, MISSING, dtype=np.int64)
    rows, columns = np.nonzero(given)
    graph = csr_array((np.ones(len(rows)), (rows, columns + units)), shape=(units + raters, units + raters))
    _, labels = connected_components(graph, directed=False)
    rated = given.any(axis=0)
    found = np.full(raters, MISSING, dtype=np.int64)
    _, found[rated] = np.unique(labels[units:][rated], return_inverse=True)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Severity:
    """How far a rater leans from the others on the items they share."""

    rater: Hashable
    """The rater."""
    lean: Estimate
    """Mean of (own score - mean score of the others): above 0 passes more than the others, below 0 less."""
    shrunken: float | None
    """The same drawn towards 0, as far as it rests on few items."""
    p: float | None
    """Two-sided p by permuting the raters within items."""
    p_adjusted: float | None
    """p adjusted for the number of raters (Benjamini and Hochberg)."""
    component: int
    """Connected component: compare raters only within one."""


def severity(
    ratings: Ratings,
    *,
    seed: int | np.random.Generator,
    scores: Sequence[float] | None = None,
    permutations: int = 2000,
) -> list[Severity]:
    """How far each rater leans, with shrinkage and a permutation test.

    Args:
        ratings: the table.
        seed: of the permutations.
        scores: the score of each category; None spaces them evenly from 0 to 1.
        permutations: of the test.
    """
    require_at_least("permutations", permutations, 1)
    if scores is not None and len(scores) != len(ratings.categories):
        raise ValueError(f"scores={list(scores)!r} do not fit {len(ratings.categories)} categories")
    scale = (
        np.linspace(0, 1, len(ratings.categories)) if scores is None else np.asarray(scores, dtype=np.float64)
    )
    components = rater_components(ratings)
    shared = ratings.codes[ratings.pairable]
    given = shared != MISSING
    y = np.where(given, scale[shared], 0.0)
    apart = _apart_from_others(y, given)
    n = given.sum(axis=0)
    leans = apart.sum(axis=0) / np.maximum(n, 1)
    variances = (given * (apart - leans) ** 2).sum(axis=0) / np.maximum(n - 1, 1) / np.maximum(n, 1)
    p = _permutation_p(
        ratings.counts[ratings.pairable], given, scale, leans, permutations, np.random.default_rng(seed)
    )
    tested = n > 0
    adjusted = np.ones(len(n))
    if tested.any():
        adjusted[tested] = false_discovery_control(p[tested])
    shrunken = _shrunken(leans, variances, n >= 2)
    return [
        Severity(
            rater=rater,
            lean=_lean(leans[r], variances[r], int(n[r])),
            shrunken=float(shrunken[r]) if n[r] >= 2 else None,
            p=float(p[r]) if n[r] else None,
            p_adjusted=float(adjusted[r]) if n[r] else None,
            component=int(components[r]),
        )
        for r, rater in enumerate(ratings.raters)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutRater:
    """Agreement without one rater."""

    alpha: Estimate
    """Alpha of the others."""
    change: float | None
    """Alpha of the others minus alpha of all: above 0, the rater lowers agreement."""


def leave_one_rater_out(ratings: Ratings) -> dict[Hashable, WithoutRater]:
    """Nominal alpha without each rater in turn."""
    if not ratings.raters:
        return {}
    sums = alpha_by_rater(ratings.counts, ratings.codes)
    alphas, pairable = coefficients_of(sums), sums.n_items
    whole = float(coefficients_of(alpha_of_all(ratings.counts))[0])
    found: dict[Hashable, WithoutRater] = {}
    for r, rater in enumerate(ratings.raters):
        n = int(pairable[r])
        if np.isnan(alphas[r]):
            reason = "no_variation" if n else "no_pairable_items"
            found[rater] = WithoutRater(alpha=Estimate.undefined(reason, n=n), change=None)
            continue
        found[rater] = WithoutRater(
            alpha=Estimate(value=float(alphas[r]), n=n, notes=("a comparison with all raters: no interval",)),
            change=None if np.isnan(whole) else float(alphas[r]) - whole,
        )
    return found


def _apart_from_others(y: NDArray[np.float64], given: NDArray[np.bool_]) -> NDArray[np.float64]:
    m = given.sum(axis=-1, keepdims=True)
    total = y.sum(axis=-1, keepdims=True)
    return np.asarray(given * (m * y - total) / np.maximum(m - 1, 1), dtype=np.float64)


def _permutation_p(
    counts: NDArray[np.int64],
    given: NDArray[np.bool_],
    scale: NDArray[np.float64],
    leans: NDArray[np.float64],
    permutations: int,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """(raters,): how often raters who change places within their items lean as far.

    Each of them then says what any rater of the item said, as likely one as another, so that over items rated alike what a
    rater says is multinomial.
    """
    raters = given.shape[1]
    apart = np.zeros((permutations, raters))
    kinds, kind = kinds_of_items(counts)
    for number, (said, alike) in enumerate(zip(kinds, np.bincount(kind), strict=True)):
        items, m = given[kind == number].sum(axis=0), int(said.sum())
        if alike == 1:  # to draw a rating is quicker than to count one draw
            here = np.flatnonzero(items)
            drawn = np.repeat(scale, said)[generator.integers(m, size=(permutations, len(here)))]
        else:
            here = np.arange(raters)
            drawn = generator.multinomial(items, said / m, size=(permutations, raters)) @ scale
        apart[:, here] += (drawn - items[here] * (said @ scale / m)) * m / (m - 1)
    as_far = np.abs(apart) / np.maximum(given.sum(axis=0), 1) >= np.abs(leans) - ROUNDING
    return np.asarray((1 + as_far.sum(axis=0)) / (1 + permutations), dtype=np.float64)


def _shrunken(
    leans: NDArray[np.float64], variances: NDArray[np.float64], usable: NDArray[np.bool_]
) -> NDArray[np.float64]:
    if usable.sum() < 2:
        return leans
    between = max(float((leans[usable] ** 2).mean() - variances[usable].mean()), 0.0)
    total = between + variances
    return np.where(total > 0, leans * between / np.where(total > 0, total, 1), leans)


def _lean(lean: float, variance: float, n: int) -> Estimate:
    if n == 0:
        return Estimate.undefined("no_pairable_items", n=0)
    point = Estimate(value=float(lean), n=n, n_ratings=n)
    if n < 2 or variance <= 0:
        return point.noting("one item: no interval" if n < 2 else "the same on every item: no interval")
    return with_t(point, se=float(np.sqrt(variance)), df=n - 1, method="t over items")
