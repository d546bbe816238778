"""How much differential bias of the judge would turn the order of two models around."""

from dataclasses import dataclass

from validation.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class TippingPoint:
    """How much differential judge bias would turn the order of two models around."""

    difference: float
    """The first model's rate minus the second's, as judged: a bias above this reverses the order."""
    bias: Estimate
    """What is known of the judge's bias towards the first over the second (mean of judge - human)."""
    verdict: str
    """`holds` (the whole interval is below), `reversed` (the whole interval is above), `cannot_tell`."""


def tipping_point(difference: float, *, bias: Estimate) -> TippingPoint:
    """Set the difference of two models beside what is known of the judge's differential bias.

    >>> tipping_point(0.021, bias=Estimate(value=0.0, low=-0.11, high=0.11, n=81)).verdict
    'cannot_tell'
    """
    verdict = "cannot_tell"
    if bias.low is not None and bias.high is not None:
        if bias.high < difference:
            verdict = "holds"
        elif bias.low > difference:
            verdict = "reversed"
    return TippingPoint(difference=difference, bias=bias, verdict=verdict)
