"""Pass rates of groups with few labels, the judge's errors borrowed from the other groups."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.results import Estimate
from validation.shrinkage import shrink

Floats = NDArray[np.float64]


def borrowed_rates(counts: ArrayLike) -> tuple[Estimate, ...]:
    """Pass rates of groups with few labels, the judge's errors drawn towards those of the other groups.

    Args:
        counts: (groups, 6) columns judge passes, judged, human passes and reviewed among the judge's passes, human
            passes and reviewed among its fails.

    The interval puts the credible intervals of the two rates together as if independent (Zou and Donner 2008).
    """
    table = np.asarray(counts, dtype=np.float64).reshape(-1, 6)
    passes, judged, k1, n1, k0, n0 = table.T
    of_pass, of_fail = shrink(k1, trials=n1).rates, shrink(k0, trials=n0).rates
    return tuple(
        _put_together(x, total, a, b) for x, total, a, b in zip(passes, judged, of_pass, of_fail, strict=True)
    )


def _put_together(passes: float, judged: float, of_pass: Estimate, of_fail: Estimate) -> Estimate:
    n = of_pass.n + of_fail.n
    if judged == 0:
        return Estimate.undefined("no_items", n=n)
    shares = (passes / judged, 1 - passes / judged)
    used = [(q, rate) for q, rate in zip(shares, (of_pass, of_fail), strict=True) if q > 0]
    value = low = high = 0.0
    for q, rate in used:
        if rate.value is None or rate.low is None or rate.high is None:
            return Estimate.undefined("no_ratings", n=n)
        value += q * rate.value
        low += (q * (rate.value - rate.low)) ** 2
        high += (q * (rate.high - rate.value)) ** 2
    return Estimate(
        value=value,
        low=max(value - low**0.5, 0.0),
        high=min(value + high**0.5, 1.0),
        n=n,
        method="post-stratification with partially pooled error rates",
    )
