"""Differences between all pairs of models under resampling of metrics: standard errors, and the largest t."""

import numpy as np
from numpy.typing import NDArray


def max_t(deviations: NDArray[np.float64], errors: NDArray[np.float64], *, level: float = 0.95) -> float:
    """The quantile of the largest studentised deviation over all pairs; infinite where too many errors are zero.

    Args:
        deviations: (resamples, models, models): resampled minus observed differences.
        errors: (models, models) or (resamples, models, models): standard errors of the differences.
        level: the quantile.
    """
    first, second = np.triu_indices(deviations.shape[1], 1)
    if not first.size:
        return 0.0
    apart = np.abs(deviations[:, first, second])
    scale = np.broadcast_to(errors, deviations.shape)[:, first, second]
    studentised = np.where(apart > 1e-12, np.inf, 0.0)
    np.divide(apart, scale, out=studentised, where=scale > 1e-12)
    largest = np.sort(studentised.max(axis=1))
    return float(largest[min(len(largest) - 1, int(np.ceil(level * len(largest))))])


def difference_errors(
    influence: NDArray[np.float64], weights: NDArray[np.float64], strata: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(resamples, models, models): standard error of each difference in each resample, linearised, within strata."""
    clusters, models = influence.shape
    variance = np.zeros((len(weights), models, models))
    for stratum in np.unique(strata):
        members = strata == stratum
        size = int(members.sum())
        z, w = influence[members], weights[:, members]
        sums = w @ z
        products = (w @ (z[:, :, None] * z[:, None, :]).reshape(size, -1)).reshape(variance.shape)
        squares = np.einsum("bjj->bj", products)
        within = squares[:, :, None] + squares[:, None, :] - 2 * products
        between = (sums[:, :, None] - sums[:, None, :]) ** 2 / size
        variance += size / max(size - 1, 1) * (within - between)
    return np.asarray(np.sqrt(np.maximum(variance, 0)) / clusters, dtype=np.float64)


def guarded_errors(
    errors: NDArray[np.float64], differences: NDArray[np.float64], n_clusters: int
) -> NDArray[np.float64]:
    """Standard errors without zeros.

    A difference that is the same in every metric resamples without any spread; it gets the error that it would have
    if one more metric had shown none.
    """
    floor = np.abs(differences) / np.sqrt(n_clusters * (n_clusters + 1))
    return np.where(errors < 1e-12, floor, errors)
