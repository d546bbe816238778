"""Partial pooling of rates per metric: the beta-binomial model, integrated on a grid.

k_m ~ Binomial(n_m, p_m), p_m ~ Beta(mu M, (1 - mu) M), with mu ~ U(0, 1) and log M ~ U(log 1, log 200). The grid
carries the uncertainty about mu and M into every rate: exact to the grid, deterministic, no sampling.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import betainc, betaln

from validation.arguments import require_open_share
from validation.beta_binomial import grid_posterior, mixture_quantiles
from validation.results import Estimate

Floats = NDArray[np.float64]

METHOD = "beta-binomial partial pooling (199x80 grid), 95% credible interval"
FEWEST_METRICS_FOR_OWN_FIT = 6
"""Groups (polarities) are fitted apart only where every one of them has as many reviewed metrics."""
CAP_ON_PRECISION = 1e4


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinkage:
    """Rates of several metrics, each drawn towards the others as far as its own evidence is thin."""

    rates: tuple[Estimate, ...]
    """(metrics,): posterior mean and 95% credible interval; a metric without items has the prior predictive."""
    below: tuple[Estimate, ...]
    """(metrics,): posterior probability that the rate lies below `threshold`."""
    threshold: float
    """The threshold of `below`."""
    next_metric: tuple[Estimate, ...]
    """One for each fit (each group, or one for all): the rate of a metric nobody has reviewed yet."""


def shrink(
    successes: ArrayLike,
    *,
    trials: ArrayLike,
    threshold: float = 0.75,
    groups: Sequence[Hashable] | None = None,
) -> Shrinkage:
    """Rates of metrics with few items each, by partial pooling.

    A rate near 1 means that nearly all of a metric's items succeed (agree, flip, ...), near 0 that none does; the
    fewer the items, the closer the estimate to the mean of all metrics and the wider its interval.

    Args:
        successes: (metrics,) successes; soft labels make them fractions.
        trials: (metrics,) items; 0 where the metric was not reviewed.
        threshold: `below` is the posterior probability of a rate under it.
        groups: (metrics,) for instance polarity. The groups are fitted apart if each has six reviewed metrics or
            more, else all together (and the notes say so).

    Raises:
        ValueError: the lengths differ, a count lies outside 0 <= successes <= trials, or the threshold outside
            (0, 1).

    Source: Gelman et al. 2013, Bayesian Data Analysis, ch. 5 (hierarchical beta-binomial).

    >>> pooled = shrink([3, 2, 9, 8, 5, 7, 1, 9], trials=[3, 3, 9, 9, 9, 9, 3, 9])
    >>> first = pooled.rates[0]
    >>> round(first.value, 3), round(first.low, 3), round(first.high, 3)
    (0.852, 0.586, 0.999)
    """
    k, n = _counts(successes, trials)
    require_open_share("threshold", threshold)
    if groups is not None and len(groups) != len(k):
        raise ValueError(f"{len(groups)} groups for {len(k)} metrics")

    fits, notes = _fits(n, groups)
    rates: dict[int, Estimate] = {}
    below: dict[int, Estimate] = {}
    following = []
    for members in fits:
        fitted_rates, fitted_below = _fit(
            np.append(k[members], 0), np.append(n[members], 0), threshold, notes
        )
        rates.update(zip(members.tolist(), fitted_rates, strict=False))
        below.update(zip(members.tolist(), fitted_below, strict=False))
        following.append(fitted_rates[-1])
    return Shrinkage(
        rates=tuple(rates[metric] for metric in range(len(k))),
        below=tuple(below[metric] for metric in range(len(k))),
        threshold=threshold,
        next_metric=tuple(following),
    )


def maximum_likelihood(successes: ArrayLike, *, trials: ArrayLike) -> tuple[Estimate, Estimate]:
    """Mean and precision (mu, M) of the beta-binomial by maximum likelihood: a check, not the estimate.

    It ignores the uncertainty about mu and M, and where metrics look alike it runs to M = 10,000 (the cap), that is
    to complete pooling; the note `complete pooling` then says so.

    >>> mu, precision = maximum_likelihood([3, 2, 9, 8, 5, 7, 1, 9], trials=[3, 3, 9, 9, 9, 9, 3, 9])
    >>> round(mu.value, 3), round(precision.value, 1)
    (0.802, 5.8)
    """
    k, n = _counts(successes, trials)
    total = round(float(n.sum()))
    if (n > 0).sum() < 2:
        return Estimate.undefined("too_few_clusters", n=total), Estimate.undefined(
            "too_few_clusters", n=total
        )

    def loss(parameters: Floats) -> float:
        mu, precision = 1 / (1 + np.exp(-parameters[0])), np.exp(parameters[1])
        a, b = mu * precision, (1 - mu) * precision
        return -float((betaln(a + k, b + n - k) - betaln(a, b)).sum())

    start = (k.sum() + 1) / (n.sum() + 2)
    cap = np.log(CAP_ON_PRECISION)
    inside = minimize(
        loss,
        np.array([np.log(start / (1 - start)), np.log(5.0)]),
        method="L-BFGS-B",
        bounds=[(-20, 20), (np.log(1e-2), cap)],
    )
    # The likelihood is nearly flat on its way to the cap, and the search may stop anywhere on it.
    pooled = minimize(loss, np.array([inside.x[0], cap]), method="L-BFGS-B", bounds=[(-20, 20), (cap, cap)])
    best = pooled.x if pooled.fun <= inside.fun else inside.x
    mu, precision = float(1 / (1 + np.exp(-best[0]))), float(np.exp(best[1]))
    notes = ("complete pooling: the precision ran to its cap",) if precision > 0.99 * CAP_ON_PRECISION else ()
    method, clusters = "beta-binomial maximum likelihood, no interval", int((n > 0).sum())
    return (
        Estimate(value=mu, n=total, n_clusters=clusters, method=method, notes=notes),
        Estimate(value=precision, n=total, n_clusters=clusters, method=method, notes=notes),
    )


def _counts(successes: ArrayLike, trials: ArrayLike) -> tuple[Floats, Floats]:
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if k.ndim != 1 or k.shape != n.shape:
        raise ValueError(f"successes {k.shape} and trials {n.shape} must be two lists of one length")
    wrong = ~((k >= 0) & (k <= n) & np.isfinite(n))
    if wrong.any():
        metric = int(np.argmax(wrong))
        raise ValueError(f"metric {metric}: {k[metric]} successes of {n[metric]} trials")
    return k, n


def _fits(n: Floats, groups: Sequence[Hashable] | None) -> tuple[list[NDArray[np.intp]], tuple[str, ...]]:
    together = [np.arange(len(n))]
    if groups is None or len(set(groups)) < 2:
        return together, ()
    names = list(dict.fromkeys(groups))
    apart = [np.array([i for i, group in enumerate(groups) if group == name]) for name in names]
    if min(int((n[members] > 0).sum()) for members in apart) < FEWEST_METRICS_FOR_OWN_FIT:
        return together, ("groups fitted together: one has fewer than 6 reviewed metrics",)
    return apart, ()


def _fit(
    k: Floats, n: Floats, threshold: float, notes: tuple[str, ...]
) -> tuple[list[Estimate], list[Estimate]]:
    items = [round(float(count)) for count in n]
    reviewed = int((n > 0).sum())
    if reviewed == 0:
        nothing = [Estimate.undefined("no_ratings", n=0) for _ in items]
        return nothing, nothing
    weight, a, b = grid_posterior(k, n)
    pairs, of_metric = np.unique(np.stack([k, n]), axis=1, return_inverse=True)
    k_u, n_u = pairs
    mean = weight @ ((a[:, None] + k_u) / ((a + b)[:, None] + n_u))
    under = weight @ betainc(a[:, None] + k_u, b[:, None] + n_u - k_u, threshold)
    low, high = mixture_quantiles(weight, a, b, k_u, n_u)

    rates, below = [], []
    for count, pair in zip(items, of_metric.ravel(), strict=True):
        say = notes if count else (*notes, "not reviewed: the prior predictive, from the other metrics")
        rates.append(
            Estimate(
                value=float(mean[pair]),
                low=float(low[pair]),
                high=float(high[pair]),
                n=count,
                n_clusters=reviewed,
                method=METHOD,
                notes=say,
            )
        )
        below.append(
            Estimate(
                value=float(np.clip(under[pair], 0, 1)),
                n=count,
                n_clusters=reviewed,
                method=f"posterior probability of a rate below {threshold:g}",
                notes=say,
            )
        )
    return rates, below
