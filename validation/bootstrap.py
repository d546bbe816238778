"""Percentile bootstraps of coefficients: all resamples of all tables as one matrix product."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from validation.blas import one_thread
from validation.intervals import FEW, FEW_CLUSTERS, LEAST_CLUSTERS, LEVEL, jackknife_t_logs, stratified_t
from validation.item_sums import FloatArray, ItemSums, alpha_sums, scale_values
from validation.kappas import agreement_sums, brennan_prediger_sums, conger_sums, fleiss_sums, gwet_sums
from validation.ratings import Ratings
from validation.results import Estimate
from validation.weights import disagreement_weights

Coefficient = Literal[
    "percent_agreement",
    "fleiss",
    "conger",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "ac1",
    "brennan_prediger",
]

FEW_FOR_PERCENTILES = 90
"""Below this many items a percentile interval is too short."""
FEW_IN_STRATUM = 20
"""Below this many clusters in a stratum its resamples vary too little."""
NO_SPREAD = "the bootstrap has no width"
CHUNK_BYTES = 16 * 2**20
"""Sums of resamples that are held at a time."""
COUNTED_AT_A_TIME = 2**13
"""Weights that are counted at a time: they stay in the processor's cache. Part of what a seed means."""
CHUNKS_CHOSEN_AT_A_TIME = 8
"""Chunks of weights whose columns are chosen in one call. Part of what a seed means."""


def bootstrap(ratings: Ratings, coefficient: Coefficient, *, draws: int = 10_000, seed: int) -> Estimate:
    """A coefficient with the percentile interval of resampled items, or clusters where there are two or more.

    Resamples in which the coefficient is undefined are left out and counted in a note. Below 90 items the interval
    is noted as too short. One without any width is replaced by that of the jackknife.

    Raises:
        ValueError: the coefficient is not known, or draws is below 1.

    Source: Efron, B., Annals of Statistics 1979, doi:10.1214/aos/1176344552.
    """
    kept = ratings.ratings_per_unit > 0
    clusters = None if ratings.clusters is None else ratings.clusters[kept]
    sums = sums_of(ratings.codes[None, kept], ratings.categories, coefficient).by_cluster(clusters)
    return _with_percentiles(sums, draws=draws, seed=seed)[0]


def bootstrap_groups(
    groups: Sequence[Ratings], coefficient: Coefficient, *, draws: int = 10_000, seed: int
) -> list[Estimate]:
    """The bootstrap over items of many tables (metrics) at once, in the order given.

    Tables of one shape share their draws: each interval is right by itself, but a difference of two tables must not
    be read off them. Clusters within a table are not used.

    Raises:
        ValueError: the coefficient is not known, or draws is below 1.
    """
    alike: dict[tuple[object, ...], list[int]] = {}
    codes = [ratings.codes[ratings.ratings_per_unit > 0] for ratings in groups]
    for g, ratings in enumerate(groups):
        alike.setdefault((ratings.categories, codes[g].shape), []).append(g)
    estimates: dict[int, Estimate] = {}
    for members in alike.values():
        together = np.stack([codes[g] for g in members])
        sums = sums_of(together, groups[members[0]].categories, coefficient)
        estimates |= zip(members, _with_percentiles(sums, draws=draws, seed=seed), strict=True)
    return [estimates[g] for g in range(len(groups))]


def stratified_bootstrap(
    values: Sequence[float] | FloatArray, *, strata: Sequence[Hashable], draws: int = 10_000, seed: int
) -> Estimate:
    """The mean of values (one a cluster) with the percentiles of resamples within strata.

    Below 20 clusters in a stratum this interval is too short; a note then gives Satterthwaite's beside it, which
    also stands in where nothing varies.

    Args:
        values: one a cluster, such as the pass rate of a metric.
        strata: the stratum of each value, such as benchmark and polarity.
        draws: how many resamples.
        seed: of the resamples.

    Raises:
        ValueError: values and strata differ in number, or draws is below 1.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws!r}")
    t = stratified_t(values, strata=strata)
    if t.low is None or t.high is None:
        return t
    x = np.asarray(values, dtype=np.float64)
    members = [np.array([s == name for s in strata]) for name in dict.fromkeys(strata)]
    seeds = np.random.SeedSequence(seed).spawn(len(members))
    total = np.zeros(draws)
    for member, child in zip(members, seeds, strict=True):
        chunks = _weights_in_chunks(int(member.sum()), draws=draws, seed=child)
        total += np.concatenate([x[member] @ weights for _, weights in chunks])
    low, high = np.quantile(total / len(x), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if not high - low > 1e-12:
        return t.noting(NO_SPREAD)
    smallest = min(int(member.sum()) for member in members)
    notes: tuple[str, ...] = ()
    if smallest < FEW_IN_STRATUM:
        notes = (
            f"a stratum of {smallest} clusters (below 20): this interval is too short;"
            f" {t.method}: [{t.low:.3f}, {t.high:.3f}]",
        )
    method = f"percentile bootstrap of clusters within strata, {draws} draws"
    return replace(t, low=float(low), high=float(high), method=method, notes=notes)


def sums_of(codes: NDArray[np.int64], categories: Sequence[Hashable], coefficient: Coefficient) -> ItemSums:
    """The item sums of an unweighted coefficient by its name, for codes of shape (groups, items, raters)."""
    q = len(categories)
    counts = np.stack([(codes == k).sum(axis=-1) for k in range(q)], axis=-1)
    apart = disagreement_weights(q, weights="identity")
    match coefficient:
        case "percent_agreement":
            return agreement_sums(counts, pair_weighted=False)
        case "fleiss":
            return fleiss_sums(counts, apart=apart, form="pairable")
        case "conger":
            return conger_sums(codes, apart=apart)
        case "alpha_nominal":
            return alpha_sums(counts, level="nominal")
        case "alpha_ordinal":
            return alpha_sums(counts, level="ordinal")
        case "alpha_interval":
            return alpha_sums(counts, level="interval", values=scale_values(categories))
        case "ac1":
            return gwet_sums(counts, apart=apart)
        case "brennan_prediger":
            return brennan_prediger_sums(counts, apart=apart)
        case _:
            raise ValueError(
                f"coefficient must be one of {', '.join(get_args(Coefficient))}, not {coefficient!r}"
            )


def resampled(sums: ItemSums, *, draws: int, seed: int) -> FloatArray:
    """(groups, draws): the coefficient in each resample of the columns, NaN where it is undefined.

    Raises:
        ValueError: draws is below 1.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws!r}")
    if not (sums.times == 1).all():
        each = [resampled(one, draws=draws, seed=seed) for one in _repeated(sums)]
        return np.concatenate(each)
    p, groups, columns = sums.items.shape
    found = np.empty((groups, draws))
    step = max(1, CHUNK_BYTES // (8 * p * draws))
    multiplications = p * groups * max(columns, COUNTED_AT_A_TIME)
    with one_thread(multiplications):
        for g in range(0, groups, step):
            items = sums.items[:, g : g + step]
            drawn = np.empty((p * items.shape[1], draws))
            for start, weights in _weights_in_chunks(columns, draws=draws, seed=seed):
                drawn[:, start : start + weights.shape[1]] = items.reshape(-1, columns) @ weights
            found[g : g + step] = sums.coefficient(drawn.reshape(p, -1, draws))
    return found


def _repeated(sums: ItemSums) -> Iterator[ItemSums]:
    """Each group alone, with a column as often as it counts: cells become items, and empty clusters go."""
    for g, times in enumerate(sums.times):
        columns = np.repeat(np.arange(len(times)), times.astype(np.int64))
        one = {name: getattr(sums, name)[g : g + 1, columns] for name in ("paired", "ratings")}
        items = sums.items[:, g : g + 1, columns]
        yield replace(
            sums, items=items, times=np.ones_like(one["paired"]), largest=sums.largest[g : g + 1], **one
        )


def resampling_weights(columns: int, *, draws: int, seed: int) -> FloatArray:
    """(columns, draws): how often each column is in each resample that `resampled` makes with this seed."""
    return np.concatenate([w for _, w in _weights_in_chunks(columns, draws=draws, seed=seed)], axis=1)


def _weights_in_chunks(
    columns: int, *, draws: int, seed: int | np.random.SeedSequence
) -> Iterator[tuple[int, FloatArray]]:
    """The (columns, resamples) weights from resample `start` on, a few resamples at a time.

    Counting which columns were chosen is what numpy's multinomial does ten times slower, and short integers are drawn
    twice as fast as long ones.
    """
    rng = np.random.default_rng(seed)
    step = max(1, COUNTED_AT_A_TIME // max(columns, 1))
    narrow = np.uint16 if columns <= 2**16 else np.int64
    first_of_draw, ones = np.repeat(np.arange(step) * columns, columns), np.ones(step * columns)
    for begin in range(0, draws, CHUNKS_CHOSEN_AT_A_TIME * step):
        end = min(begin + CHUNKS_CHOSEN_AT_A_TIME * step, draws)
        chosen = rng.integers(max(columns, 1), size=(end - begin) * columns, dtype=narrow)
        for start in range(begin, end, step):
            several = min(step, end - start)
            size, offset = several * columns, (start - begin) * columns
            place = chosen[offset : offset + size] + first_of_draw[:size]
            # With weights of one the counts come as floats, which the product needs.
            counts = np.asarray(np.bincount(place, ones[:size], minlength=size), dtype=np.float64)
            yield start, counts.reshape(several, columns).T


def _with_percentiles(sums: ItemSums, *, draws: int, seed: int) -> list[Estimate]:
    plain = jackknife_t_logs(sums)
    if sums.items.shape[-1] == 0:
        return plain
    values = resampled(sums, draws=draws, seed=seed)
    undefined = np.isnan(values).sum(axis=1)
    ends = np.full((2, len(values)), np.nan)
    whole = undefined == 0
    tail = (1 - LEVEL) / 2
    if whole.any():
        ends[:, whole] = np.quantile(values[whole], [tail, 1 - tail], axis=1)
    for g in np.flatnonzero(~whole & (undefined < draws)):
        ends[:, g] = np.quantile(values[g][~np.isnan(values[g])], [tail, 1 - tail])
    return [
        _percentile_estimate(estimate, *ends[:, g], undefined=int(undefined[g]), draws=draws)
        for g, estimate in enumerate(plain)
    ]


def _percentile_estimate(plain: Estimate, low: float, high: float, *, undefined: int, draws: int) -> Estimate:
    """The estimate with percentiles for the jackknife's ends, where both can be had."""
    n, clusters = plain.n, plain.n_clusters
    if plain.value is None or n < 2 or (clusters is not None and clusters < LEAST_CLUSTERS):
        return plain
    notes = []
    if undefined:
        notes.append(f"{undefined} of {draws} resamples undefined and left out")
    if clusters is not None and clusters < FEW_CLUSTERS:
        notes.append(FEW.format(n=clusters))
    if n < FEW_FOR_PERCENTILES:
        notes.append("fewer than 90 items: a percentile interval is too short")
    if not high - low > 1e-12:
        return plain.noting(NO_SPREAD)
    method = f"percentile bootstrap of {'items' if clusters is None else 'clusters'}, {draws} draws"
    return replace(plain, low=float(low), high=float(high), method=method, notes=tuple(notes))
