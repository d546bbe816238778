"""Rates before they are estimates: the points, their resamples, and how each metric moves them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from impactbench.rates.metric_bootstrap import Drawn, Floats, resampled_rates


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
        value = quotient(groups.astype(passed.dtype) @ passed, n)
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
        shares = quotient(weights, weights.sum(axis=0))
        used = np.nan_to_num(shares) > 0
        if used.all():
            drawn = np.einsum("b...,b...d->...d", shares.astype(self.drawn.dtype), self.drawn)
        else:
            drawn = np.zeros(self.drawn.shape[1:])
            for share, use, values in zip(shares, used, self.drawn, strict=True):
                drawn[use] += share[use][:, None] * values[use]
        return self._with(
            np.where(used.any(axis=0), np.where(used, shares * self.value, 0).sum(axis=0), np.nan),
            np.where(used, self.n, 0).sum(axis=0),
            (np.nan_to_num(shares)[..., None] * self.influence).sum(axis=0),
            np.asarray((used[..., None] & self.counted).any(axis=0)),
            drawn,
        )

    def joined(self, other: Self) -> Self:
        """Both, one after the other along the first axis."""
        return self._with(*(np.concatenate(pair) for pair in zip(self._arrays, other._arrays, strict=True)))

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


def quotient(top: NDArray[Any], bottom: NDArray[Any]) -> Floats:
    """The ratio, NaN where the bottom is not above 0."""
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    found = np.full(shape, np.nan)
    np.divide(top, bottom, out=found, where=np.broadcast_to(bottom > 0, shape))
    return found
