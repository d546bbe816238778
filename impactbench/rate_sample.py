"""Rates on their way to becoming estimates: the points, their resamples, and what the t interval needs."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from impactbench.metric_bootstrap import LEVEL, Drawn, Floats, percentiles, resampled_rates
from validation.intervals import FEW_CLUSTERS, LEAST_CLUSTERS, clopper_pearson
from validation.results import Estimate

FEW_IN_STRATUM = 20
"""A stratum with fewer metrics varies too little when resampled: the t interval stands beside the percentiles."""
NO_WIDTH = 1e-6
METHOD = "percentile bootstrap of metrics within benchmark x polarity, {draws} draws"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RateSample:
    """Rates (or differences of rates) of any shape `...`, each with its resamples."""

    value: Floats
    """(...): NaN where nothing was scored."""
    n: NDArray[np.int64]
    """(...): scored conversations."""
    influence: Floats
    """(..., metrics): how much each metric moves the value, to first order; sums to 0."""
    counted: NDArray[np.bool_]
    """(..., metrics): whether the value rests on the metric."""
    drawn: Drawn
    """(..., draws): the value in each resample, NaN where it is undefined."""

    @classmethod
    def of(
        cls,
        passed: NDArray[np.int64] | Floats,
        scored: NDArray[np.int64] | Floats,
        *,
        strata: NDArray[np.int64],
        groups: NDArray[np.bool_],
        draws: int,
        seed: int,
    ) -> Self:
        """(groups, columns): the rates of `resampled_rates`, which see."""
        n = groups.astype(scored.dtype) @ scored
        value = _quotient(groups.astype(passed.dtype) @ passed, n)
        residual = passed.T - np.nan_to_num(value)[:, :, None] * scored.T
        return cls(
            value=value,
            n=n.astype(np.int64),
            influence=groups[:, None] * residual / np.maximum(n, 1)[:, :, None],
            counted=groups[:, None] & (scored.T > 0),
            drawn=resampled_rates(passed, scored, strata=strata, groups=groups, draws=draws, seed=seed),
        )

    def __getitem__(self, index: Any) -> Self:
        """The values at an index of the shape."""
        return self._with(*(array[index] for array in self._arrays))

    def minus(self, other: Self) -> Self:
        """The difference on the same resamples; it rests on the conversations of both."""
        return self._with(
            self.value - other.value,
            np.where((self.n > 0) & (other.n > 0), self.n + other.n, 0),
            self.influence - other.influence,
            self.counted | other.counted,
            self.drawn - other.drawn,
        )

    def averaged(self, weights: Floats) -> Self:
        """The weighted mean over the first axis of what is defined there.

        Args:
            weights: (first axis, ...): no need to sum to 1; 0 leaves out.
        """
        shares = _quotient(weights, weights.sum(axis=0))
        used = np.nan_to_num(shares) > 0
        drawn = np.zeros((*self.drawn.shape[1:],))
        for share, use, values in zip(shares, used, self.drawn, strict=True):
            drawn += np.where(use[..., None], share[..., None] * values, 0.0)
        return self._with(
            np.where(used.any(axis=0), np.where(used, shares * self.value, 0).sum(axis=0), np.nan),
            np.where(used, self.n, 0).sum(axis=0),
            (np.nan_to_num(shares)[..., None] * self.influence).sum(axis=0),
            (used[..., None] & self.counted).any(axis=0),
            drawn,
        )

    def joined(self, other: Self) -> Self:
        """Both, one after the other along the first axis."""
        return self._with(
            *(np.concatenate(pair) for pair in zip(self._arrays, other._arrays, strict=True))
        )

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.value, self.n, self.influence, self.counted, self.drawn

    def _with(
        self,
        value: NDArray[Any],
        n: NDArray[Any],
        influence: NDArray[Any],
        counted: NDArray[Any],
        drawn: NDArray[Any],
    ) -> Self:
        return type(self)(value=value, n=n, influence=influence, counted=counted, drawn=drawn)

    def estimates(
        self,
        *,
        strata: NDArray[np.int64],
        reason: str = "no_ratings",
        bounds: tuple[float, float] = (0.0, 1.0),
    ) -> NDArray[np.object_]:
        """(...): the estimates.

        Percentiles of ten metrics or more, a t interval of five to nine, none of fewer. Where a stratum has fewer
        than twenty metrics a note gives Satterthwaite's t interval within strata.

        Args:
            strata: (metrics,): what the metrics were drawn within.
            reason: why a value is undefined, where it is.
            bounds: what a value can be at least and at most.
        """
        low, high, undefined = percentiles(self.drawn)
        t_low, t_high, df, smallest = _stratified_t(self, strata, bounds)
        clusters = self.counted.sum(axis=-1)
        few_low, few_high = _t_ends(
            self.value, (self.influence**2).sum(axis=-1) * clusters / np.maximum(clusters - 1, 1), clusters - 1.0, bounds
        )
        draws = self.drawn.shape[-1]
        found = np.empty(self.value.shape, dtype=object)
        for at in np.ndindex(found.shape):
            n, g, value = int(self.n[at]), int(clusters[at]), float(self.value[at])
            if n == 0:
                found[at] = Estimate.undefined(reason, n=0)
            elif g < LEAST_CLUSTERS:
                note = f"fewer than {LEAST_CLUSTERS} metrics ({g}): no interval"
                found[at] = Estimate(value=value, n=n, n_clusters=g, notes=(note,))
            elif value in bounds and bounds == (0.0, 1.0):
                exact = clopper_pearson(round(value) * g, g)
                found[at] = _estimate(value, exact.low, exact.high, n, g, "Clopper-Pearson on metrics", ())
            elif g < FEW_CLUSTERS:
                notes = (f"few metrics ({g})",)
                found[at] = _estimate(value, few_low[at], few_high[at], n, g, f"t({g - 1}) of metric means", notes)
            else:
                t = f"stratified t, Satterthwaite df {df[at]:.1f}"
                left_out: tuple[str, ...] = ()
                if undefined[at]:
                    left_out = (f"{undefined[at]} of {draws} resamples undefined and left out",)
                if not high[at] - low[at] > NO_WIDTH:
                    notes = (*left_out, "the bootstrap has no width")
                    found[at] = _estimate(value, t_low[at], t_high[at], n, g, t, notes)
                    continue
                notes = left_out
                if smallest[at] < FEW_IN_STRATUM:
                    notes = (
                        *left_out,
                        f"a stratum of {smallest[at]} metrics (below {FEW_IN_STRATUM}): this interval is too short;"
                        f" {t}: [{t_low[at]:.3f}, {t_high[at]:.3f}]",
                    )
                found[at] = _estimate(value, low[at], high[at], n, g, METHOD.format(draws=draws), notes)
        return found


def _estimate(
    value: float, low: float | None, high: float | None, n: int, clusters: int, method: str, notes: tuple[str, ...]
) -> Estimate:
    if low is None or high is None or not high - low > NO_WIDTH:
        return Estimate(value=value, n=n, n_clusters=clusters, notes=(*notes, "nothing varies between metrics: no interval"))
    return Estimate(
        value=value, low=float(low), high=float(high), n=n, n_clusters=clusters, method=method, notes=notes
    )


def _stratified_t(
    sample: RateSample, strata: NDArray[np.int64], bounds: tuple[float, float]
) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Ends and degrees of freedom of Satterthwaite's t, and the fewest counted metrics of a stratum that has any."""
    order = np.argsort(strata, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(strata[order]) > 0])
    size = np.diff(np.r_[starts, len(order)])
    influence = sample.influence[..., order]
    sums = np.add.reduceat(influence, starts, axis=-1)
    squares = np.add.reduceat(influence**2, starts, axis=-1)
    part = np.maximum(squares - sums**2 / size, 0) * size / np.maximum(size - 1, 1)
    counted = np.add.reduceat(sample.counted[..., order], starts, axis=-1, dtype=np.int64)
    part = np.where(part > 1e-20, part, 0.0)
    variance = part.sum(axis=-1)
    df = _quotient(variance**2, (part**2 / np.maximum(counted - 1, 1)).sum(axis=-1))
    low, high = _t_ends(sample.value, variance, df, bounds)
    return low, high, df, np.where(counted > 0, counted, len(order) + FEW_IN_STRATUM).min(axis=-1)


def _t_ends(
    value: Floats, variance: Floats, df: Floats | NDArray[np.int64], bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    reach = stats.t.ppf((1 + LEVEL) / 2, np.maximum(np.nan_to_num(df), 1)) * np.sqrt(variance)
    return np.maximum(value - reach, bounds[0]), np.minimum(value + reach, bounds[1])


def _quotient(top: NDArray[Any], bottom: NDArray[Any]) -> Floats:
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    return np.divide(top, bottom, out=np.full(shape, np.nan), where=np.broadcast_to(bottom > 0, shape))
