"""The overlap planner: how many raters should rate the same item, and how many items.

Plans, not estimates: the numbers here follow from assumed values, so they are plain numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom, binom

from validation.arguments import require_at_least, require_open_share, require_positive, require_share
from validation.intervals import TAILS, Z

NO_CORRELATION = 1e-6
"""So near to 0 or 1 the beta-binomial loses its digits and its limit is taken."""


def kappa_variance(kappa: float, *, prevalence: float) -> float:
    """The large-sample variance, times the number of items, of the intraclass kappa of two raters and two categories.

    Bloch and Kraemer (1989), Biometrics 45.

    >>> round(kappa_variance(0.6, prevalence=0.5), 3), round(kappa_variance(0.6, prevalence=0.2), 3)
    (0.64, 1.018)
    """
    require_share("kappa", kappa)
    require_open_share("prevalence", prevalence)
    chance = 2 * prevalence * (1 - prevalence)
    return (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + kappa * (2 - kappa) / chance)


def items_for_kappa(kappa: float, *, prevalence: float, half_width: float) -> int:
    """Items that two raters must both rate for a 95% interval of kappa of the wanted half-width.

    >>> [items_for_kappa(0.6, prevalence=0.5, half_width=w) for w in (0.10, 0.15)]
    [246, 109]
    """
    require_positive("half_width", half_width)
    return round((Z / half_width) ** 2 * kappa_variance(kappa, prevalence=prevalence))


def kappa_half_width(
    kappa: float, *, prevalence: float, raters: int, items: int, seed: int, resamples: int = 4000
) -> float | None:
    """Half the width of the 95% interval that a study of `items` items and `raters` raters each may expect.

    Simulated: the passes of an item are beta-binomial with intraclass correlation `kappa`, and the half-width is half
    the distance between the 2.5th and 97.5th percentiles of Fleiss' kappa over simulated studies. None where kappa is
    undefined in most of them (too few items to show both categories).
    """
    require_share("kappa", kappa)
    require_open_share("prevalence", prevalence)
    require_at_least("raters", raters, 2)
    require_at_least("items", items, 1)
    weights = np.random.default_rng(seed).multinomial(
        items, pass_count_pmf(kappa, prevalence, raters), resamples
    )
    return _half_width(_kappas(weights / items, raters), resamples)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapOption:
    """One way to reach the wanted half-width."""

    raters: int
    """Raters on each item."""
    items: int
    """Items needed."""
    ratings: int
    """Ratings in all: raters times items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapPlan:
    """Ways to estimate a chance-corrected agreement to a wanted half-width, and the cheapest."""

    options: tuple[OverlapOption, ...]
    """One for each number of raters, in the order asked for."""
    cheapest: OverlapOption
    """The option with the fewest ratings."""
    half_width: float
    """The half-width of the 95% interval planned for."""


def overlap_plan(
    kappa: float,
    *,
    prevalence: float,
    half_width: float,
    raters: Sequence[int] = (2, 3, 4, 5, 8),
    seed: int,
    resamples: int = 20_000,
) -> OverlapPlan:
    """How many items for each number of raters an item: three or four raters are usually the cheapest overlap.

    Items are found by simulation of whole studies (see `kappa_half_width`), not from a large-sample variance, which
    is too hopeful for a hundred items or fewer.

    Args:
        kappa: the agreement expected, from 0 up to (not including) 1.
        prevalence: the share of passes.
        half_width: the half-width of the 95% interval wanted.
        raters: numbers of raters an item to compare.
        seed: of the simulated studies.
        resamples: simulated studies for each number tried.
    """
    require_positive("half_width", half_width)
    if not raters:
        raise ValueError("raters=() names no number of raters to compare")
    if not 0 <= kappa < 1:
        raise ValueError(f"kappa={kappa!r} must be at least 0 and below 1")
    options = tuple(
        OverlapOption(raters=m, items=items, ratings=m * items)
        for m in raters
        for items in [_items_for(kappa, prevalence, m, half_width, seed, resamples)]
    )
    return OverlapPlan(
        options=options, cheapest=min(options, key=lambda option: option.ratings), half_width=half_width
    )


def pass_count_pmf(kappa: float, prevalence: float, raters: int) -> NDArray[np.float64]:
    """(raters + 1,): how probable each number of passes is on an item: beta-binomial with correlation `kappa`."""
    passes = np.arange(raters + 1)
    if kappa < NO_CORRELATION:
        return np.asarray(binom.pmf(passes, raters, prevalence), dtype=np.float64)
    if kappa > 1 - NO_CORRELATION:
        return np.where(passes == raters, prevalence, np.where(passes == 0, 1 - prevalence, 0.0))
    size = 1 / kappa - 1
    pmf = betabinom.pmf(passes, raters, prevalence * size, (1 - prevalence) * size)
    return np.asarray(pmf / pmf.sum(), dtype=np.float64)


def _kappas(shares: NDArray[np.float64], raters: int) -> NDArray[np.float64]:
    passes = np.arange(raters + 1)
    observed = shares @ (2 * passes * (raters - passes) / (raters * (raters - 1)))
    rate = shares @ (passes / raters)
    expected = 2 * rate * (1 - rate)
    return np.asarray(1 - observed[expected > 0] / expected[expected > 0], dtype=np.float64)


def _half_width(kappas: NDArray[np.float64], resamples: int) -> float | None:
    if kappas.size <= resamples / 2:
        return None
    low, high = np.quantile(kappas, TAILS)
    return float(high - low) / 2


def _items_for(
    kappa: float, prevalence: float, raters: int, half_width: float, seed: int, resamples: int
) -> int:
    items = items_for_kappa(kappa, prevalence=prevalence, half_width=half_width)
    for _ in range(4):  # the half-width goes as one over the root of the items: a few corrections settle it
        width = kappa_half_width(
            kappa, prevalence=prevalence, raters=raters, items=items, seed=seed, resamples=resamples
        )
        if width is None or width == 0:
            return items
        items = max(2, round(items * (width / half_width) ** 2))
    return items
