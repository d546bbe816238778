"""Pass rates of a group of conversations, corrected for the judge's errors by labels sampled from that group.

The estimand is the share of the group's conversations that experts would pass. The default takes the sampled labels
within the judge's verdicts (post-stratification); it is unbiased whatever the judge's errors are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from validation.ratios import ratio, require_one_length, share, with_t
from validation.results import Estimate

Floats = NDArray[np.float64]

Z = float(stats.norm.ppf(0.975))
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
    _require_counts(judge_passes, judged)
    _require_counts(k1, n1)
    _require_counts(k0, n0)
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


def verdict_weights(judge_pass: ArrayLike, *, judge_passes: int, judged: int) -> Floats:
    """Begg-Greenes weights of reviewed items: how many conversations with its verdict each stands for.

    Where reviewers were given equal numbers of judge-pass and judge-fail items, raw sensitivity and specificity are
    biased; with these weights (in `judge_accuracy`) they are not.

    Args:
        judge_pass: (reviewed,) verdicts, 1 and 0.
        judge_passes, judged: of the whole group.

    Source: Begg, C. B., and Greenes, R. A., Biometrics 1983, doi:10.2307/2530820.

    >>> verdict_weights([1, 1, 0], judge_passes=6, judged=10).tolist()
    [3.0, 3.0, 4.0]
    """
    verdicts = np.asarray(judge_pass, dtype=np.float64)
    _require_counts(judge_passes, judged)
    if not np.isin(verdicts, (0, 1)).all():
        raise ValueError("the verdict of a reviewed item is 0 or 1")
    passes = float(verdicts.sum())
    fails = len(verdicts) - passes
    weight_of_pass, weight_of_fail = judge_passes / max(passes, 1), (judged - judge_passes) / max(fails, 1)
    return np.where(verdicts == 1, weight_of_pass, weight_of_fail)


def hajek(
    labels: ArrayLike, *, inclusion: ArrayLike, clusters: ArrayLike | None = None, seed: int = 0
) -> Estimate:
    """The pass rate without a judge, each label weighted by one over its inclusion probability (Hajek).

    The baseline: a correction that is not narrower than this wastes the judge.

    Args:
        labels: (reviewed,) 1 pass, 0 fail, soft in between, nan left out.
        inclusion: (reviewed,) probability with which each was sampled.
        clusters: (reviewed,) metric of each.
        seed: of the cluster bootstrap.

    >>> round(hajek([1, 0], inclusion=[0.5, 0.25]).value, 4)
    0.3333
    """
    y, pi = np.asarray(labels, dtype=np.float64), probabilities(inclusion)
    require_one_length(labels=y, inclusion=pi, clusters=clusters)
    return ratio(y / pi, 1 / pi, clusters=clusters, seed=seed)


def horvitz_thompson(labels: ArrayLike, *, inclusion: ArrayLike, judged: int) -> Estimate:
    """The pass rate without a judge as sum(y / pi) / N, for independent inclusion (Horvitz and Thompson 1952)."""
    y, pi = np.asarray(labels, dtype=np.float64), probabilities(inclusion)
    require_one_length(labels=y, inclusion=pi)
    pi, y = pi[~np.isnan(y)], y[~np.isnan(y)]
    if len(y) == 0 or judged == 0:
        return Estimate.undefined("no_ratings" if judged else "no_items", n=0)
    value = float((y / pi).sum() / judged)
    se = float(np.sqrt(((1 - pi) * (y / pi) ** 2).sum()) / judged)
    notes = () if value <= 1 else (f"the estimate {value:.3f} was cut to 1",)
    point = Estimate(value=min(value, 1.0), n=len(y), notes=notes)
    return with_t(point, se=se, df=np.inf, bounds=(0.0, 1.0), method="Horvitz-Thompson, normal")


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
    low, high = np.quantile(passes * of_pass + (1 - passes) * of_fail, [0.025, 0.975])
    return float(low), float(high)


def _require_counts(successes: float, trials: float) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"there cannot be {successes!r} of {trials!r}")


def probabilities(inclusion: ArrayLike) -> Floats:
    """Inclusion probabilities as floats, once they are above 0 and at most 1."""
    pi = np.asarray(inclusion, dtype=np.float64)
    if (wrong := ~((pi > 0) & (pi <= 1))).any():
        raise ValueError(f"an inclusion probability lies above 0 and up to 1, not {pi[wrong][0]}")
    return pi
