"""What a judge's disagreement with itself caps: its accuracy, and its correlation with experts."""

import math

from validation.arguments import require_at_least, require_share


def accuracy_ceiling(pairwise: float) -> float:
    """The accuracy against any fixed labels that a judge of this pairwise agreement with itself can at most expect.

    (1 + sqrt(2A - 1)) / 2: the expected share of the likelier verdict, at its largest for that agreement.

    >>> round(accuracy_ceiling(0.8833), 3)
    0.938
    """
    require_share("pairwise", pairwise)
    return (1 + math.sqrt(max(2 * pairwise - 1, 0))) / 2


def correlation_ceiling(kappa: float, *, human_alpha: float = 1.0, raters: int = 1) -> float | None:
    """About how high the correlation of judge and experts can be: attenuation by the unreliability of both.

    sqrt(kappa of the judge's retest x reliability of the mean of so many experts). Approximate: the alpha must be of the
    same binary mapping, and a majority is not a mean. None where a reliability is below 0.

    Args:
        kappa: of the judge's retest.
        human_alpha: reliability of one expert; 1 asks for the cap by the judge alone.
        raters: experts whose labels are averaged.

    References:
        Spearman (1904), American Journal of Psychology 15. doi:10.2307/1412159

    >>> [round(correlation_ceiling(0.731, human_alpha=0.121, raters=m), 3) for m in (1, 5)]
    [0.297, 0.546]
    """
    reliability = spearman_brown(human_alpha, raters=raters)
    if kappa < 0 or reliability is None or reliability < 0:
        return None
    return math.sqrt(kappa * reliability)


def spearman_brown(alpha: float, *, raters: int) -> float | None:
    """The reliability of the mean of several raters from that of one.

    >>> round(spearman_brown(0.538, raters=5), 3)
    0.853
    """
    require_at_least("raters", raters, 1)
    denominator = 1 + (raters - 1) * alpha
    return raters * alpha / denominator if denominator > 0 else None
