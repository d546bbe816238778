"""Pass rates of a group of conversations, corrected for the judge's errors by labels sampled from that group.

The estimand is the share of the group's conversations that experts would pass. The default takes the sampled labels
within the judge's verdicts (post-stratification); it is unbiased whatever the judge's errors are.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from validation.intervals import LEAST_CLUSTERS
from validation.ratios import TOO_FEW, ratio, require_one_length, share, with_t
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredRate:
    """A corrected pass rate pooled over metrics."""

    rate: Estimate
    """With the t interval of the variation between metrics."""
    standard_error: Estimate
    """From the variation between metrics."""
    item_standard_error: Estimate
    """As if the items were independent."""
    inflation: Estimate
    """The one divided by the other: above 1 a warning that intervals over items are too short."""


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
    y, pi = np.asarray(labels, dtype=np.float64), _probabilities(inclusion)
    require_one_length(labels=y, inclusion=pi, clusters=clusters)
    return ratio(y / pi, 1 / pi, clusters=clusters, seed=seed)


def horvitz_thompson(labels: ArrayLike, *, inclusion: ArrayLike, judged: int) -> Estimate:
    """The pass rate without a judge as sum(y / pi) / N, for independent inclusion (Horvitz and Thompson 1952)."""
    y, pi = np.asarray(labels, dtype=np.float64), _probabilities(inclusion)
    require_one_length(labels=y, inclusion=pi)
    pi, y = pi[~np.isnan(y)], y[~np.isnan(y)]
    if len(y) == 0 or judged == 0:
        return Estimate.undefined("no_ratings" if judged else "no_items", n=0)
    value = float((y / pi).sum() / judged)
    se = float(np.sqrt(((1 - pi) * (y / pi) ** 2).sum()) / judged)
    notes = () if value <= 1 else (f"the estimate {value:.3f} was cut to 1",)
    point = Estimate(value=min(value, 1.0), n=len(y), notes=notes)
    return with_t(point, se=se, df=np.inf, bounds=(0.0, 1.0), method="Horvitz-Thompson, normal")


def clustered_rate(
    reference: ArrayLike,
    judge_pass: ArrayLike,
    *,
    clusters: ArrayLike,
    inclusion: ArrayLike | None = None,
    fewest_clusters: int = LEAST_CLUSTERS,
) -> ClusteredRate:
    """The judge's rate, put right by the mean error within each metric; metrics are the unit.

    Every metric with a label stands for the metrics without. It weighs by its number of conversations.

    Args:
        reference: (items,) labels of all conversations judged, nan where not reviewed.
        judge_pass: (items,) verdicts, nan where missing (left out).
        clusters: (items,) metrics.
        inclusion: (items,) inclusion probabilities of the labels; equal within metrics by default.
        fewest_clusters: with fewer reviewed metrics there is no interval.
    """
    y, j, group = (np.asarray(x) for x in (reference, judge_pass, clusters))
    pi = np.ones(len(j)) if inclusion is None else _probabilities(inclusion)
    require_one_length(reference=y, judge_pass=j, clusters=group, inclusion=pi)
    judged = ~np.isnan(j.astype(np.float64))
    y, j, pi = y[judged].astype(np.float64), j[judged].astype(np.float64), pi[judged]
    _, of_item = np.unique(group[judged], return_inverse=True)
    labelled = ~np.isnan(y)
    if not labelled.any():
        return _no_clustered_rate("no_ratings" if len(j) else "no_items")
    error, weight = (y - j)[labelled], (1 / pi)[labelled]
    member, size = of_item[labelled], np.bincount(of_item)
    total = np.bincount(member, weight, minlength=len(size))
    reviewed = total > 0
    rectifiers = np.bincount(member, weight * error, minlength=len(size))[reviewed] / total[reviewed]
    n_each = np.bincount(member, minlength=len(size))[reviewed]
    spread = np.bincount(member, (error - _at(rectifiers, reviewed)[member]) ** 2, minlength=len(size))
    share_of = size[reviewed] / size[reviewed].sum()
    item_variance = float((share_of**2 * spread[reviewed] / np.maximum(n_each, 1) ** 2).sum())
    return rate_from_rectifiers(
        rectifiers,
        judge_rate=float(j.mean()),
        weights=share_of,
        item_standard_error=item_variance**0.5,
        n=int(labelled.sum()),
        fewest_clusters=fewest_clusters,
    )


def rate_from_rectifiers(
    rectifiers: ArrayLike,
    *,
    judge_rate: float,
    weights: ArrayLike | None = None,
    item_standard_error: float | None = None,
    n: int,
    fewest_clusters: int = LEAST_CLUSTERS,
) -> ClusteredRate:
    """The judge's rate plus the weighted mean of each metric's mean (label - verdict), with t over metrics.

    Args:
        rectifiers: (metrics,).
        judge_rate: of all conversations.
        weights: (metrics,) they need not sum to 1; equal by default.
        item_standard_error: as if items were independent, where it is known.
        n: labels behind the rectifiers.
        fewest_clusters: with fewer metrics there is no interval.

    >>> found = rate_from_rectifiers([-1/9, -.5/9, 0, -2/9], judge_rate=.687, n=36, fewest_clusters=2)
    >>> round(found.rate.value, 3), round(found.rate.low, 3), round(found.rate.high, 3)
    (0.59, 0.439, 0.741)
    """
    r = np.asarray(rectifiers, dtype=np.float64)
    w = np.ones_like(r) if weights is None else np.asarray(weights, dtype=np.float64)
    require_one_length(rectifiers=r, weights=w)
    if not 0 <= judge_rate <= 1:
        raise ValueError(f"judge_rate={judge_rate!r} is not between 0 and 1")
    if len(r) == 0:
        return _no_clustered_rate("no_ratings")
    w, G = w / w.sum(), len(r)
    value = float(judge_rate + w @ r)
    notes = () if 0 <= value <= 1 else (f"the estimate {value:.3f} was cut to what a rate can be",)
    rate = Estimate(value=min(max(value, 0.0), 1.0), n=n, n_clusters=G, notes=notes)
    if G < 2:
        nothing = Estimate.undefined("too_few_clusters", n=n)
        return ClusteredRate(
            rate=rate.noting(TOO_FEW.format(n=G)),
            standard_error=nothing,
            item_standard_error=_plain(item_standard_error, n),
            inflation=nothing,
        )
    se = float(np.sqrt(G / (G - 1) * (w**2 * (r - w @ r) ** 2).sum()))
    if fewest_clusters > G:
        rate = rate.noting(TOO_FEW.format(n=G))
    else:
        rate = with_t(rate, se=se, df=G - 1, bounds=(0.0, 1.0), method=f"t({G - 1}) over clusters")
        rate = rate.noting(*([f"few clusters ({G})"] if G < 10 else []))
    return ClusteredRate(
        rate=rate,
        standard_error=_plain(se, n),
        item_standard_error=_plain(item_standard_error, n),
        inflation=_plain(se / item_standard_error if item_standard_error else None, n),
    )


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


def _probabilities(inclusion: ArrayLike) -> Floats:
    pi = np.asarray(inclusion, dtype=np.float64)
    if (wrong := ~((pi > 0) & (pi <= 1))).any():
        raise ValueError(f"an inclusion probability lies above 0 and up to 1, not {pi[wrong][0]}")
    return pi


def _at(values: Floats, where: NDArray[np.bool_]) -> Floats:
    spread_out = np.zeros(len(where))
    spread_out[where] = values
    return spread_out


def _plain(value: float | None, n: int) -> Estimate:
    if value is None:
        return Estimate.undefined("not_identified", n=n)
    return Estimate(value=value, n=n, method="no interval")


def _no_clustered_rate(reason: str) -> ClusteredRate:
    nothing = Estimate.undefined(reason, n=0)
    return ClusteredRate(rate=nothing, standard_error=nothing, item_standard_error=nothing, inflation=nothing)
