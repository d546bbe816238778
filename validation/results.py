"""What every statistic returns: a number with its evidence, or the reason why there is none."""

import math
from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number that travels with its evidence.

    Either `value` is a finite number, or it is None and `undefined_because` says why. Never NaN.

    >>> Estimate(value=0.75, low=0.53, high=0.89, n=20, method="Wilson")
    Estimate(value=0.75, low=0.53, high=0.89, n=20, n_ratings=None, n_clusters=None, method='Wilson', policy=None, undefined_because=None, notes=())
    >>> Estimate.undefined("no_pairable_items", n=0).value is None
    True
    """

    value: float | None
    """The point estimate."""
    low: float | None = None
    """Lower end of the 95% interval; None where no interval can be had (`notes` say why)."""
    high: float | None = None
    """Upper end of the 95% interval."""
    n: int
    """Items that the number rests on (for agreement: items with two ratings or more)."""
    n_ratings: int | None = None
    """Ratings that entered the number."""
    n_clusters: int | None = None
    """Clusters (metrics) that the interval resamples or deletes; None where items are the unit."""
    method: str = ""
    """How the interval was made."""
    policy: str | None = None
    """The label-to-verdict policy, where one was needed."""
    undefined_because: str | None = None
    """A reason code (`no_variation`, `no_pairable_items`, ...) where there is no number."""
    notes: tuple[str, ...] = ()
    """What a reader must know: few items, resamples left out, an interval that is not to be relied on."""

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"an estimate cannot hold {name}={number!r}: give undefined_because instead")
        if (self.value is None) != (self.undefined_because is not None):
            raise ValueError("an estimate has either a value or a reason for having none")

    @classmethod
    def undefined(
        cls, reason: str, *, n: int, n_ratings: int | None = None, policy: str | None = None
    ) -> Self:
        """An estimate without a number, and why."""
        return cls(value=None, n=n, n_ratings=n_ratings, policy=policy, undefined_because=reason)

    @property
    def defined(self) -> bool:
        return self.value is not None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, where there is one."""
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2

    @property
    def complement(self) -> Self:
        """1 minus a share, its interval turned round.

        >>> Estimate(value=0.25, low=0.0, high=0.5, n=4).complement.high
        1.0
        """
        if self.value is None:
            return self
        low, high = (None if end is None else 1 - end for end in (self.high, self.low))
        return replace(self, value=1 - self.value, low=low, high=high)

    def noting(self, *notes: str) -> Self:
        """The same estimate with more notes."""
        return replace(self, notes=(*self.notes, *notes))
