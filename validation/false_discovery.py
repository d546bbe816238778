"""The Bayesian false discovery rate: which concerns to flag when many are looked at."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from validation.arguments import require_open_share


def bayesian_fdr(p: Sequence[float] | NDArray[np.float64], q: float = 0.10) -> NDArray[np.bool_]:
    """Flag the largest set of hypotheses whose mean probability of being false is at most q.

    Args:
        p: posterior probabilities that each concern is real.
        q: the expected share of false flags that is accepted.

    Returns:
        (hypotheses,): flagged or not. Equal probabilities share one fate.

    References:
        Newton, Noueiry, Sarkar and Ahlquist (2004), Biostatistics 5. doi:10.1093/biostatistics/5.2.155

    >>> bayesian_fdr([0.99, 0.95, 0.9, 0.7, 0.4]).tolist()
    [True, True, True, False, False]
    """
    require_open_share("q", q)
    probabilities = np.asarray(p, dtype=np.float64)
    if ((probabilities < 0) | (probabilities > 1) | np.isnan(probabilities)).any():
        raise ValueError(f"p={p!r} holds a number that is not a probability")
    if not probabilities.size:
        return np.zeros(0, dtype=np.bool_)
    ordered = np.sort(probabilities)[::-1]
    running = np.cumsum(1 - ordered) / np.arange(1, len(ordered) + 1)
    last_of_ties = np.append(ordered[1:] < ordered[:-1], True)
    within = np.flatnonzero((running <= q + 1e-12) & last_of_ties)
    cut = ordered[within[-1]] if within.size else np.inf
    return np.asarray(probabilities >= cut, dtype=np.bool_)
