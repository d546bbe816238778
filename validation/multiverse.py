"""What a statistic is under every admissible way of turning labels into verdicts, and what no way can exceed.

Cells of the grid are not independent evidence: they are never averaged, counted as a sample or tested jointly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from validation.judge_accuracy import some_rates
from validation.mapping import CHOICES, Policy, admissible_policies, reference
from validation.ratings import Ratings
from validation.results import Estimate

Floats = NDArray[np.float64]

Statistic = Literal["accuracy", "kappa", "mcc", "sensitivity", "specificity"]
STATISTICS: tuple[Statistic, ...] = ("accuracy", "kappa", "mcc", "sensitivity", "specificity")
FEWEST_ITEMS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The statistics under one policy."""

    policy: Policy
    """The rule."""
    n: int
    """Items with a reference under the policy and a judge verdict."""
    left_out_because: str | None
    """Why the cell is computed but does not count; None where it counts."""
    accuracy: Estimate
    kappa: Estimate
    mcc: Estimate
    sensitivity: Estimate
    specificity: Estimate

    def of(self, statistic: Statistic) -> Estimate:
        """One of the statistics by name."""
        estimate: Estimate = getattr(self, statistic)
        return estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far a statistic moves over the cells that count; every member is the estimate of a real cell."""

    cells: int
    """Cells that count and in which the statistic is defined."""
    minimum: Estimate
    p10: Estimate
    """The cell at the 10th percentile (nearest rank), as are median and p90."""
    median: Estimate
    p90: Estimate
    maximum: Estimate
    vibration_ratio: Estimate
    """Range over cells / median width of the intervals: above 1 the choice of rule matters more than chance."""
    decisions: dict[str, Estimate]
    """For each choice the share of the variance over cells that it explains by itself (eta squared)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Whether "the statistic is at least so much" holds whatever the rule."""

    statistic: Statistic
    at_least: float
    holds_share: Estimate
    """Share of the counting cells in which the value reaches it."""
    lower_end_share: Estimate
    """Share of the counting cells in which the lower end of the interval reaches it."""
    verdict: Literal["robust", "mixed", "fails", "not estimable"]
    """robust: in every counting cell; fails: in none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiverse:
    """One row a policy, and what can be said over all of them."""

    cells: tuple[Cell, ...]
    """In the order of the policies, those that do not count included."""

    @property
    def counting(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if cell.left_out_because is None)

    def curve(self, statistic: Statistic) -> tuple[Cell, ...]:
        """The specification curve: counting cells with a value, in ascending order of it."""
        return tuple(cell for _, cell in _defined(self.counting, statistic))

    def spread(self, statistic: Statistic) -> Spread:
        """Minimum to maximum with n at each, vibration ratio and what each decision explains."""
        ranked = [cell.of(statistic) for cell in self.curve(statistic)]
        if not ranked:
            nothing = Estimate.undefined("no_policies", n=0)
            return Spread(
                cells=0,
                minimum=nothing,
                p10=nothing,
                median=nothing,
                p90=nothing,
                maximum=nothing,
                vibration_ratio=nothing,
                decisions=dict.fromkeys(CHOICES, nothing),
            )
        at = [ranked[max(math.ceil(share * len(ranked)) - 1, 0)] for share in (0, 0.1, 0.5, 0.9, 1)]
        minimum, p10, median, p90, maximum = at
        return Spread(
            cells=len(ranked),
            minimum=minimum,
            p10=p10,
            median=median,
            p90=p90,
            maximum=maximum,
            vibration_ratio=_vibration(ranked),
            decisions={choice: self._eta_squared(statistic, choice) for choice in CHOICES},
        )

    def claim(self, statistic: Statistic, *, at_least: float) -> Claim:
        """Whether a statistic reaches a threshold in all, some or none of the counting cells."""
        cells = self.counting
        n = max((cell.n for cell in cells), default=0)
        held = [value >= at_least for value, _ in _defined(cells, statistic)]
        lower = [cell.of(statistic).low for cell in cells]
        if not held:
            nothing = Estimate.undefined("no_policies", n=n)
            return Claim(
                statistic=statistic,
                at_least=at_least,
                holds_share=nothing,
                lower_end_share=nothing,
                verdict="not estimable",
            )
        method = f"share of {len(cells)} policies"
        ends = sum(low is not None and low >= at_least for low in lower)
        return Claim(
            statistic=statistic,
            at_least=at_least,
            holds_share=Estimate(value=sum(held) / len(cells), n=n, method=method),
            lower_end_share=Estimate(value=ends / len(cells), n=n, method=method),
            verdict="robust" if sum(held) == len(cells) else "mixed" if any(held) else "fails",
        )

    def _eta_squared(self, statistic: Statistic, choice: str) -> Estimate:
        defined = _defined(self.counting, statistic)
        values = np.array([value for value, _ in defined])
        options = [getattr(cell.policy, choice) for _, cell in defined]
        n = max(cell.n for _, cell in defined)
        total = float(((values - values.mean()) ** 2).sum())
        if total < 1e-24:
            return Estimate.undefined("no_variation", n=n)
        _, option, size = np.unique(options, return_inverse=True, return_counts=True)
        means = np.bincount(option, values) / size
        between = float((size * (means - values.mean()) ** 2).sum())
        return Estimate(value=between / total, n=n, method=f"one-way eta squared over {len(values)} policies")


def multiverse(
    ratings: Ratings,
    judge_pass: ArrayLike,
    *,
    policies: Sequence[Policy] | None = None,
    clusters: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    adjudicated: ArrayLike | None = None,
    fewest_items: int = FEWEST_ITEMS,
    seed: int = 0,
) -> Multiverse:
    """Accuracy, kappa, MCC, sensitivity and specificity of a judge under every policy.

    A policy is computed but does not count where a single reviewer makes an item unanimous, where fewer than
    `fewest_items` items have a reference, or where the references are of one class.

    Args:
        ratings: labels fail, borderline, pass.
        judge_pass: (units,) 1 pass, 0 fail, nan no verdict.
        policies: the admissible set by default.
        clusters: (units,) the metric of each unit; those of `ratings` by default.
        strata: (units,) design strata of the metrics.
        confidence, adjudicated: for the policies that need them; see `mapping.reference`.
        fewest_items: items under which a cell does not count.
        seed: of the bootstraps.

    Raises:
        ValueError: arrays of the wrong length, or values that are no verdicts.

    Source: Steegen et al., Perspectives on Psychological Science 2016, doi:10.1177/1745691616658637; Simonsohn et
        al., Nature Human Behaviour 2020, doi:10.1038/s41562-020-0912-z.
    """
    grouped = ratings.clusters if clusters is None else clusters
    chosen = admissible_policies().policies if policies is None else policies
    references = [
        reference(ratings, policy, confidence=confidence, adjudicated=adjudicated) for policy in chosen
    ]
    rates = some_rates(references, judge_pass, STATISTICS, clusters=grouped, strata=strata, seed=seed)
    cells = [
        Cell(
            policy=policy,
            n=table.n,
            left_out_because=_left_out(policy, table.table, table.n, fewest_items),
            **{name: replace(one, policy=policy.name) for name, one in found.items()},
        )
        for policy, (table, found) in zip(chosen, rates, strict=True)
    ]
    return Multiverse(cells=tuple(cells))


def _left_out(policy: Policy, table: Floats, n: int, fewest_items: int) -> str | None:
    if policy.trivially_unanimous:
        return "a single reviewer makes an item unanimous"
    if n < fewest_items:
        return f"fewer than {fewest_items} items"
    if (table.sum(axis=1) == 0).any():
        return "references of one class"
    return None


def _defined(cells: Sequence[Cell], statistic: Statistic) -> list[tuple[float, Cell]]:
    pairs = [(value, cell) for cell in cells if (value := cell.of(statistic).value) is not None]
    return sorted(pairs, key=lambda pair: pair[0])


def _vibration(ranked: Sequence[Estimate]) -> Estimate:
    n = max(estimate.n for estimate in ranked)
    widths = [2 * half for estimate in ranked if (half := estimate.half_width) is not None]
    width = float(np.median(widths)) if widths else 0.0
    if width == 0:
        return Estimate.undefined("no_interval", n=n)
    span = (ranked[-1].value or 0.0) - (ranked[0].value or 0.0)
    return Estimate(
        value=span / width, n=n, method=f"range over {len(ranked)} policies / median interval width"
    )
