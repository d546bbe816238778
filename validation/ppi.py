"""Prediction-powered inference for a mean: labels where there are some, a judge's verdicts or scores everywhere."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.arguments import require_one_length
from validation.intervals import Z
from validation.results import Estimate

Floats = NDArray[np.float64]

FEW_LABELS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPowered:
    """A mean by prediction-powered inference."""

    rate: Estimate
    """The mean label of everything, labelled or not."""
    lam: Estimate
    """How far the judge is listened to: 0 not at all (labels only), 1 fully."""
    standard_error: Estimate
    """Of `rate`."""


def ppi_mean(
    labels: ArrayLike,
    *,
    predictions: ArrayLike,
    unlabelled: ArrayLike,
    weights: ArrayLike | None = None,
    unlabelled_weights: ArrayLike | None = None,
    lam: float | None = None,
) -> PredictionPowered:
    """PPI++: the judge's mean, put right by the labelled items, with the weight on the judge that varies least.

    The interval is normal: it is too short for few labels or a rate near 0 or 1 (the notes say so).

    Args:
        labels: (n,) human labels, 0 to 1.
        predictions: (n,) the judge's verdict or score of the same items.
        unlabelled: (N,) the judge's verdict or score of items without a label.
        weights: (n,) for instance one over the inclusion probability; only ratios count.
        unlabelled_weights: (N,).
        lam: a fixed weight on the judge; chosen from the data by default.

    Raises:
        ValueError: lengths that differ, or weights that are not above 0.

    Source: Angelopoulos, Duchi and Zrnic 2023, PPI++, arXiv:2311.01453.

    >>> Y, F = [1] * 50 + [0] * 40, [1] * 45 + [0] * 5 + [0] * 34 + [1] * 6
    >>> found = ppi_mean(Y, predictions=F, unlabelled=[1] * 650 + [0] * 350)
    >>> round(found.rate.value, 4), round(found.lam.value, 4)
    (0.6172, 0.7395)
    """
    y, f, u = (np.asarray(x, dtype=np.float64) for x in (labels, predictions, unlabelled))
    require_one_length(labels=y, predictions=f)
    w, w_u = _normalised(weights, y), _normalised(unlabelled_weights, u)
    n, N = len(y), len(u)
    if n == 0 or N == 0:
        return _undefined("no_ratings" if n == 0 else "no_items", n)
    if n < 2:
        return _undefined("too_few_items", n)
    if lam is None:
        lam = _lambda(y, f, u, w, w_u)
    value, se = _mean(y, f, u, w, w_u, lam)
    notes = []
    if n < FEW_LABELS:
        notes.append(f"{n} labels: under 100 the normal interval may be too short")
    if not 0.1 <= value <= 0.9:
        notes.append("near 0 or 1 the normal interval is too short")
    if not 0 <= value <= 1:
        notes.append(f"the estimate {value:.3f} was cut to what a rate can be")
    return PredictionPowered(
        rate=Estimate(
            value=min(max(value, 0.0), 1.0),
            low=min(max(value - Z * se, 0.0), 1.0) if se > 0 else None,
            high=min(max(value + Z * se, 0.0), 1.0) if se > 0 else None,
            n=n,
            method="PPI++, normal" if se > 0 else "",
            notes=(*notes, *(() if se > 0 else ("no spread at all: no interval",))),
        ),
        lam=Estimate(value=lam, n=n, method="smallest variance, cut to 0..1"),
        standard_error=Estimate(value=se, n=n, method="large-sample standard error"),
    )


def stratified_ppi(
    labels: ArrayLike,
    *,
    predictions: ArrayLike,
    unlabelled: ArrayLike,
    strata: ArrayLike,
    unlabelled_strata: ArrayLike,
) -> PredictionPowered:
    """PPI++ within strata, each with its own weight on the judge, put together by their shares of the unlabelled.

    With the judge's verdict as the stratum this is verdict post-stratification (up to the interval).

    Raises:
        ValueError: lengths that differ.

    Source: Fisch et al. 2024, StratPPI, arXiv:2406.04291.
    """
    y, f, u = (np.asarray(x, dtype=np.float64) for x in (labels, predictions, unlabelled))
    stratum, of_u = np.asarray(strata), np.asarray(unlabelled_strata)
    require_one_length(labels=y, predictions=f, strata=stratum)
    require_one_length(unlabelled=u, unlabelled_strata=of_u)
    if len(y) == 0 or len(u) == 0:
        return _undefined("no_ratings" if len(y) == 0 else "no_items", len(y))
    value, variance, lam = 0.0, 0.0, 0.0
    for name in np.unique(of_u):
        here, there = stratum == name, of_u == name
        if here.sum() < 2:
            return _undefined("empty_stratum", len(y))
        within = ppi_mean(y[here], predictions=f[here], unlabelled=u[there])
        size = there.sum() / len(u)
        ones, ones_u = np.ones(int(here.sum())), np.ones(int(there.sum()))
        mean, se = _mean(y[here], f[here], u[there], ones, ones_u, within.lam.value or 0.0)
        value, variance = value + size * mean, variance + (size * se) ** 2
        lam += size * (within.lam.value or 0.0)
    n, se = len(y), variance**0.5
    point = min(max(value, 0.0), 1.0)
    return PredictionPowered(
        rate=Estimate(
            value=point,
            low=max(value - Z * se, 0.0) if se > 0 else None,
            high=min(value + Z * se, 1.0) if se > 0 else None,
            n=n,
            method="stratified PPI++, normal" if se > 0 else "",
        ),
        lam=Estimate(value=lam, n=n, method="mean over strata"),
        standard_error=Estimate(value=se, n=n, method="large-sample standard error"),
    )


def _mean(y: Floats, f: Floats, u: Floats, w: Floats, w_u: Floats, lam: float) -> tuple[float, float]:
    value = (w_u * lam * u).mean() + (w * (y - lam * f)).mean()
    variance = (w_u * lam * u).var() / len(u) + (w * (y - lam * f)).var() / len(y)
    return float(value), float(np.sqrt(variance))


def _lambda(y: Floats, f: Floats, u: Floats, w: Floats, w_u: Floats) -> float:
    n, N = len(y), len(u)
    theta, _ = _mean(y, f, u, w, w_u, 1.0)
    with_labels = w * (f - theta)
    covariance = float(np.cov(w * (y - theta), with_labels, ddof=0)[0, 1])
    # ddof 0 above and 1 here, as in ppi_py, so that the two agree to the last digit.
    spread = float(np.concatenate([with_labels, w_u * (u - theta)]).var(ddof=1))
    if spread == 0:
        return 0.0
    return min(max(covariance / ((1 + n / N) * spread), 0.0), 1.0)


def _normalised(weights: ArrayLike | None, beside: Floats) -> Floats:
    """Weights with mean 1."""
    w = np.ones_like(beside) if weights is None else np.asarray(weights, dtype=np.float64)
    require_one_length(weights=w, values=beside)
    if not (w > 0).all():
        raise ValueError("weights must be above 0")
    return w / w.mean() if len(w) else w


def _undefined(reason: str, n: int) -> PredictionPowered:
    nothing = Estimate.undefined(reason, n=n)
    return PredictionPowered(rate=nothing, lam=nothing, standard_error=nothing)
