"""Sample sizes, half-widths and minimum detectable effects: what a study of a given size could show.

Plans, not estimates: the numbers here follow from assumed values, so they are plain numbers.
"""

import math

from scipy.optimize import brentq
from scipy.stats import beta, binom, norm

from validation.arguments import require_at_least, require_open_share, require_positive, require_share
from validation.intervals import Z


def design_effect(*, items_per_cluster: float, intraclass: float) -> float:
    """By how much clustering of items in metrics multiplies the items needed: 1 + (size - 1) correlation.

    >>> design_effect(items_per_cluster=9, intraclass=0.1)
    1.8
    """
    require_positive("items_per_cluster", items_per_cluster)
    return 1 + (items_per_cluster - 1) * intraclass


def share_half_width(share: float, *, n: int, effect: float = 1.0) -> float:
    """Half the width of the 95% interval (Wilson) of an accuracy or a rate over n items.

    Args:
        share: the share expected.
        n: items.
        effect: the design effect of the clustering.
    """
    require_share("share", share)
    require_at_least("n", n, 1)
    require_positive("effect", effect)
    n_effective = n / effect
    return (
        Z
        / (1 + Z**2 / n_effective)
        * math.sqrt(share * (1 - share) / n_effective + Z**2 / (4 * n_effective**2))
    )


def items_for_share(share: float, *, half_width: float, effect: float = 1.0) -> int:
    """Items for a 95% interval of an accuracy or a rate of the wanted half-width (normal).

    >>> items_for_share(0.833, half_width=0.07)
    110
    """
    require_open_share("share", share)
    require_positive("half_width", half_width)
    return math.ceil(effect * share * (1 - share) * (Z / half_width) ** 2)


def items_for_difference(
    first: float, second: float, *, ratio: float = 1.0, power: float = 0.8, level: float = 0.05
) -> tuple[float, float]:
    """Items needed in each of two groups to detect a difference of two rates.

    Args:
        first: the rate in the first group (say, false passes among own-family fails).
        second: the rate in the second group.
        ratio: items of the second group for each of the first.
        power, level: of the two-sided test.

    >>> [round(n, 1) for n in items_for_difference(0.25, 0.15, ratio=4)]
    [148.2, 592.7]
    """
    require_share("first", first)
    require_share("second", second)
    require_positive("ratio", ratio)
    if first == second:
        raise ValueError(f"first=second={first!r}: there is no difference to detect")
    n = (_detection_numerator(first, second, ratio, power, level) / (first - second)) ** 2
    return n, n * ratio


def detectable_difference(
    base: float, *, n_first: float, n_second: float, power: float = 0.8, level: float = 0.05
) -> float | None:
    """The smallest excess of the first group's rate over `base` that the numbers of items could detect.

    With the unpooled variance, which asks for a little more than `items_for_difference` does. None where even the largest possible difference would go undetected.

    >>> round(detectable_difference(0.15, n_first=12.96, n_second=51.84), 2)
    0.41
    """
    require_share("base", base)
    if n_first <= 0 or n_second <= 0:
        return None
    z = norm.ppf(1 - level / 2) + norm.ppf(power)

    def shortfall(difference: float) -> float:
        rate = base + difference
        variance = rate * (1 - rate) / n_first + base * (1 - base) / n_second
        return float(difference - z * math.sqrt(variance))

    largest = 1 - base
    if largest <= 0 or shortfall(largest) < 0:
        return None
    return float(brentq(shortfall, 1e-9, largest))


def detectable_self_preference(
    base: float, *, items: int, fail_share: float, own_share: float, effect: float = 1.0
) -> float | None:
    """The smallest excess of false passes for the judge's own family that a study could detect (80% power).

    Args:
        base: the rate of false passes for other families.
        items: items with human labels.
        fail_share: the share that people fail; only those can be false passes.
        own_share: the share of items whose target is of the judge's family.
        effect: the design effect of the clustering in metrics.

    >>> round(detectable_self_preference(0.15, items=1200, fail_share=0.4, own_share=0.2), 2)
    0.14
    """
    require_share("fail_share", fail_share)
    require_share("own_share", own_share)
    require_positive("effect", effect)
    fails = items * fail_share / effect
    return detectable_difference(base, n_first=fails * own_share, n_second=fails * (1 - own_share))


def items_for_mean_difference(
    difference: float, *, variance: float, power: float = 0.8, level: float = 0.05
) -> float:
    """Labelled items for each of two models to detect a difference in mean (judge - human).

    >>> round(items_for_mean_difference(0.021, variance=0.15))
    5339
    """
    require_positive("variance", variance)
    if difference == 0:
        raise ValueError("difference=0: there is no difference to detect")
    return float(2 * variance * ((norm.ppf(1 - level / 2) + norm.ppf(power)) / difference) ** 2)


def upper_bound_of_none(n: int, *, level: float = 0.95) -> float:
    """The one-sided upper bound of a rate of which nothing was seen in n trials.

    >>> round(upper_bound_of_none(60), 4), round(upper_bound_of_none(10), 4)
    (0.0487, 0.2589)
    """
    require_at_least("n", n, 0)
    return 1.0 if n == 0 else 1 - (1 - level) ** (1 / n)


def confirmations_needed(below: float, *, level: float = 0.95) -> int:
    """Confirmations without one exception that put the upper bound of the exceptions under `below`.

    >>> confirmations_needed(0.10)
    29
    """
    require_open_share("below", below)
    return math.ceil(math.log(1 - level) / math.log(1 - below))


def honeypot_alert(right: int, *, n: int, accuracy: float = 0.7, certainty: float = 0.9) -> bool:
    """Whether a rater's honeypots raise an alert: posterior P(accuracy below the threshold) above `certainty`.

    >>> honeypot_alert(3, n=10), honeypot_alert(8, n=10)
    (True, False)
    """
    if not 0 <= right <= n:
        raise ValueError(f"right={right!r} is not a number of right answers among n={n!r}")
    return bool(beta.cdf(accuracy, right + 0.5, n - right + 0.5) > certainty)


def chance_of_at_most(right: int, *, n: int, accuracy: float) -> float:
    """How probable `right` right honeypots or fewer are for a rater of a given accuracy.

    >>> [round(chance_of_at_most(6, n=10, accuracy=a), 3) for a in (0.9, 0.6)]
    [0.013, 0.618]
    """
    require_share("accuracy", accuracy)
    return float(binom.cdf(right, n, accuracy))


def _detection_numerator(first: float, second: float, ratio: float, power: float, level: float) -> float:
    pooled = (first + ratio * second) / (1 + ratio)
    under_null = math.sqrt(pooled * (1 - pooled) * (1 + 1 / ratio))
    under_difference = math.sqrt(first * (1 - first) + second * (1 - second) / ratio)
    return float(norm.ppf(1 - level / 2) * under_null + norm.ppf(power) * under_difference)
