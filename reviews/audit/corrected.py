"""Pass rates as experts would have given them, beside the judge's, and what remains of the order of models."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reviews.audit.items import Judge, judged_items
from reviews.evidence import SEED, StudyTables
from validation.corrected_rates import Choice, GroupRate, choose_estimator, corrected_rates
from validation.mapping import PRIMARY, Policy
from validation.ranking import Ranking, rank_sets
from validation.ratios import ratio
from validation.results import Estimate
from validation.tipping_point import TippingPoint, tipping_point

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tipping:
    """Two models next to each other in the order, and the bias of the judge that would turn them round."""

    above: Hashable
    below: Hashable
    found: TippingPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The models under the reviewed metrics of one polarity: boards of different polarity are never mixed."""

    polarity: str
    rates: tuple[GroupRate, ...]
    """Each model: the judge's rate and the corrected one, over the reviewed metrics."""
    raw: Ranking
    """The order by the judge's rates, with rank sets."""
    corrected: Ranking
    """The order by the corrected rates."""
    tipping: tuple[Tipping, ...]
    """Neighbours in the judge's order."""
    n_metrics: int
    n_reviewed: int
    """Metrics with a label: what the corrected rates speak of."""


def boards(tables: StudyTables, judge: Judge, policy: Policy = PRIMARY) -> list[Board]:
    """One board for each polarity."""
    items = judged_items(tables, judge, policy)
    items = items[items["judge"].notna() & items["model"].notna()]
    return [
        _board(str(polarity), part) for polarity, part in items.groupby(items["polarity"].map(str), sort=True)
    ]


def is_sample(items: pd.DataFrame) -> bool:
    """Whether the labels among items are a probability sample: their chances are on record, or every item has one."""
    labelled = items["reference"].notna()
    return bool(labelled.all() or items.loc[labelled, "inclusion_probability"].notna().all())


def _board(polarity: str, items: pd.DataFrame) -> Board:
    labelled = items["reference"].notna()
    reviewed = items[items["metric_version_id"].isin(items.loc[labelled, "metric_version_id"])]
    names = sorted(items["model"].unique())
    judged, put_right = _cells(reviewed, names)
    return Board(
        polarity=polarity,
        rates=_rates(reviewed),
        raw=rank_sets(judged, names=names, seed=SEED),
        corrected=rank_sets(put_right, names=names, seed=SEED),
        tipping=_tipping(reviewed, judged, names),
        n_metrics=items["metric_version_id"].nunique(),
        n_reviewed=reviewed["metric_version_id"].nunique(),
    )


def _rates(items: pd.DataFrame) -> tuple[GroupRate, ...]:
    if items.empty:
        return ()
    chances = items["inclusion_probability"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    found = corrected_rates(
        items["reference"].to_numpy(dtype=np.float64),
        items["judge"].to_numpy(dtype=np.float64),
        groups=items["model"].to_numpy(),
        inclusion=None if np.isnan(chances).any() else chances,
        superpopulation=True,
        seed=SEED,
    )
    if is_sample(items):
        return found
    choice: Choice = choose_estimator(labels_from="hand_picked", reviewed_pass=0, reviewed_fail=0)
    return tuple(
        replace(one, choice=choice, rate=Estimate.undefined("no_probability_sample", n=one.rate.n))
        for one in found
    )


def _cells(items: pd.DataFrame, names: list[str]) -> tuple[Floats, Floats]:
    """(metrics, models): the judge's rate, and that rate put right by the mean error among the cell's labelled items."""
    error = items["reference"] - items["judge"]
    table = items.assign(error=error).pivot_table(
        index="metric_version_id", columns="model", values=["judge", "error"], aggfunc="mean", dropna=False
    )

    def of(value: str) -> Floats:
        if value not in table:
            return np.full((items["metric_version_id"].nunique(), len(names)), np.nan)
        return pd.DataFrame(table[value]).reindex(columns=names).to_numpy(dtype=np.float64)

    judged = of("judge")
    return judged, np.clip(judged + of("error"), 0, 1)


def _tipping(items: pd.DataFrame, judged: Floats, names: list[str]) -> tuple[Tipping, ...]:
    if not judged.size:
        return ()
    means = np.array([np.nan if np.isnan(column).all() else np.nanmean(column) for column in judged.T])
    order = [int(place) for place in np.argsort(-means, kind="stable") if not np.isnan(means[place])]
    leniency = items.assign(leniency=items["judge"] - items["reference"]).pivot_table(
        index="metric_version_id", columns="model", values="leniency", aggfunc="mean", dropna=False
    )
    return tuple(
        Tipping(
            above=names[first],
            below=names[second],
            found=tipping_point(
                float(means[first] - means[second]),
                bias=_bias(leniency, names[first], names[second], len(items)),
            ),
        )
        for first, second in pairwise(order)
    )


def _bias(leniency: pd.DataFrame, first: str, second: str, items: int) -> Estimate:
    if not {first, second} <= set(leniency.columns):
        return Estimate.undefined("no_ratings", n=0)
    apart = (leniency[first] - leniency[second]).dropna().to_numpy(dtype=np.float64)
    found = ratio(apart, clusters=np.arange(len(apart)), bounds=(-2.0, 2.0), seed=SEED)
    return replace(found, n=items)
