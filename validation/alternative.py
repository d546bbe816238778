"""The alternative-annotator test, which asks whether a judge may take the place of a human annotator.

For every annotator: is the judge at least as close to the *other* annotators as this one is, up to a margin epsilon
that pays for the judge being cheaper? The verdict hangs on epsilon, so it is never given without the curve over it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

from validation.arguments import require_share
from validation.ratings import MISSING, Ratings
from validation.ratios import ratio
from validation.results import Estimate

Floats = NDArray[np.float64]

EXPERTS, SKILLED, CROWD = 0.2, 0.15, 0.1
"""Usual margins epsilon by kind of annotator; smaller where annotators agree little."""
FEWEST_ITEMS = 30
FALSE_DISCOVERY_RATE = 0.05
WINNING = 0.5
CURVE = tuple(round(step / 50, 2) for step in range(16))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorTest:
    """The judge against one annotator."""

    rater: Hashable
    n: int
    """Items that the annotator, another one and the judge all rated."""
    advantage: Estimate
    """Share of items on which the judge is at least as close to the others as the annotator is."""
    p_value: Estimate
    """One-sided, of the annotator being better by epsilon or more; undefined where there are too few items."""
    rejected: bool | None
    """Whether that is rejected (Benjamini-Yekutieli over annotators): the judge wins. None: not testable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeTest:
    """Whether the judge may replace an annotator, or why that cannot be asked here."""

    applicable: bool
    """Whether at least one annotator has enough items."""
    reason: str | None
    """Why it is not applicable, in words; None where it is."""
    epsilon: float
    """The margin of `winning_rate` and of the tests."""
    winning_rate: Estimate
    """Omega: share of the testable annotators against whom the judge wins."""
    passes: bool | None
    """Omega of one half or more; None where it is not applicable."""
    advantage: Estimate
    """Rho: mean over testable annotators of the judge's advantage; above 1/2 even where ties are frequent."""
    annotators: tuple[AnnotatorTest, ...]
    """In the order of the ratings."""
    epsilon_curve: tuple[tuple[float, Estimate], ...]
    """Omega for margins from 0 to 0.3: print it whenever omega is printed."""


def alternative_annotator_test(
    ratings: Ratings,
    judge: Sequence[Hashable | None],
    *,
    epsilon: float = EXPERTS,
    values: Sequence[float] | None = None,
    fewest_items: int = FEWEST_ITEMS,
    seed: int = 0,
) -> AlternativeTest:
    """Run the test for one margin and draw the curve over margins.

    Args:
        ratings: labels on the judge's scale (see `on_judge_scale`); its clusters are the unit of rho's interval.
        judge: (units,) the judge's category of each unit, None where it has none.
        epsilon: the margin: 0.2 for experts, 0.15 for skilled annotators, 0.1 for a crowd.
        values: the number of each category, to compare by root mean squared error; by default agreement counts.
        fewest_items: annotators with fewer items are not testable. Under 30 items Wilcoxon's test is used.
        seed: of the bootstrap of rho.

    Raises:
        ValueError: a judge category that is not declared, or a margin outside 0 to 1.

    Source: Calderon, Reichart and Dror, ACL 2025, arXiv:2501.10970.
    """
    require_share("epsilon", epsilon)
    judged = _judge_codes(ratings, judge)
    own, of_judge, usable = _closeness(ratings, judged, values)
    wins = np.where(usable, of_judge >= own, np.nan)
    difference = np.where(usable, (own >= of_judge).astype(float) - wins, np.nan)
    n = usable.sum(axis=0)
    testable = n >= max(fewest_items, 2)

    p_values = _p_values(difference[:, testable], np.array([epsilon, *CURVE]))
    rejected = np.stack([_rejected(p) for p in p_values.T], axis=1) if testable.any() else p_values > 1
    few = ("fewer than 3 annotators: unreliable",) if len(ratings.raters) < 3 else ()
    omegas = [_winning_rate(column, int(n[testable].sum()), few) for column in rejected.T]
    reason = _reason(len(ratings.raters), testable, fewest_items)
    return AlternativeTest(
        applicable=reason is None,
        reason=reason,
        epsilon=epsilon,
        winning_rate=omegas[0],
        passes=None if omegas[0].value is None else omegas[0].value >= WINNING,
        advantage=_advantage(wins[:, testable], ratings.clusters, seed),
        annotators=_annotators(ratings, wins, testable, p_values[:, 0], rejected[:, 0]),
        epsilon_curve=tuple(zip(CURVE, omegas[1:], strict=True)),
    )


def on_judge_scale(ratings: Ratings, *, borderline: Literal["pass", "fail", "drop"]) -> Ratings:
    """Fail / borderline / pass labels as fail / pass, with borderline as one of them or left out.

    >>> on_judge_scale(Ratings.from_table([["pass", "borderline"]], categories=["fail", "borderline", "pass"]),
    ...     borderline="fail").codes.tolist()
    [[1, 0]]
    """
    if borderline not in ("pass", "fail", "drop"):
        raise ValueError(f"borderline must count as pass, fail or drop, not {borderline!r}")
    if strange := set(ratings.categories) - {"fail", "borderline", "pass"}:
        raise ValueError(f"the categories must be fail, borderline, pass; {strange!r} is none of them")
    becomes = {"fail": 0, "pass": 1, "borderline": {"fail": 0, "pass": 1, "drop": MISSING}[borderline]}
    lookup = np.array([*(becomes[str(category)] for category in ratings.categories), MISSING])
    return replace(ratings, codes=lookup[ratings.codes].astype(np.int64), categories=("fail", "pass"))


def _judge_codes(ratings: Ratings, judge: Sequence[Hashable | None]) -> NDArray[np.int64]:
    if len(judge) != len(ratings.units):
        raise ValueError(f"{len(judge)} judge ratings for {len(ratings.units)} units")
    code = {category: k for k, category in enumerate(ratings.categories)}
    unknown = [value for value in judge if value is not None and value not in code]
    if unknown:
        raise ValueError(f"the judge's {unknown[0]!r} is not one of the categories {ratings.categories!r}")
    return np.array([MISSING if value is None else code[value] for value in judge], dtype=np.int64)


def _closeness(
    ratings: Ratings, judged: NDArray[np.int64], values: Sequence[float] | None
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """(units, raters): closeness of the annotator, and of the judge, to the other annotators; and where defined."""
    codes, others = ratings.codes, ratings.ratings_per_unit[:, None] - 1
    usable = (codes != MISSING) & (others >= 1) & (judged != MISSING)[:, None]
    among = np.maximum(others, 1).astype(np.float64)
    if values is None:
        same_as_own = np.take_along_axis(ratings.counts, np.maximum(codes, 0), axis=1) - 1
        same_as_judge = np.take_along_axis(ratings.counts, np.maximum(judged, 0)[:, None], axis=1)
        return same_as_own / among, (same_as_judge - (codes == judged[:, None])) / among, usable
    if len(values) != len(ratings.categories):
        raise ValueError(f"{len(values)} values for {len(ratings.categories)} categories")
    number = np.array([*values, 0.0])
    own, of_judge = number[codes], number[judged][:, None]
    mean = (own.sum(axis=1, keepdims=True) - own) / among
    square = ((own**2).sum(axis=1, keepdims=True) - own**2) / among
    errors = [np.maximum(a**2 - 2 * a * mean + square, 0) for a in (own, of_judge)]
    # Rounded, so that equal distances stay equal whichever way they were summed.
    near, near_judge = (-np.round(np.sqrt(error), 9) for error in errors)
    return near, near_judge, usable


def _p_values(difference: Floats, epsilons: Floats) -> Floats:
    """(raters, epsilons): one-sided p of a mean difference of epsilon or more."""
    n = (~np.isnan(difference)).sum(axis=0)
    filled = np.nan_to_num(difference)
    mean = filled.sum(axis=0) / np.maximum(n, 1)
    spread = np.where(np.isnan(difference), 0, (filled - mean) ** 2).sum(axis=0)
    se = np.sqrt(spread / np.maximum(n - 1, 1) / np.maximum(n, 1))[:, None]
    gap = mean[:, None] - epsilons
    t = np.divide(gap, se, out=np.zeros_like(gap), where=se > 0)
    p = np.where(se > 0, stats.t.cdf(t, np.maximum(n - 1, 1)[:, None]), np.where(gap < 0, 0.0, 1.0))
    for rater in np.flatnonzero((n < FEWEST_ITEMS) & (se[:, 0] > 0)):
        seen = difference[~np.isnan(difference[:, rater]), rater]
        p[rater] = [_wilcoxon(seen - epsilon) for epsilon in epsilons]
    return np.asarray(p, dtype=np.float64)


def _wilcoxon(shifted: Floats) -> float:
    return float(stats.wilcoxon(shifted, alternative="less", method="auto").pvalue) if shifted.any() else 1.0


def _rejected(p: Floats) -> NDArray[np.bool_]:
    return np.asarray(multipletests(p, alpha=FALSE_DISCOVERY_RATE, method="fdr_by")[0], dtype=bool)


def _winning_rate(rejected: NDArray[np.bool_], n: int, notes: tuple[str, ...]) -> Estimate:
    if len(rejected) == 0:
        return Estimate.undefined("too_few_items", n=n)
    method = f"share of {len(rejected)} annotators, Benjamini-Yekutieli at .05"
    return Estimate(value=float(rejected.mean()), n=n, method=method, notes=notes)


def _advantage(wins: Floats, clusters: NDArray[np.int64] | None, seed: int) -> Estimate:
    """Rho; without clusters the items are resampled, because an item counts once for each of its annotators."""
    unit = np.broadcast_to((np.arange(len(wins)) if clusters is None else clusters)[:, None], wins.shape)
    rated = ~np.isnan(wins)
    share = np.broadcast_to(1 / np.maximum(rated.sum(axis=0), 1), wins.shape)
    found = ratio(wins[rated] * share[rated], share[rated], clusters=unit[rated], seed=seed)
    return replace(
        found,
        n=int(rated.any(axis=1).sum()),
        n_ratings=int(rated.sum()),
        n_clusters=None if clusters is None else found.n_clusters,
    )


def _annotators(
    ratings: Ratings,
    wins: Floats,
    testable: NDArray[np.bool_],
    p_values: Floats,
    rejected: NDArray[np.bool_],
) -> tuple[AnnotatorTest, ...]:
    place = np.cumsum(testable) - 1
    tests = []
    for r, rater in enumerate(ratings.raters):
        n = int((~np.isnan(wins[:, r])).sum())
        test = "one-sided t test" if n >= FEWEST_ITEMS else "one-sided Wilcoxon test"
        tests.append(
            AnnotatorTest(
                rater=rater,
                n=n,
                advantage=ratio(wins[:, r]),
                p_value=Estimate(value=float(p_values[place[r]]), n=n, method=test)
                if testable[r]
                else Estimate.undefined("too_few_items", n=n),
                rejected=bool(rejected[place[r]]) if testable[r] else None,
            )
        )
    return tuple(tests)


def _reason(n_raters: int, testable: NDArray[np.bool_], fewest_items: int) -> str | None:
    if n_raters < 2:
        return "it needs two annotators or more (better three)"
    if not testable.any():
        return f"no annotator shares {fewest_items} items with another annotator and the judge"
    return None
