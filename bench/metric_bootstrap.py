"""How fast all pass rates of a study are resampled, beside scipy's bootstrap of the pooled rates alone.

Run: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python bench/metric_bootstrap.py

Synthetic data of the published study's shape: 809 metrics in 26 benchmarks, 460 positive and 349 negative, six
conversations a metric and model, ten models. Both sides draw the same number of resamples within benchmark x polarity
on one BLAS thread; points and intervals are compared before anything is timed. Ours gives every interval of a report,
scipy's only those of the pooled rates: as it comes, in the batches that suit it best, and with the shortcut that is
right where no conversation is unscored. A time is the median of the runs, taken in turns. Wall time suffers from
other work on the machine, processor time hardly; targets are held to wall time.
"""

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import bootstrap
from threadpoolctl import threadpool_limits

from impactbench.aggregation import MetricTally, PassRates, pass_rates

RUNS = 7
BENCHMARKS, MODELS, DRAWS, SEED = 26, 10, 10_000, 20_260_101
POSITIVE, NEGATIVE = 460, 349
CONVERSATIONS = 3
SECONDS, MEGABYTES, RATIO = 0.25, 100, 4
DEFAULT = "scipy, pooled"
SHORTCUT = "none unscored"
BATCHES = (100, 500, 1000)

Stratum = np.ndarray
Work = Callable[[], object]


def made_tally() -> MetricTally:
    rng = np.random.default_rng(SEED)
    benchmark = np.concatenate([np.arange(n) % BENCHMARKS for n in (POSITIVE, NEGATIVE)])
    positive = np.arange(POSITIVE + NEGATIVE) < POSITIVE
    order = np.lexsort([positive, benchmark])
    metrics, shape = len(order), (len(order), MODELS, 2)
    hard = rng.beta(4, 2, size=(metrics, 1, 1))
    chances = np.clip(hard + np.linspace(-0.05, 0.05, MODELS)[:, None] + np.zeros(2), 0, 1)
    names = tuple(f"b{b:02}" for b in range(BENCHMARKS))
    return MetricTally(
        models=tuple(f"model-{j}" for j in range(MODELS)),
        metrics=tuple((names[benchmark[k]], f"m{k:03}") for k in order),
        benchmarks=names,
        benchmark=benchmark[order],
        positive=positive[order],
        passed_by_age=rng.binomial(CONVERSATIONS, chances).astype(np.int64),
        scored_by_age=np.full(shape, CONVERSATIONS),
        unscored_by_age=np.zeros(shape, dtype=np.int64),
    )


def ours(tally: MetricTally) -> PassRates:
    return pass_rates(tally, draws=DRAWS, seed=SEED)


def scipys(strata: list[Stratum], *, batch: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the pooled rates of all models: each stratum is a sample, resampled by itself.

    Args:
        strata: (2, models, metrics) passed and scored conversations, or (models, metrics) passed ones alone, where
            every metric has as many conversations.
        batch: how many resamples are made at a time.
    """
    conversations = 2 * CONVERSATIONS * sum(stratum.shape[-1] for stratum in strata)

    def pooled(*samples: np.ndarray, axis: int) -> np.ndarray:
        sums = sum(sample.sum(axis=axis) for sample in samples)
        return sums[0] / sums[1] if strata[0].ndim == 3 else sums / conversations

    found = bootstrap(
        strata,
        pooled,
        n_resamples=DRAWS,
        batch=batch,
        vectorized=True,
        axis=-1,
        method="percentile",
        rng=np.random.default_rng(SEED),
    )
    return found.confidence_interval.low, found.confidence_interval.high


def strata_of(tally: MetricTally) -> list[Stratum]:
    both = np.stack([tally.passed.T, tally.scored.T]).astype(np.float64)
    return [both[..., tally.strata == stratum] for stratum in np.unique(tally.strata)]


def require_equal(tally: MetricTally) -> float:
    """The largest difference of an end from scipy's, in interval widths; the points must be the same."""
    found = [rates.pooled for rates in ours(tally).models.values()]
    points = tally.passed.sum(axis=0) / tally.scored.sum(axis=0)
    low, high = scipys(strata_of(tally), batch=500)
    mine = np.array([[one.value, one.low, one.high] for one in found], dtype=float).T
    apart = float(np.abs(mine[1:] - [low, high]).max() / (high - low).min())
    if not np.allclose(mine[0], points, atol=1e-12) or apart > 0.04:
        raise SystemExit(f"the results differ by {apart:.3f} of an interval's width: nothing is timed")
    return apart


def best_batch(data: list[Stratum]) -> int:
    """The batch with which scipy is fastest."""
    return min(BATCHES, key=lambda batch: min(_once(lambda: scipys(data, batch=batch))[1] for _ in range(2)))


def times(works: dict[str, Work]) -> dict[str, tuple[float, float]]:
    """Medians of wall and processor time."""
    for work in works.values():
        work()
    runs = [{name: _once(work) for name, work in works.items()} for _ in range(RUNS)]
    return {name: tuple(median(run[name][k] for run in runs) for k in (0, 1)) for name in works}  # type: ignore[misc]


def _once(work: Work) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def traced_megabytes(work: Work) -> float:
    work()
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def resident_megabytes() -> float:
    """By how much the resident memory of a fresh process grows at most (Linux)."""
    found = subprocess.run([sys.executable, __file__, "grow"], capture_output=True, text=True, check=True)
    return float(found.stdout)


def grow() -> None:
    tally = made_tally()
    pass_rates(tally, draws=1, seed=SEED)
    Path("/proc/self/clear_refs").write_text("5")
    before = highest_resident_kilobytes()
    ours(tally)
    print((highest_resident_kilobytes() - before) / 1024)


def highest_resident_kilobytes() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    return int(line.split()[1])


def main() -> None:
    tally = made_tally()
    strata = strata_of(tally)
    passed = [stratum[0] for stratum in strata]
    with threadpool_limits(limits=1, user_api="blas"):
        apart = require_equal(tally)
        best, best_short = best_batch(strata), best_batch(passed)
        in_batches = f"{DEFAULT}, batch={best}"
        works: dict[str, Work] = {
            "ours": lambda: ours(tally),
            DEFAULT: lambda: scipys(strata, batch=None),
            in_batches: lambda: scipys(strata, batch=best),
            f"{DEFAULT}, batch={best_short}, {SHORTCUT}": lambda: scipys(passed, batch=best_short),
        }
        took = times(works)
        megabytes = {name: traced_megabytes(work) for name, work in works.items()}
    print(f"{DRAWS:,} resamples of {len(tally.metrics)} metrics, {MODELS} models; points the same,")
    print(f"ends within {apart:.1%} of an interval's width of scipy's; medians of {RUNS} runs\n")
    print(
        f"{'':<48} {'intervals':>9} {'wall, ms':>9} {'ratio':>6} {'cpu, ms':>8} {'ratio':>6} {'peak, MB':>9}"
    )
    wall, processor = took["ours"]
    every = MODELS * (1 + 1 + 2 + 2 * BENCHMARKS) + 4 * MODELS * (MODELS - 1) // 2
    for name, (its_wall, its_processor) in took.items():
        print(
            f"{name:<48} {every if name == 'ours' else MODELS:>9} {its_wall * 1e3:>9.0f} {its_wall / wall:>5.1f}x"
            f" {its_processor * 1e3:>8.0f} {its_processor / processor:>5.1f}x {megabytes[name]:>9.0f}"
        )
    resident = resident_megabytes()
    print()
    for what, met in (
        (f"within {SECONDS} s: {wall:.3f} s (processor {processor:.3f} s)", wall <= SECONDS),
        (
            f"within {MEGABYTES} MB: {megabytes['ours']:.0f} MB of arrays, {resident:.0f} MB resident",
            max(resident, megabytes["ours"]) <= MEGABYTES,
        ),
        *(
            (f"at least {RATIO}x faster than {name}: {its_wall / wall:.1f}x", its_wall >= RATIO * wall)
            for name, (its_wall, _) in took.items()
            if name == DEFAULT
        ),
    ):
        print(f"{'met' if met else 'MISSED':<7} {what}")


if __name__ == "__main__":
    grow() if sys.argv[1:] == ["grow"] else main()
