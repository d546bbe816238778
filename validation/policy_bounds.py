"""The accuracy that no admissible reading of the labels can fall below or exceed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.bounds import Bounds
from validation.confusion import checked
from validation.mapping import Policy, admissible_policies, reference
from validation.ratings import Ratings
from validation.results import Estimate

Floats = NDArray[np.float64]


def accuracy_bounds(
    ratings: Ratings,
    judge_pass: ArrayLike,
    *,
    policies: Sequence[Policy] | None = None,
    confidence: ArrayLike | None = None,
    adjudicated: ArrayLike | None = None,
) -> Bounds:
    """The accuracy that no admissible reading of the labels can fall below or exceed, item by item.

    A grid moves all items together and can miss the extremes; here each item takes the verdict that suits the judge
    least, or most, among those that some policy gives it.

    Source: Manski, C. F., Partial Identification of Probability Distributions, 2003.
    """
    every = admissible_policies().policies if policies is None else tuple(policies)
    readings = [
        reference(ratings, policy, confidence=confidence, adjudicated=adjudicated) for policy in every
    ]
    verdicts = np.array(readings).reshape(len(every), len(ratings.units))
    _, judge, _ = checked(np.full(len(ratings.units), np.nan), judge_pass, None)
    agreement = 1 - np.abs(judge - verdicts)
    open_to_judgement = ~np.isnan(agreement).all(axis=0) if len(every) else np.zeros(len(judge), dtype=bool)
    agreement = agreement[:, open_to_judgement]
    n = int(open_to_judgement.sum())
    if n == 0:
        return Bounds.undefined("no_items", n=0)
    low = np.where(np.isnan(agreement), np.inf, agreement).min(axis=0).mean()
    high = np.where(np.isnan(agreement), -np.inf, agreement).max(axis=0).mean()
    method = f"bound over the verdicts that {len(every)} policies give each item"
    return Bounds(
        low=Estimate(value=float(low), n=n, method=method),
        high=Estimate(value=float(high), n=n, method=method),
    )
