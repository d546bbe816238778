"""Self-preference by regression: the judge's pass on people's label and on whose model it is."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, t
from statsmodels.genmod.cov_struct import Exchangeable
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.tools.sm_exceptions import (
    ConvergenceWarning,
    PerfectSeparationError,
    PerfectSeparationWarning,
)

from validation.intervals import LEAST_CLUSTERS, TOO_FEW
from validation.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyRegression:
    """The effect of one kinship in the regression."""

    odds_ratio: Estimate
    """Odds of a pass, this kinship to other families, given the human label and the covariates."""
    marginal_effect: Estimate
    """The same in points of pass rate: the average difference with the kinship switched on and off."""


def family_regression(
    *,
    judge: ArrayLike,
    human: ArrayLike,
    kinship: Sequence[str],
    metric: Sequence[Hashable] | None = None,
    covariates: Mapping[str, ArrayLike] | None = None,
) -> dict[str, FamilyRegression]:
    """Logistic regression of the judge's pass on the human label, self, sibling and covariates.

    With metrics: generalised estimating equations, exchangeable within a metric, robust errors, t on G - 1. Without: an
    ordinary logistic regression. Where a group has all its verdicts alike the maximum likelihood does not exist and the
    answer is undefined (`separation`): read the Mantel-Haenszel figures instead.

    Args:
        judge: (items,) 1 or 0.
        human: (items,) 1, 0 or a share between.
        kinship: (items,) `self`, `sibling` or `other`.
        metric: (items,) the metric.
        covariates: further columns (items,), such as the log of the length or the age.

    Returns:
        The kinships that occur (`self`, `sibling`), each against `other`.
    """
    y, h = np.asarray(judge, dtype=np.float64), np.asarray(human, dtype=np.float64)
    kin = np.asarray(kinship)
    if unknown := set(kin.tolist()) - {"self", "sibling", "other"}:
        raise ValueError(f"kinship={sorted(unknown)[0]!r} is not self, sibling or other")
    names = [name for name in ("self", "sibling") if (kin == name).any()]
    further = [np.asarray(column, dtype=np.float64) for column in (covariates or {}).values()]
    if any(len(column) != len(y) for column in (h, kin, *further)):
        raise ValueError(f"the columns do not all have {len(y)} items")
    columns = [np.ones(len(y)), h, *[(kin == name).astype(np.float64) for name in names], *further]
    design = np.stack(columns, axis=1) if len(y) else np.empty((0, len(columns)))
    known = ~np.isnan(y) & ~np.isnan(design).any(axis=1)
    y, design = y[known], design[known]
    codes = (
        None if metric is None else np.unique(np.asarray(metric, dtype=str)[known], return_inverse=True)[1]
    )
    reason = _cannot(y, design, [2 + k for k in range(len(names))])
    if reason:
        undefined = Estimate.undefined(reason, n=len(y))
        return {name: FamilyRegression(odds_ratio=undefined, marginal_effect=undefined) for name in names}
    fit = _fit(y, design, codes)
    if fit is None:
        undefined = Estimate.undefined("separation", n=len(y))
        return {name: FamilyRegression(odds_ratio=undefined, marginal_effect=undefined) for name in names}
    beta, covariance = fit
    return {
        name: _effect(beta, covariance, design, 2 + k, None if codes is None else int(codes.max()) + 1)
        for k, name in enumerate(names)
    }


def _cannot(y: NDArray[np.float64], design: NDArray[np.float64], effects: list[int]) -> str | None:
    if not len(y):
        return "no_items"
    if y.min() == y.max():
        return "one_class_only"
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return "not_identified"
    if any(len(set(y[design[:, k] == 1].tolist())) < 2 for k in effects):
        return "separation"
    return None


def _fit(
    y: NDArray[np.float64], design: NDArray[np.float64], codes: NDArray[np.intp] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    family = Binomial()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("error", PerfectSeparationWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            if codes is None or codes.max() == 0:
                fit = GLM(y, design, family=family).fit()
            else:
                fit = GEE(y, design, groups=codes, family=family, cov_struct=Exchangeable()).fit()
        except (
            ConvergenceWarning,
            PerfectSeparationError,
            PerfectSeparationWarning,
            RuntimeWarning,
            np.linalg.LinAlgError,
        ):
            return None
    beta, covariance = np.asarray(fit.params), np.asarray(fit.cov_params())
    if not np.isfinite(covariance).all() or np.abs(beta).max() > 15:
        return None
    return beta, covariance


def _effect(
    beta: NDArray[np.float64],
    covariance: NDArray[np.float64],
    design: NDArray[np.float64],
    k: int,
    clusters: int | None,
) -> FamilyRegression:
    on, off = design.copy(), design.copy()
    others = [j for j in (2, 3) if j < design.shape[1] and set(np.unique(design[:, j])) <= {0.0, 1.0}]
    on[:, others], off[:, others] = 0, 0
    on[:, k] = 1
    p_on, p_off = 1 / (1 + np.exp(-on @ beta)), 1 / (1 + np.exp(-off @ beta))
    effect = float((p_on - p_off).mean())
    slope = ((p_on * (1 - p_on))[:, None] * on - (p_off * (1 - p_off))[:, None] * off).mean(axis=0)
    n = len(design)
    error, effect_error = float(np.sqrt(covariance[k, k])), float(np.sqrt(slope @ covariance @ slope))
    ratio = Estimate(value=float(np.exp(beta[k])), n=n, n_clusters=clusters)
    point = Estimate(value=effect, n=n, n_clusters=clusters)
    if clusters is not None and clusters < LEAST_CLUSTERS:
        note = TOO_FEW.format(n=clusters)
        return FamilyRegression(odds_ratio=ratio.noting(note), marginal_effect=point.noting(note))
    critical = float(norm.ppf(0.975) if clusters is None else t.ppf(0.975, clusters - 1))
    method = "logistic regression" if clusters is None else f"estimating equations, t({clusters - 1})"
    return FamilyRegression(
        odds_ratio=Estimate(
            value=float(np.exp(beta[k])),
            low=float(np.exp(beta[k] - critical * error)),
            high=float(np.exp(beta[k] + critical * error)),
            n=n,
            n_clusters=clusters,
            method=method,
        ),
        marginal_effect=Estimate(
            value=effect,
            low=effect - critical * effect_error,
            high=effect + critical * effect_error,
            n=n,
            n_clusters=clusters,
            method=method,
        ),
    )
