"""Orders of models with their uncertainty: rank sets.

A rank set holds every rank that the data do not rule out for a model, all models at once. Percentile intervals of
bootstrapped ranks are not shown: with near-ties they cover the true rank far less often than they claim.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.arguments import require_at_least, require_open_share
from validation.intervals import LEAST_CLUSTERS, TAILS
from validation.resampled_differences import difference_errors, guarded_errors, max_t
from validation.results import Estimate
from validation.strata import joined_strata, stratified_weights


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedModel:
    """One model's place in the order."""

    name: Hashable
    """The model."""
    rate: Estimate
    """Its rate over the metrics, with its own 95% interval."""
    rank: int
    """1 + the number of models with a higher rate."""
    lowest: int
    """The best rank in its rank set (1 is first)."""
    highest: int
    """The worst rank in its rank set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Models in order, best first, with simultaneous rank sets."""

    models: tuple[RankedModel, ...]
    """In order of rate; models without data are left out."""
    not_ranked: tuple[Hashable, ...]
    """Models without data."""
    names: tuple[Hashable, ...]
    """The rows and columns of the matrices below."""
    differences: NDArray[np.float64]
    """(models, models): rate of the row minus rate of the column."""
    errors: NDArray[np.float64]
    """(models, models): standard error of each difference."""
    critical_value: float | None
    """How many standard errors a difference must exceed, over all pairs at once; None where no order is claimed."""
    n_clusters: int
    """Metrics that were resampled."""
    method: str
    """How the rank sets were made."""
    notes: tuple[str, ...] = ()
    """What a reader must know."""

    @property
    def separated(self) -> NDArray[np.bool_]:
        """(models, models): whether the row's rate is above the column's, with all pairs allowed for."""
        if self.critical_value is None:
            return np.zeros(self.differences.shape, dtype=np.bool_)
        return _separated(self.differences, self.errors, self.critical_value)


def rank_sets(
    values: NDArray[np.float64],
    *,
    names: Sequence[Hashable],
    seed: int | np.random.Generator,
    weights: NDArray[np.float64] | None = None,
    strata: NDArray[np.int64] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
) -> Ranking:
    """Rank models by their rates over metrics, with simultaneous rank sets.

    Metrics are resampled (within strata), all models of a metric together. The critical value is a quantile of the
    largest studentised difference over all pairs; each resample is studentised by its own standard errors, because with
    the errors of the sample the sets of 18 metrics cover .70 instead of .95. A set of one rank means that the place is established; a set of all
    ranks means that nothing is.

    Args:
        values: (metrics, models): the rate of each model on each metric; NaN where it has no data.
        names: (models,): their names.
        seed: of the resampling.
        weights: (metrics, models): conversations behind each rate; None weighs every metric alike.
        strata: (metrics,): the stratum (say, benchmark x polarity) of each metric; None resamples them all together.
            A stratum of one metric joins the others that stand alone.
        level: of the simultaneous coverage.
        resamples: of the bootstrap.

    References:
        Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91. doi:10.1093/restud/rdad006
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise ValueError(
            f"values of shape {values.shape} do not have a column for each of {len(names)} names"
        )
    require_open_share("level", level)
    require_at_least("resamples", resamples, 2)
    seen = ~np.isnan(values)
    sizes = np.where(seen, 1.0 if weights is None else weights, 0.0)
    ranked = sizes.sum(axis=0) > 0
    not_ranked = tuple(name for name, kept in zip(names, ranked, strict=True) if not kept)
    kept_names = tuple(name for name, kept in zip(names, ranked, strict=True) if kept)
    rows = seen.any(axis=1)
    passed, sizes = np.where(seen, values * sizes, 0.0)[rows][:, ranked], sizes[rows][:, ranked]
    n_clusters = int(rows.sum())
    rates = passed.sum(axis=0) / sizes.sum(axis=0)
    differences = rates[:, None] - rates[None, :]
    if n_clusters < LEAST_CLUSTERS:
        few = f"fewer than {LEAST_CLUSTERS} metrics: no order is claimed"
        return _unordered(rates, differences, kept_names, not_ranked, n_clusters, few)

    strata = joined_strata(
        np.zeros(n_clusters, dtype=np.int64) if strata is None else np.asarray(strata)[rows]
    )
    draws = stratified_weights(strata, resamples=resamples, seed=seed).T.astype(np.float64)
    drawn_sizes = draws @ sizes
    complete = (drawn_sizes > 0).all(axis=1)
    draws, drawn = draws[complete], (draws @ passed)[complete] / drawn_sizes[complete]
    influence = n_clusters * (passed - rates * sizes) / sizes.sum(axis=0)
    errors = guarded_errors(
        difference_errors(influence, np.ones((1, n_clusters)), strata)[0], differences, n_clusters
    )
    critical = np.inf
    if len(drawn) >= 2:
        deviations = drawn[:, :, None] - drawn[:, None, :] - differences
        critical = max_t(deviations, difference_errors(influence, draws, strata), level=level)
    if not np.isfinite(critical):
        return _unordered(
            rates, differences, kept_names, not_ranked, n_clusters, "the metrics vary too little to resample"
        )
    lost = resamples - int(complete.sum())
    return Ranking(
        models=_ordered(
            rates, drawn, kept_names, rank_bounds(rates, errors, critical_value=critical), n_clusters
        ),
        not_ranked=not_ranked,
        names=kept_names,
        differences=differences,
        errors=errors,
        critical_value=critical,
        n_clusters=n_clusters,
        method=f"max-t rank sets, {resamples} resamples of {n_clusters} metrics",
        notes=_notes(strata, lost),
    )


def rank_bounds(
    rates: NDArray[np.float64], errors: NDArray[np.float64], *, critical_value: float
) -> NDArray[np.int64]:
    """The best and worst rank in each model's rank set.

    Args:
        rates: (models,): higher is better.
        errors: (models, models): standard errors of the differences.
        critical_value: the simultaneous critical value.

    Returns:
        (models, 2): best and worst rank, 1 the first.

    >>> rates, errors = np.array([0.70, 0.69, 0.61, 0.50]), np.full((4, 4), 0.02)
    >>> errors[0, 1] = errors[1, 0] = 0.01
    >>> rank_bounds(rates, errors, critical_value=2.57).tolist()
    [[1, 2], [1, 2], [3, 3], [4, 4]]
    """
    above = _separated(rates[:, None] - rates[None, :], errors, critical_value)
    return np.stack([1 + above.sum(axis=0), len(rates) - above.sum(axis=1)], axis=1).astype(np.int64)


def _separated(
    differences: NDArray[np.float64], errors: NDArray[np.float64], critical: float
) -> NDArray[np.bool_]:
    return np.asarray((differences > critical * errors) & (differences > 0), dtype=np.bool_)


def _ordered(
    rates: NDArray[np.float64],
    drawn: NDArray[np.float64],
    names: tuple[Hashable, ...],
    bounds: NDArray[np.int64],
    n_clusters: int,
) -> tuple[RankedModel, ...]:
    low, high = np.quantile(drawn, TAILS, axis=0)
    ranks = 1 + (rates[None, :] > rates[:, None] + 1e-12).sum(axis=1)
    return tuple(
        RankedModel(
            name=names[j],
            rate=_rate(rates[j], low[j], high[j], n_clusters),
            rank=int(ranks[j]),
            lowest=int(bounds[j, 0]),
            highest=int(bounds[j, 1]),
        )
        for j in np.argsort(-rates, kind="stable")
    )


def _rate(rate: float, low: float, high: float, n_clusters: int) -> Estimate:
    if high - low < 1e-12:
        return Estimate(
            value=float(rate), n=n_clusters, n_clusters=n_clusters, notes=("every metric has the same rate",)
        )
    return Estimate(
        value=float(rate),
        low=float(low),
        high=float(high),
        n=n_clusters,
        n_clusters=n_clusters,
        method="percentile bootstrap of metrics",
    )


def _unordered(
    rates: NDArray[np.float64],
    differences: NDArray[np.float64],
    names: tuple[Hashable, ...],
    not_ranked: tuple[Hashable, ...],
    n_clusters: int,
    why: str,
) -> Ranking:
    ranks = 1 + (rates[None, :] > rates[:, None] + 1e-12).sum(axis=1)
    return Ranking(
        models=tuple(
            RankedModel(
                name=names[j],
                rate=Estimate(
                    value=float(rates[j]), n=n_clusters, n_clusters=n_clusters, notes=("no interval",)
                ),
                rank=int(ranks[j]),
                lowest=1,
                highest=len(names),
            )
            for j in np.argsort(-rates, kind="stable")
        ),
        not_ranked=not_ranked,
        names=names,
        differences=differences,
        errors=np.zeros_like(differences),
        critical_value=None,
        n_clusters=n_clusters,
        method="no order claimed",
        notes=(why,),
    )


def _notes(strata: NDArray[np.int64], lost: int) -> tuple[str, ...]:
    smallest = int(np.unique(strata, return_counts=True)[1].min())
    notes = []
    if smallest < 20:
        notes.append(f"a stratum has {smallest} metrics: under 20, percentile intervals are too short")
    if lost:
        notes.append(f"{lost} resamples lost a model and were left out")
    return tuple(notes)
