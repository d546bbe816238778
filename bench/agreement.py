"""How fast the coefficients of agreement are, beside the packages that compute one at a time.

Run: python -m bench.agreement

Both sides get the same data. A loop over a package that would take too long is timed on a tenth of the draws and
scaled, which the table says.
"""

from collections.abc import Iterator

import krippendorff
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from bench.comparison import Comparison, alone, faster, main, require_equal
from validation.agreement import cohen_kappas
from validation.bootstrap import Coefficient, bootstrap_groups, resampled, resampling_weights, sums_of
from validation.intervals import jackknife_t_logs
from validation.item_sums import Level, alpha_sums, coefficients_of
from validation.kappas import cohen_sums
from validation.ratings import Ratings
from validation.weights import disagreement_weights

METRICS, ITEMS, RATERS, CATEGORIES, DRAWS = 809, 60, 5, 3, 2_000
FEW = 200
"""Draws of the loops that would take too long."""
SEED = 20_260_101
LEVELS: tuple[Level, ...] = ("nominal", "ordinal")

Codes = NDArray[np.int64]
Values = NDArray[np.float64]


def ratings_of(codes: Codes) -> Ratings:
    items, raters = codes.shape
    names = tuple(f"r{k}" for k in range(raters))
    return Ratings(codes, tuple(range(CATEGORIES)), tuple(range(items)), names)


def made_codes(*shape: int) -> Codes:
    rng = np.random.default_rng(SEED)
    own = rng.integers(CATEGORIES, size=(*shape[:-1], 1))
    return np.where(rng.random(shape) < 0.6, own, rng.integers(CATEGORIES, size=shape))


def counts_of(codes: Codes) -> Codes:
    return np.stack([(codes == k).sum(axis=-1) for k in range(CATEGORIES)], axis=-1)


def package_alpha(counts: Codes, level: str) -> float:
    domain = list(range(CATEGORIES))
    found = krippendorff.alpha(value_counts=counts, value_domain=domain, level_of_measurement=level)
    return float(found)


def drawn_items() -> Codes:
    """(draws, items): how often our bootstrap draws each item, so that a package can be given the same items."""
    return resampling_weights(ITEMS, draws=DRAWS, seed=SEED).astype(np.int64).T


def alphas(level: Level) -> Comparison:
    counts = counts_of(made_codes(METRICS, ITEMS, RATERS))

    def ours() -> Values:
        return coefficients_of(alpha_sums(counts, level=level))

    def theirs() -> list[float]:
        return [package_alpha(table, level) for table in counts]

    require_equal(ours(), theirs())
    name = f"alpha {level}, {METRICS} metrics x {ITEMS} items x {RATERS} raters"
    return faster(name, ours, "krippendorff", theirs, at_least=3)


def alpha_bootstrap(level: Level) -> Comparison:
    counts = counts_of(made_codes(ITEMS, RATERS))

    def ours() -> Values:
        return resampled(alpha_sums(counts, level=level), draws=DRAWS, seed=SEED)[0]

    def theirs() -> list[float]:
        rng = np.random.default_rng(SEED)
        return [package_alpha(counts[rng.integers(ITEMS, size=ITEMS)], level) for _ in range(FEW)]

    require_equal(
        ours()[:FEW], [package_alpha(np.repeat(counts, w, axis=0), level) for w in drawn_items()[:FEW]]
    )
    name = f"alpha {level} bootstrap, {DRAWS:,} draws of {ITEMS} items"
    return faster(name, ours, "krippendorff", theirs, at_least=100, of_theirs=FEW / DRAWS)


def fleiss_bootstrap() -> Iterator[Comparison]:
    codes = made_codes(ITEMS, RATERS)
    counts = counts_of(codes)

    def ours() -> Values:
        return resampled(sums_of(codes[None], range(CATEGORIES), "fleiss"), draws=DRAWS, seed=SEED)[0]

    def theirs() -> list[float]:
        rng = np.random.default_rng(SEED)
        return [statsmodels_fleiss(counts[rng.integers(ITEMS, size=ITEMS)]) for _ in range(DRAWS)]

    require_equal(ours(), [statsmodels_fleiss(np.repeat(counts, w, axis=0)) for w in drawn_items()])
    yield faster(f"Fleiss bootstrap, {DRAWS:,} draws", ours, "statsmodels", theirs, at_least=20)


def cohen_bootstrap() -> Iterator[Comparison]:
    codes = made_codes(ITEMS, 2)
    table = ratings_of(codes)
    apart = disagreement_weights(CATEGORIES, weights="identity")
    labels = list(range(CATEGORIES))

    def ours() -> Values:
        return resampled(cohen_sums(table, [(0, 1)], apart=apart), draws=DRAWS, seed=SEED)[0]

    def theirs() -> list[float]:
        rng = np.random.default_rng(SEED)
        found = []
        for _ in range(FEW):
            first, second = codes[rng.integers(ITEMS, size=ITEMS)].T
            found.append(cohen_kappa_score(first, second, labels=labels))
        return found

    by_cell = codes[np.argsort(codes @ [CATEGORIES, 1], kind="stable")]
    right = [cohen_kappa_score(*np.repeat(by_cell, w, axis=0).T, labels=labels) for w in drawn_items()[:FEW]]
    require_equal(ours()[:FEW], right)
    name = f"Cohen bootstrap, {DRAWS:,} draws"
    yield faster(name, ours, "scikit-learn", theirs, at_least=300, of_theirs=FEW / DRAWS)


def cohen_pairs() -> Iterator[Comparison]:
    raters, items = 40, 350
    table = ratings_of(made_codes(items, raters))
    apart = disagreement_weights(CATEGORIES, weights="identity")
    pairs = [(a, b) for a in range(raters) for b in range(a + 1, raters)]
    labels = list(range(CATEGORIES))

    def ours() -> Values:
        return coefficients_of(cohen_sums(table, pairs, apart=apart))

    def theirs() -> list[float]:
        return [cohen_kappa_score(table.codes[:, a], table.codes[:, b], labels=labels) for a, b in pairs]

    def with_intervals() -> object:
        return cohen_kappas(table)

    right = theirs()
    require_equal(ours(), right)
    require_equal([kappa.value for kappa in cohen_kappas(table).values()], right)
    name = f"Cohen of {len(pairs)} pairs of raters, {items} items"
    yield faster(name, ours, "scikit-learn", theirs, at_least=300)
    yield alone("  the same with jackknife intervals", with_intervals)


def all_metrics(coefficient: Coefficient) -> Comparison:
    codes = made_codes(METRICS, ITEMS, RATERS)
    tables = [ratings_of(table) for table in codes]
    some = counts_of(codes[:20])
    values = resampled(sums_of(codes, range(CATEGORIES), coefficient), draws=DRAWS, seed=SEED)
    level = coefficient.removeprefix("alpha_")
    for draw, weights in enumerate(drawn_items()[:2]):
        right = [package_alpha(np.repeat(counts, weights, axis=0), level) for counts in some]
        require_equal(values[:20, draw], right)

    def ours() -> object:
        return bootstrap_groups(tables, coefficient, draws=DRAWS, seed=SEED)

    return alone(f"{coefficient} of {METRICS} metrics, {DRAWS:,} draws each", ours, within=1)


def jackknives() -> Iterator[Comparison]:
    sums = alpha_sums(counts_of(made_codes(METRICS, ITEMS, RATERS)), level="ordinal")
    yield alone(f"jackknife intervals of {METRICS} ordinal alphas", lambda: jackknife_t_logs(sums))


COMPARISONS = {
    "alpha": lambda: map(alphas, LEVELS),
    "alpha_bootstrap": lambda: map(alpha_bootstrap, LEVELS),
    "fleiss_bootstrap": fleiss_bootstrap,
    "cohen_bootstrap": cohen_bootstrap,
    "cohen_pairs": cohen_pairs,
    "all_metrics": lambda: map(all_metrics, ("alpha_nominal", "alpha_ordinal")),
    "jackknives": jackknives,
}

if __name__ == "__main__":
    raise SystemExit(main(COMPARISONS))
