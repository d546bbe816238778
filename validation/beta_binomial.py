"""The beta-binomial model on a grid of (mu, M): weights of its points, and quantiles of the mixture of betas.

mu runs over 199 values from .005 to .995, M over 80 from 1 to 200, evenly in its logarithm.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln

Floats = NDArray[np.float64]

_mu, _precision = np.meshgrid(
    np.linspace(0.005, 0.995, 199), np.exp(np.linspace(0, np.log(200), 80)), indexing="ij"
)
_ALPHA: Floats = (_mu * _precision).ravel()
_BETA: Floats = ((1 - _mu) * _precision).ravel()


def grid_posterior(k: Floats, n: Floats) -> tuple[Floats, Floats, Floats]:
    """Weights of the grid points, with those points dropped that carry none."""
    (k_u, n_u), times = np.unique(np.stack([k, n]), axis=1, return_counts=True)
    log_likelihood = (betaln(_ALPHA[:, None] + k_u, _BETA[:, None] + n_u - k_u)) @ times
    log_likelihood = log_likelihood - betaln(_ALPHA, _BETA) * times.sum()
    weight = np.exp(log_likelihood - log_likelihood.max())
    kept = weight > 1e-9
    return weight[kept] / weight[kept].sum(), _ALPHA[kept], _BETA[kept]


def mixture_quantiles(weight: Floats, a: Floats, b: Floats, k: Floats, n: Floats) -> tuple[Floats, Floats]:
    """2.5% and 97.5% points of each mixture of betas, by quadrature on the logit scale.

    The cumulated density starts from an exact value at p = 1/2: the far tails, where Beta(a < 1) piles up, need no
    integration.
    """
    logit = _logit_grid(k, n)
    log_p, log_q = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
    log_norm = np.log(weight)[:, None] - betaln(a[:, None] + k, b[:, None] + n - k)
    scale = log_norm.max(axis=0)
    kernel = np.stack([a, b], axis=1) @ np.stack([log_p, log_q])
    np.exp(kernel, out=kernel)
    mixture = np.exp(log_norm - scale).T @ kernel
    density = np.exp(
        np.log(np.maximum(mixture, 1e-300)) + scale[:, None] + np.outer(k, log_p) + np.outer(n - k, log_q)
    )
    steps = np.diff(logit) * (density[:, 1:] + density[:, :-1]) / 2
    cumulated = np.concatenate([np.zeros((len(k), 1)), np.cumsum(steps, axis=1)], axis=1)
    middle = int(np.searchsorted(logit, 0.0))
    half = weight @ betainc(a[:, None] + k, b[:, None] + n - k, 0.5)
    distribution = cumulated + (half - cumulated[:, middle])[:, None]
    p = np.exp(log_p)
    ends = np.array(
        [np.interp([0.025, 0.975], row, p) for row in np.maximum.accumulate(distribution, axis=1)]
    )
    return ends[:, 0], ends[:, 1]


def _logit_grid(k: Floats, n: Floats) -> Floats:
    """Logits from -40 to 40, dense where rates lie, denser around the rate of a metric with many items."""
    tail = np.linspace(8, 40, 65)[1:]
    points = [np.linspace(-8, 8, 321), tail, -tail]
    for successes, trials in zip(k, n, strict=True):
        if trials > 60:
            centre = (successes + 0.5) / (trials + 1)
            spread = 1 / np.sqrt(trials * centre * (1 - centre))
            points.append(np.log(centre / (1 - centre)) + np.linspace(-6, 6, 121) * spread)
    return np.unique(np.concatenate([*points, [0.0]]).clip(-40, 40))
