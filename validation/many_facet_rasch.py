"""Raters' severity with the items' own level taken out: the ordinal many-facet Rasch model, by penalised likelihood.

logit P(label at or above category k) = item level - rater severity - threshold k. Unlike `raters.severity`, a high value here
means a harsh rater.
"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from validation.arguments import require_positive
from validation.raters import rater_components
from validation.ratings import MISSING, Ratings
from validation.results import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaschModel:
    """A fitted model, or the reason for refusing to fit one."""

    severity: dict[Hashable, Estimate]
    """For each rater the severity in logits: above 0 harsher than the average rater."""
    thresholds: tuple[float, ...]
    """(categories - 1,) where a label passes from one category to the next, in logits; empty where refused."""
    levels: Floats | None
    """(units,) level of each item in logits, 0 for an item without ratings; None where refused."""
    refused_because: str | None
    """A reason code; None where the model was fitted."""


def many_facet_rasch(
    ratings: Ratings, *, item_sd: float = 2.0, rater_sd: float = 1.0, least_items: int = 3
) -> RaschModel:
    """Fit the model: items and raters have normal penalties, thresholds none but their order.

    Items are drawn towards a common level, so with two ratings an item some of the level of a rater's items stays in the
    rater's severity: assign items at random. Refused where the rater-item graph falls into several components (severities would not compare), where a rater
    shares fewer than three items, or where everybody used one category.

    Args:
        ratings: categories in order, the harshest first.
        item_sd, rater_sd: standard deviations of the penalties, in logits.
        least_items: shared items that every rater must have.

    References:
        Linacre (1989), Many-Facet Rasch Measurement. The penalty follows Patz, Junker, Johnson and Mariano (2002),
        Journal of Educational and Behavioral Statistics 27.
    """
    require_positive("item_sd", item_sd)
    require_positive("rater_sd", rater_sd)
    used_categories = np.flatnonzero(ratings.counts.sum(axis=0))
    reason = _cannot(ratings, len(used_categories), least_items)
    if reason:
        return RaschModel(
            severity={rater: Estimate.undefined(reason, n=0) for rater in ratings.raters},
            thresholds=(),
            levels=None,
            refused_because=reason,
        )
    unit, rater = np.nonzero(ratings.codes != MISSING)
    # A category that nobody used has no threshold that data could place.
    label = np.searchsorted(used_categories, ratings.codes[unit, rater])
    model = _Model(unit, rater, label, ratings.codes.shape, len(used_categories), item_sd, rater_sd)
    best = minimize(model.loss, model.start(), jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x
    units, raters = ratings.codes.shape
    severities = best[units : units + raters]
    centre = severities.mean()
    errors = model.severity_errors(best)
    counts = (ratings.codes != MISSING).sum(axis=0)
    z = float(norm.ppf(0.975))
    return RaschModel(
        severity={
            name: Estimate(
                value=float(severities[r] - centre),
                low=float(severities[r] - centre - z * errors[r]),
                high=float(severities[r] - centre + z * errors[r]),
                n=int(counts[r]),
                n_ratings=int(counts[r]),
                method="penalised likelihood, normal",
            )
            for r, name in enumerate(ratings.raters)
        },
        thresholds=tuple(float(cut + centre) for cut in _cuts(best[units + raters :])),
        levels=best[:units],
        refused_because=None,
    )


def _cannot(ratings: Ratings, used_categories: int, least_items: int) -> str | None:
    if not ratings.n_ratings:
        return "no_ratings"
    if used_categories < 2:
        return "no_variation"
    if len(set(rater_components(ratings).tolist())) > 1:
        return "not_connected"
    if len(ratings.raters) < 2:
        return "too_few_raters"
    shared = (ratings.codes[ratings.pairable] != MISSING).sum(axis=0)
    return "too_few_items" if shared.min() < least_items else None


def _cuts(free: Floats) -> Floats:
    return np.asarray(np.concatenate([free[:1], free[0] + np.cumsum(np.exp(free[1:]))]), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Model:
    """The penalised likelihood; parameters are items, raters, the first threshold and the logs of the steps."""

    unit: NDArray[np.intp]
    rater: NDArray[np.intp]
    label: NDArray[np.intp]
    shape: tuple[int, ...]
    categories: int
    item_sd: float
    rater_sd: float

    def start(self) -> Floats:
        return np.concatenate([np.zeros(sum(self.shape)), [-0.5], np.zeros(self.categories - 2)])

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        units, raters = self.shape
        level, severity = parameters[:units], parameters[units : units + raters]
        free = parameters[units + raters :]
        at_least, above = self._chances(parameters)
        chance = np.maximum(at_least - above, 1e-12)
        slope_low, slope_high = at_least * (1 - at_least) / chance, above * (1 - above) / chance
        by_place = slope_low - slope_high
        by_cut = np.bincount(self.label, -slope_low, minlength=self.categories)[1:]
        by_cut = by_cut + np.bincount(self.label + 1, slope_high, minlength=self.categories + 1)[1:-1]
        by_free = np.cumsum(by_cut[::-1])[::-1] * np.concatenate([[1.0], np.exp(free[1:])])
        gradient = np.concatenate(
            [
                np.bincount(self.unit, by_place, minlength=units) - level / self.item_sd**2,
                -np.bincount(self.rater, by_place, minlength=raters) - severity / self.rater_sd**2,
                by_free,
            ]
        )
        penalty = (level**2).sum() / (2 * self.item_sd**2) + (severity**2).sum() / (2 * self.rater_sd**2)
        return float(penalty - np.log(chance).sum()), -gradient

    def severity_errors(self, parameters: Floats) -> Floats:
        """(raters,) standard errors of the centred severities, from the curvature at the optimum.

        No rating is of two items, so that the items' block of the curvature is diagonal: what remains of the others' once
        the items are taken out (Schur's complement) is as small as they are few.
        """
        units, raters = self.shape
        at_least, above = self._chances(parameters)
        # The second derivative of a logistic interval's logarithm, as the place moves.
        by_place = at_least * (1 - at_least) + above * (1 - above)
        of_units = np.bincount(self.unit, by_place, minlength=units) + 1 / self.item_sd**2
        with_units = np.zeros((len(parameters) - units, units))
        with_units[self.rater, self.unit] = -by_place
        of_raters = np.bincount(self.rater, by_place, minlength=raters) + 1 / self.rater_sd**2
        among = np.diag(np.concatenate([of_raters, np.zeros(len(parameters) - units - raters)]))
        for k in range(raters, len(among)):
            row = self._curvature(parameters, units + k)
            with_units[k], among[k] = row[:units], row[units:]
            among[:, k] = among[k]
        left = among - (with_units / of_units) @ with_units.T
        covariance = np.linalg.pinv(left)[:raters, :raters]
        centring = np.eye(raters) - 1 / raters
        return np.asarray(np.sqrt(np.maximum(np.diag(centring @ covariance @ centring), 0)), dtype=np.float64)

    def _chances(self, parameters: Floats) -> tuple[Floats, Floats]:
        """(ratings,) how likely each label or a higher one is, and how likely a higher one."""
        units, raters = self.shape
        level, severity = parameters[:units], parameters[units : units + raters]
        edges = np.concatenate([[-np.inf], _cuts(parameters[units + raters :]), [np.inf]])
        place = level[self.unit] - severity[self.rater]
        return expit(place - edges[self.label]), expit(place - edges[self.label + 1])

    def _curvature(self, parameters: Floats, moved: int, step: float = 1e-4) -> Floats:
        """How the gradient changes as one parameter moves."""
        shift = np.zeros(len(parameters))
        shift[moved] = step
        return (self.loss(parameters + shift)[1] - self.loss(parameters - shift)[1]) / (2 * step)
