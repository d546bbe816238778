"""Labels weighted by how many conversations each stands for, and the pass rate without a judge."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.arguments import require_count, require_one_length
from validation.intervals import with_t
from validation.ratios import ratio
from validation.results import Estimate

Floats = NDArray[np.float64]


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
    require_count(judge_passes, judged)
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


def probabilities(inclusion: ArrayLike) -> Floats:
    """Inclusion probabilities as floats, once they are above 0 and at most 1."""
    pi = np.asarray(inclusion, dtype=np.float64)
    if (wrong := ~((pi > 0) & (pi <= 1))).any():
        raise ValueError(f"an inclusion probability lies above 0 and up to 1, not {pi[wrong][0]}")
    return pi
