"""What can be said without an assumption: a lower and an upper end, each a number of its own."""

from dataclasses import dataclass

from validation.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The range of a quantity that the data alone leave open (Manski 2003); not a confidence interval."""

    low: Estimate
    """The smallest value that is compatible with the data."""
    high: Estimate
    """The largest value that is compatible with the data."""

    @classmethod
    def undefined(cls, reason: str, *, n: int, policy: str | None = None) -> "Bounds":
        nothing = Estimate.undefined(reason, n=n, policy=policy)
        return cls(low=nothing, high=nothing)
