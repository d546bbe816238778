"""How fast the coefficients of agreement are, beside the packages that compute one at a time.

Run: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/agreement.py

Both sides get the same data and one BLAS thread; their results are compared before anything is timed. A time is the
median of the runs, in processor time: on a busy machine the clock on the wall counts the waiting of a long loop and
not that of a short product, which flatters us. A loop over a package that would take too long is timed on fewer draws
and scaled, which the table says.
"""

import time
from collections.abc import Callable
from statistics import median

import krippendorff
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss
from threadpoolctl import threadpool_limits

from validation.agreement import cohen_kappas
from validation.bootstrap import bootstrap_groups, resampled, resampling_weights, sums_of
from validation.intervals import jackknife_t_logs
from validation.item_sums import alpha_sums, coefficients_of
from validation.kappas import cohen_sums
from validation.ratings import Ratings
from validation.weights import disagreement_weights

RUNS = 7
METRICS, ITEMS, RATERS, CATEGORIES, DRAWS = 809, 60, 5, 3, 2_000
SEED = 20_260_101

Codes = NDArray[np.int64]


def seconds(work: Callable[[], object], *, runs: int = RUNS) -> float:
    work()
    return median(seconds_once(work) for _ in range(runs))


def seconds_of_both(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Medians of runs taken in turns, so that caches are as cold for either."""
    ours()
    theirs()
    turns = [(seconds_once(ours), seconds_once(theirs)) for _ in range(RUNS)]
    return median(ours for ours, _ in turns), median(theirs for _, theirs in turns)


def seconds_once(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


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


def row(
    what: str,
    ours: Callable[[], object],
    other: str,
    theirs: Callable[[], object],
    target: float,
    *,
    timed_draws: int = DRAWS,
) -> None:
    our_time, their_time = seconds_of_both(ours, theirs)
    their_time *= DRAWS / timed_draws
    note = "" if timed_draws == DRAWS else f"loop timed on {timed_draws} draws, scaled"
    ratio = their_time / our_time
    verdict = "met" if ratio >= target else "MISSED"
    print(
        f"{what:<46} {our_time * 1e3:>9.2f} {other:<14} {their_time * 1e3:>10.1f} {ratio:>8.0f}x"
        f" {target:>5.0f}x {verdict:<6} {note}"
    )


def require_equal(ours: object, theirs: object) -> None:
    if not np.allclose(np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float), atol=1e-9):
        raise SystemExit("the results differ: nothing is timed")


def many_alphas() -> None:
    counts = counts_of(made_codes(METRICS, ITEMS, RATERS))
    for level in ("nominal", "ordinal"):

        def ours() -> NDArray[np.float64]:
            return coefficients_of(alpha_sums(counts, level=level))  # type: ignore[arg-type]  # noqa: B023

        def theirs() -> list[float]:
            return [package_alpha(table, level) for table in counts]  # noqa: B023

        require_equal(ours(), theirs())
        row(f"alpha {level}, {METRICS} metrics x {ITEMS} x {RATERS}", ours, "krippendorff", theirs, 3)


def alpha_bootstrap() -> None:
    codes = made_codes(ITEMS, RATERS)
    counts = counts_of(codes)
    few = 200
    for level in ("nominal", "ordinal"):

        def ours() -> NDArray[np.float64]:
            sums = alpha_sums(counts, level=level)  # type: ignore[arg-type]  # noqa: B023
            return resampled(sums, draws=DRAWS, seed=SEED)[0]

        def theirs() -> list[float]:
            rng = np.random.default_rng(SEED)
            return [package_alpha(counts[rng.integers(ITEMS, size=ITEMS)], level) for _ in range(few)]  # noqa: B023

        drawn = resampling_weights(ITEMS, draws=DRAWS, seed=SEED).astype(np.int64).T[:few]
        require_equal(ours()[:few], [package_alpha(np.repeat(counts, w, axis=0), level) for w in drawn])
        what = f"alpha {level} bootstrap, {DRAWS} draws"
        row(what, ours, "krippendorff", theirs, 100, timed_draws=few)


def fleiss_bootstrap() -> None:
    codes = made_codes(ITEMS, RATERS)
    counts = counts_of(codes)

    def ours() -> NDArray[np.float64]:
        return resampled(sums_of(codes[None], range(CATEGORIES), "fleiss"), draws=DRAWS, seed=SEED)[0]

    def theirs() -> list[float]:
        rng = np.random.default_rng(SEED)
        return [statsmodels_fleiss(counts[rng.integers(ITEMS, size=ITEMS)]) for _ in range(DRAWS)]

    drawn = resampling_weights(ITEMS, draws=DRAWS, seed=SEED).astype(np.int64).T
    require_equal(ours(), [statsmodels_fleiss(np.repeat(counts, w, axis=0)) for w in drawn])
    row(f"Fleiss bootstrap, {DRAWS} draws", ours, "statsmodels", theirs, 20)


def cohen_bootstrap() -> None:
    codes = made_codes(ITEMS, 2)
    table = ratings_of(codes)
    apart = disagreement_weights(CATEGORIES, weights="identity")
    few, labels = 200, list(range(CATEGORIES))

    def ours() -> NDArray[np.float64]:
        return resampled(cohen_sums(table, [(0, 1)], apart=apart), draws=DRAWS, seed=SEED)[0]

    def theirs() -> list[float]:
        rng = np.random.default_rng(SEED)
        found = []
        for _ in range(few):
            first, second = codes[rng.integers(ITEMS, size=ITEMS)].T
            found.append(cohen_kappa_score(first, second, labels=labels))
        return found

    by_cell = codes[np.argsort(codes @ [CATEGORIES, 1], kind="stable")]
    drawn = resampling_weights(ITEMS, draws=DRAWS, seed=SEED).astype(np.int64).T[:few]
    right = [cohen_kappa_score(*np.repeat(by_cell, w, axis=0).T, labels=labels) for w in drawn]
    require_equal(ours()[:few], right)
    row(f"Cohen bootstrap, {DRAWS} draws", ours, "scikit-learn", theirs, 300, timed_draws=few)


def cohen_pairs() -> None:
    raters, items = 40, 350
    table = ratings_of(made_codes(items, raters))
    apart = disagreement_weights(CATEGORIES, weights="identity")
    pairs = [(a, b) for a in range(raters) for b in range(a + 1, raters)]
    labels = list(range(CATEGORIES))

    def ours() -> NDArray[np.float64]:
        return coefficients_of(cohen_sums(table, pairs, apart=apart))

    def theirs() -> list[float]:
        return [cohen_kappa_score(table.codes[:, a], table.codes[:, b], labels=labels) for a, b in pairs]

    require_equal(ours(), theirs())
    require_equal([kappa.value for kappa in cohen_kappas(table).values()], ours())
    row(f"Cohen of {len(pairs)} pairs, {items} items", ours, "scikit-learn", theirs, 300)
    print(f"  the same with their jackknife intervals: {seconds(lambda: cohen_kappas(table)) * 1e3:.1f} ms")


def all_metrics() -> None:
    codes = made_codes(METRICS, ITEMS, RATERS)
    tables = [ratings_of(table) for table in codes]
    drawn = resampling_weights(ITEMS, draws=DRAWS, seed=SEED).astype(np.int64).T[:2]
    for name in ("alpha_nominal", "alpha_ordinal"):
        values = resampled(sums_of(codes, range(CATEGORIES), name), draws=DRAWS, seed=SEED)  # type: ignore[arg-type]
        level = name.removeprefix("alpha_")
        for draw, weights in enumerate(drawn):
            right = [
                package_alpha(np.repeat(counts, weights, axis=0), level) for counts in counts_of(codes[:20])
            ]
            require_equal(values[:20, draw], right)
        took = seconds(lambda: bootstrap_groups(tables, name, draws=DRAWS, seed=SEED), runs=5)  # type: ignore[arg-type]  # noqa: B023
        verdict = "met" if took < 1 else "MISSED"
        print(
            f"{name} of {METRICS} metrics with {DRAWS}-draw intervals: {took:.2f} s (within 1 s: {verdict})"
        )


def main() -> None:
    print(f"{'':<46} {'ours, ms':>9} {'beside':<14} {'theirs, ms':>10} {'ratio':>9} {'target':>6}")
    with threadpool_limits(limits=1, user_api="blas"):
        many_alphas()
        alpha_bootstrap()
        fleiss_bootstrap()
        cohen_bootstrap()
        cohen_pairs()
        all_metrics()
        sums = alpha_sums(counts_of(made_codes(METRICS, ITEMS, RATERS)), level="ordinal")
        print(
            f"jackknife intervals of {METRICS} ordinal alphas: {seconds(lambda: jackknife_t_logs(sums)) * 1e3:.0f} ms"
        )


if __name__ == "__main__":
    main()
