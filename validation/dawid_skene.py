"""Labels by a latent-class model of the raters (Dawid and Skene): a second opinion on a majority, never the reference.

It assumes one truth per item and raters who err independently given it. Never feed a judge in as a rater when the labels
are to validate that judge.
"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.arguments import require_at_least
from validation.ratings import MISSING, Ratings


@dataclass(frozen=True, slots=True, kw_only=True)
class DawidSkene:
    """A fitted model, or the reason for refusing to fit one."""

    labels: tuple[Hashable | None, ...]
    """(units,) the likeliest category; None where the model was refused or a unit has no rating."""
    posterior: NDArray[np.float64] | None
    """(units, categories) probability of each category, the prevalence where a unit has no rating; None where refused."""
    confusion: NDArray[np.float64] | None
    """(raters, categories, categories) P(rater says column | truth is row); None where refused."""
    prevalence: NDArray[np.float64] | None
    """(categories,) share of each category; None where refused."""
    iterations: int
    """Steps of the expectation-maximisation."""
    refused_because: str | None
    """A reason code; None where the model was fitted."""


def dawid_skene(
    ratings: Ratings,
    *,
    least_raters: int = 3,
    least_items: int = 10,
    iterations: int = 100,
    tolerance: float = 1e-5,
) -> DawidSkene:
    """Fit the model by expectation-maximisation, starting from the shares of the votes.

    Refused (with a reason code) where an item has fewer than three ratings or a rater fewer than ten items: the
    confusion matrices would be guesses.

    Args:
        ratings: the raters, without the judge.
        least_raters: ratings that every rated item must have.
        least_items: items that every rater must have.
        iterations: at most.
        tolerance: stop where the mean log-likelihood of an item gains less.

    References:
        Dawid and Skene (1979), Applied Statistics 28. doi:10.2307/2346806
    """
    require_at_least("least_raters", least_raters, 1)
    require_at_least("iterations", iterations, 1)
    sizes = ratings.ratings_per_unit
    loads = (ratings.codes != MISSING).sum(axis=0)
    rated = sizes > 0
    if not rated.any():
        return _refused(ratings, "no_ratings")
    if sizes[rated].min() < least_raters:
        return _refused(ratings, "too_few_raters")
    if loads[loads > 0].min() < least_items:
        return _refused(ratings, "too_few_items")
    if (ratings.counts.sum(axis=0) > 0).sum() < 2:
        return _refused(ratings, "no_variation")

    said = (ratings.codes[rated][:, :, None] == np.arange(len(ratings.categories))).astype(np.float64)
    posterior = ratings.counts[rated] / sizes[rated][:, None]
    before, steps = -np.inf, 0
    for _ in range(iterations):
        steps += 1
        prevalence = posterior.mean(axis=0)
        confusion = np.einsum("ut,uro->rto", posterior, said)
        confusion = confusion / np.maximum(confusion.sum(axis=2, keepdims=True), 1e-10)
        log_joint = np.log(np.maximum(prevalence, 1e-10)) + np.einsum(
            "uro,rto->ut", said, np.log(np.maximum(confusion, 1e-10))
        )
        largest = log_joint.max(axis=1, keepdims=True)
        likelihood = np.exp(log_joint - largest)
        posterior = likelihood / likelihood.sum(axis=1, keepdims=True)
        now = float((largest[:, 0] + np.log(likelihood.sum(axis=1))).mean())
        if now - before < tolerance:
            break
        before = now

    whole = np.tile(prevalence, (len(sizes), 1))
    whole[rated] = posterior
    likeliest = np.full(len(sizes), MISSING)
    likeliest[rated] = posterior.argmax(axis=1)
    return DawidSkene(
        labels=tuple(None if k == MISSING else ratings.categories[k] for k in likeliest),
        posterior=whole,
        confusion=confusion,
        prevalence=prevalence,
        iterations=steps,
        refused_because=None,
    )


def _refused(ratings: Ratings, reason: str) -> DawidSkene:
    return DawidSkene(
        labels=(None,) * len(ratings.units),
        posterior=None,
        confusion=None,
        prevalence=None,
        iterations=0,
        refused_because=reason,
    )
