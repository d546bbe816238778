"""What a run has spent, and whether another call still fits its budget."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from impactbench.domain import ImpactBenchError
from impactbench.llm import Reply
from impactbench.runs.design import Budget, Price


class BudgetReached(ImpactBenchError):
    """A call that would lead beyond the budget; it was not made."""


@dataclass(slots=True)
class Spending:
    """Calls, tokens and money of a run, earlier starts of it included."""

    budget: Budget
    prices: dict[str, Price] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    """Calls whose price is not known; they are in no sum of money."""
    _open: int = 0
    _dearest: float = 0.0
    _longest: int = 0

    @property
    def in_words(self) -> str:
        """Calls, tokens and money; what is not known is said to be unknown."""
        money = f"${self.usd:,.2f}"
        if self.unpriced:
            unpriced = f"{self.unpriced:,} calls at an unknown price"
            money = "dollars not known" if self.unpriced == self.calls else f"{money} and {unpriced}"
        return f"{self.calls:,} calls, {self.tokens:,} tokens, {money}"

    @contextmanager
    def of_a_call(self) -> Iterator[Callable[[Reply], None]]:
        """A place for one call. Calls under way count as much as the dearest that there was.

        Raises:
            BudgetReached: there is no such place.
        """
        self._require_room()
        self._open += 1
        try:
            yield self._add
        finally:
            self._open -= 1

    def price(self, model: str, reply: Reply) -> float | None:
        """What a reply cost: as the study file prices the model, else as the provider says."""
        if (price := self.prices.get(model)) is not None:
            return (
                reply.tokens_in * price.usd_per_million_in + reply.tokens_out * price.usd_per_million_out
            ) / 1e6
        return reply.cost_usd

    def _add(self, reply: Reply) -> None:
        tokens = reply.tokens_in + reply.tokens_out
        self.calls += 1
        self.tokens += tokens
        self._longest = max(self._longest, tokens)
        if reply.cost_usd is None:
            self.unpriced += 1
        else:
            self.usd += reply.cost_usd
            self._dearest = max(self._dearest, reply.cost_usd)

    def _require_room(self) -> None:
        more = self._open + 1
        if self.budget.calls is not None and self.calls + more > self.budget.calls:
            raise BudgetReached(f"the budget of {self.budget.calls:,} calls is used up")
        if self.budget.tokens is not None and self.tokens + more * self._longest > self.budget.tokens:
            raise BudgetReached(
                f"the budget of {self.budget.tokens:,} tokens has no room for another call ({self.tokens:,} used)"
            )
        if self.budget.usd is not None and self.usd + more * self._dearest > self.budget.usd:
            raise BudgetReached(
                f"the budget of ${self.budget.usd:,.2f} has no room for another call (${self.usd:,.2f} spent)"
            )
