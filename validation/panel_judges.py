"""Self-preference from several judges on the same conversations, without people's labels.

Two judges identify only the sum of their preferences. A judge of neither family (people are such a judge) identifies each.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from validation.intervals import LEAST_CLUSTERS, TOO_FEW, with_t
from validation.pooling import Statistic, cluster_sums, jackknife
from validation.results import Estimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPreference:
    """What a panel of judges says of each judge's preference for its own family."""

    effects: Mapping[Hashable, Estimate]
    """For each judge with a family: its preference, measured against the neutral judges."""
    sums: Mapping[tuple[Hashable, Hashable], Estimate]
    """For each pair of judges of different families: the sum of their two preferences (double difference)."""
    placebo_sd: Estimate
    """Spread of the same figure for families that no judge belongs to: the noise floor."""


def panel_preference(
    scores: Floats,
    *,
    judges: Sequence[Hashable],
    judge_families: Mapping[Hashable, Hashable | None],
    families: Sequence[Hashable],
    clusters: Sequence[Hashable] | None = None,
) -> PanelPreference:
    """Each judge's preference for its own family, from judges that scored the same conversations.

    Assumes that judges and families interact in no other way (shared style, length); the placebo families test that.

    Args:
        scores: (items, judges) 1 pass, 0 fail, or any score; items that a judge left out are NaN and not used.
        judges: (judges,) their names.
        judge_families: the family of each judge; None, or a family without items, makes it neutral.
        families: (items,) the family of each item's target.
        clusters: (items,) the metric of each item.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(judges) or len(table) != len(families):
        raise ValueError(
            f"scores of shape {table.shape} fit neither {len(families)} items nor {len(judges)} judges"
        )
    if clusters is not None and len(clusters) != len(families):
        raise ValueError(f"{len(clusters)} clusters do not go with {len(families)} items")
    complete = ~np.isnan(table).any(axis=1)
    table = table[complete]
    codes, names = pd.factorize(np.asarray(list(families), dtype=object)[complete])
    places = {name: k for k, name in enumerate(names)}
    blocks = (
        np.arange(len(table))
        if clusters is None
        else pd.factorize(np.asarray(clusters, dtype=object)[complete])[0]
    )
    homes = [places.get(judge_families.get(judge)) for judge in judges]
    neutral = [k for k, home in enumerate(homes) if home is None]
    inside = (codes[:, None] == np.arange(len(names))).astype(np.float64)

    def estimate(difference: Floats, statistic: Statistic) -> Estimate:
        return _jackknifed(difference, inside, blocks, statistic, clustered=clusters is not None)

    effects: dict[Hashable, Estimate] = {}
    placebos: list[float] = []
    for j, home in enumerate(homes):
        if home is None:
            continue
        if not neutral or len(names) < 2:
            effects[judges[j]] = Estimate.undefined("not_identified", n=len(table))
            continue
        against = table[:, j] - table[:, neutral].mean(axis=1)
        effects[judges[j]] = estimate(against, _own_minus_others(home))
        placebos += [
            value
            for k in range(len(names))
            if k not in homes
            for value in [estimate(against, _own_minus_others(k, leaving_out=home)).value]
            if value is not None
        ]
    sums = {
        (judges[i], judges[j]): estimate(table[:, i] - table[:, j], _difference(first, second))
        for i, first in enumerate(homes)
        for j, second in enumerate(homes)
        if i < j and first is not None and second is not None and first != second
    }
    return PanelPreference(effects=effects, sums=sums, placebo_sd=_spread(placebos))


def double_difference(
    means: Mapping[tuple[Hashable, Hashable], float],
    *,
    judges: tuple[Hashable, Hashable],
    families: tuple[Hashable, Hashable],
) -> float:
    """The sum of two judges' preferences, from a table of mean scores by (judge, family).

    >>> means = {("A", "a"): 0.72, ("A", "b"): 0.60, ("B", "a"): 0.64, ("B", "b"): 0.66}
    >>> round(double_difference(means, judges=("A", "B"), families=("a", "b")), 2)
    0.14
    """
    (one, two), (a, b) = judges, families
    return (means[one, a] - means[two, a]) - (means[one, b] - means[two, b])


def neutral_difference(
    means: Mapping[tuple[Hashable, Hashable], float],
    *,
    judge: Hashable,
    neutral: Hashable,
    own: Hashable,
    others: Sequence[Hashable],
) -> float:
    """One judge's preference for its own family, against a neutral judge, from a table of mean scores.

    >>> means = {("A", "a"): 0.72, ("A", "b"): 0.60, ("N", "a"): 0.65, ("N", "b"): 0.59}
    >>> round(neutral_difference(means, judge="A", neutral="N", own="a", others=["b"]), 2)
    0.06
    """
    if not others:
        raise ValueError("others=[] names no other family")
    elsewhere = [means[judge, family] - means[neutral, family] for family in others]
    return means[judge, own] - means[neutral, own] - sum(elsewhere) / len(elsewhere)


def _family_means(sums: Floats) -> Floats:
    """Cells (..., 2 x families: sums, counts) to means (..., families), NaN without items."""
    half = sums.shape[-1] // 2
    totals, counts = sums[..., :half], sums[..., half:]
    means = np.full(totals.shape, np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    return means


def _own_minus_others(home: int, *, leaving_out: int | None = None) -> Statistic:
    gone = [home] if leaving_out is None else [home, leaving_out]

    def statistic(sums: Floats) -> Floats:
        means = _family_means(sums)
        others = np.delete(means, gone, axis=-1)
        if others.shape[-1] == 0:
            return np.full(means.shape[:-1], np.nan)
        return np.asarray(means[..., home] - others.mean(axis=-1), dtype=np.float64)

    return statistic


def _difference(first: int, second: int) -> Statistic:
    def statistic(sums: Floats) -> Floats:
        means = _family_means(sums)
        return np.asarray(means[..., first] - means[..., second], dtype=np.float64)

    return statistic


def _jackknifed(
    difference: Floats, inside: Floats, blocks: NDArray[np.intp], statistic: Statistic, *, clustered: bool
) -> Estimate:
    n = len(difference)
    cells = np.concatenate([inside * difference[:, None], inside], axis=1)
    sums, stratum, _ = cluster_sums(cells, blocks, None)
    value = float(statistic(sums.sum(axis=0)))
    if np.isnan(value):
        return Estimate.undefined("not_identified", n=n)
    groups = len(sums)
    point = Estimate(value=value, n=n, n_clusters=groups if clustered else None)
    if clustered and groups < LEAST_CLUSTERS:
        return point.noting(TOO_FEW.format(n=groups))
    error, freedom = jackknife(sums, statistic, stratum)
    if np.isnan(error):
        return point.noting("a family lies in one metric: no interval")
    method = "jackknife t over metrics" if clustered else "jackknife t over items"
    return with_t(point, se=error, df=freedom, bounds=(-2.0, 2.0), method=method)


def _spread(placebos: list[float]) -> Estimate:
    if len(placebos) < 2:
        return Estimate.undefined("too_few_placebo_families", n=len(placebos))
    return Estimate(
        value=float(np.sqrt(np.mean(np.square(placebos)))), n=len(placebos), notes=("no interval",)
    )
