"""Pass rates of a group of conversations, corrected for the judge's errors by labels sampled from that group.

The estimand is the share of the group's conversations that experts would pass. The default takes the sampled labels
within the judge's verdicts (post-stratification); it is unbiased whatever the judge's errors are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from validation.arguments import require_count
from validation.intervals import TAILS
from validation.ratios import share
from validation.results import Estimate

Floats = NDArray[np.float64]

DRAWS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """A corrected pass rate beside the judge's own."""

    rate: Estimate
    """The share that experts would pass."""
    judge_rate: Estimate
    """The share that the judge passes, with no correction."""
    standard_error: Estimate
    """The large-sample standard error of `rate`."""


def post_stratified(
    judge_passes: int,
    *,
    judged: int,
    reviewed_pass: tuple[float, float],
    reviewed_fail: tuple[float, float],
    superpopulation: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
) -> CorrectedRate:
    """Verdict post-stratification (PS-Beta): the human pass rates within judge-pass and judge-fail, at their shares.

    Near 1 experts would pass nearly all, near 0 nearly none. The interval comes from draws of the two rates, each
    from its Jeffreys posterior.

    Args:
        judge_passes: conversations of the group that the judge passes.
        judged: conversations of the group.
        reviewed_pass: (human passes, reviewed) among those that the judge passes; soft labels make fractions.
        reviewed_fail: (human passes, reviewed) among those that the judge fails.
        superpopulation: whether the group is itself a sample of conversations, so that the judge's rate varies too.
        draws, seed: of the interval.

    Raises:
        ValueError: counts that are impossible.

    >>> found = post_stratified(650, judged=1000, reviewed_pass=(54, 60), reviewed_fail=(12, 60))
    >>> round(found.rate.value, 3), round(found.standard_error.value, 3)
    (0.655, 0.031)
    """
    (k1, n1), (k0, n0) = reviewed_pass, reviewed_fail
    require_count(judge_passes, judged)
    require_count(k1, n1)
    require_count(k0, n0)
    reviewed = round(n1 + n0)
    judge_rate = share(judge_passes / judged, n=judged) if judged else Estimate.undefined("no_items", n=0)
    if judged == 0 or reviewed == 0:
        nothing = Estimate.undefined("no_ratings" if judged else "no_items", n=reviewed)
        return CorrectedRate(rate=nothing, judge_rate=judge_rate, standard_error=nothing)
    q = judge_passes / judged
    if (q > 0 and n1 == 0) or (q < 1 and n0 == 0):
        nothing = Estimate.undefined("empty_verdict_stratum", n=reviewed)
        return CorrectedRate(rate=nothing, judge_rate=judge_rate, standard_error=nothing)

    pass_rate, fail_rate = k1 / max(n1, 1), k0 / max(n0, 1)
    value = q * pass_rate + (1 - q) * fail_rate
    variance = q**2 * pass_rate * (1 - pass_rate) / max(n1, 1)
    variance += (1 - q) ** 2 * fail_rate * (1 - fail_rate) / max(n0, 1)
    if superpopulation:
        variance += q * (1 - q) * (pass_rate - fail_rate) ** 2 / judged
    low, high = _beta_interval(q, judged, k1, n1, k0, n0, superpopulation, draws, seed)
    rate = Estimate(
        value=value,
        low=min(low, value),
        high=max(high, value),
        n=reviewed,
        method="verdict post-stratification, Jeffreys draws (PS-Beta)",
    )
    error = Estimate(value=variance**0.5, n=reviewed, method="large-sample standard error")
    return CorrectedRate(rate=rate, judge_rate=judge_rate, standard_error=error)


def _beta_interval(
    q: float,
    judged: int,
    k1: float,
    n1: float,
    k0: float,
    n0: float,
    superpopulation: bool,
    draws: int,
    seed: int,
) -> tuple[float, float]:
    generator = np.random.default_rng(seed)
    of_pass = generator.beta(k1 + 0.5, n1 - k1 + 0.5, draws)
    of_fail = generator.beta(k0 + 0.5, n0 - k0 + 0.5, draws)
    x = q * judged
    passes = generator.beta(x + 0.5, judged - x + 0.5, draws) if superpopulation else q
    low, high = np.quantile(passes * of_pass + (1 - passes) * of_fail, TAILS)
    return float(low), float(high)
