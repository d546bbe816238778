"""What published figures of a retest imply: which of them are one number, and how often the verdict was present."""

import math

import numpy as np


def pairwise_from_unanimous(unanimous: float, *, runs: int = 3) -> float:
    """The mean pairwise agreement that a unanimity share implies, with three runs of a binary verdict.

    With two runs they are one number; with three, a split item is always two to one, so a paper that reports both
    reports one. With more runs the unanimity share does not determine it.

    Raises:
        ValueError: other than 2 or 3 runs.

    >>> round(pairwise_from_unanimous(0.825), 4)
    0.8833
    """
    if runs not in (2, 3):
        raise ValueError(f"runs={runs!r}: only two or three runs make the two figures one")
    return unanimous if runs == 2 else 1 - (2 / 3) * (1 - unanimous)


def implied_prevalence(*, agreement: float, kappa: float) -> tuple[float, float] | None:
    """The two present rates (p and 1-p) that a pairwise agreement and a Fleiss kappa imply for binary verdicts.

    None where no rate gives these two figures.

    >>> [round(rate, 2) for rate in implied_prevalence(agreement=5 / 6, kappa=0.6528)]
    [0.4, 0.6]
    """
    if kappa >= 1:
        return None
    expected = (agreement - kappa) / (1 - kappa)
    if not 0.5 - 1e-9 <= expected <= 1:
        return None
    half_spread = math.sqrt(max(2 * expected - 1, 0)) / 2
    return 0.5 - half_spread, 0.5 + half_spread


def minority_ratings(*, items: int, unanimous: int, kappa: float, decimals: int = 3) -> list[int]:
    """The counts of the rarer verdict, over three runs of each item, that round to a published Fleiss kappa.

    Several strata are mutually consistent where one count from each adds up to one of the whole.

    >>> minority_ratings(items=240, unanimous=198, kappa=0.731), minority_ratings(items=120, unanimous=90, kappa=0.653)
    ([229], [144])
    """
    ratings = 3 * items
    counts = np.arange(ratings // 2 + 1)
    rate = counts / ratings
    expected = rate**2 + (1 - rate) ** 2
    varied = expected < 1
    kappas = 1 - (1 - pairwise_from_unanimous(unanimous / items)) / (1 - expected[varied])
    return [int(c) for c in counts[varied][np.abs(kappas - kappa) <= 0.5 * 10.0**-decimals + 1e-12]]
