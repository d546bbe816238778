"""Who agrees with whom: raters who share a view of their own are no outliers."""

from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from validation.arguments import require_at_least
from validation.ratings import MISSING, Ratings


def agreement_between(ratings: Ratings) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(raters, raters): the share of shared items on which two raters agree (NaN without any), and how many they share."""
    said = [(ratings.codes == code).astype(np.float64) for code in range(len(ratings.categories))]
    given = (ratings.codes != MISSING).astype(np.float64)
    shared = given.T @ given
    agreeing = sum((one.T @ one for one in said), np.zeros_like(shared))
    agreement = np.full(shared.shape, np.nan)
    np.divide(agreeing, shared, out=agreement, where=shared > 0)
    return agreement, shared.astype(np.int64)


def rater_groups(ratings: Ratings, *, groups: int = 2) -> Mapping[Hashable, int] | None:
    """Raters who agree among themselves: average-linkage clusters of their pairwise disagreement.

    Pairs that share no item count as disagreeing as the average pair does. None with fewer than three raters.

    Args:
        ratings: the table.
        groups: how many groups at most.
    """
    require_at_least("groups", groups, 1)
    agreement, _ = agreement_between(ratings)
    raters = len(ratings.raters)
    known = agreement[np.triu_indices(raters, 1)]
    if raters < 3 or np.isnan(known).all():
        return None
    distance = np.where(np.isnan(agreement), 1 - np.nanmean(known), 1 - agreement)
    np.fill_diagonal(distance, 0)
    labels = fcluster(linkage(squareform(distance, checks=False), "average"), groups, "maxclust")
    return dict(zip(ratings.raters, (int(label) for label in labels), strict=True))
