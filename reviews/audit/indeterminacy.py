"""What experts find defensible: a borderline label is the set of both verdicts, and a judge is measured against that."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reviews.audit.groups import Group, Kind, groups, of_group
from reviews.audit.items import Judge, judges_of
from reviews.audit.retest import judge_runs
from reviews.evidence import SEED, StudyTables
from validation.beta_sweep import BetaSweep, beta_sweep
from validation.bounds import Bounds
from validation.decisions import Curves, curves, thresholds
from validation.indeterminacy import ForcedChoice, compare_forced, multilabel_mse
from validation.ratings import Ratings
from validation.response_sets import (
    between_raters,
    forced_choice,
    multilabel,
    pass_rate_bounds,
    within_rater,
)
from validation.results import Estimate

Floats = NDArray[np.float64]

FEWEST_RUNS = 5
"""A judge's share of passes over its runs is a rough figure with fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeIndeterminacy:
    """A judge beside what experts find defensible."""

    judge: Judge
    runs: int
    """Runs of the judge; its shares are multiples of one over this."""
    mse: Estimate
    """Mean squared difference of multi-label shares, the score to choose judges by: 0 is best."""
    forced: ForcedChoice
    """The same with forced choices, for comparison."""
    curves: Curves
    """Consistency and bias of the judge's decisions at each threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indeterminacy:
    """How far verdicts are open, within experts and between them, and what judges make of it."""

    within: Estimate
    """Share of labels that say both verdicts are defensible: what majorities hide."""
    between: Estimate
    """Share of pairs of experts who differ: what single reviewers hide."""
    pass_rate: Bounds
    """From the share of experts who pass to that of those who could defend a pass."""
    judges: tuple[JudgeIndeterminacy, ...]
    """The judge to choose first."""
    sweep: BetaSweep | None
    """Whether the order of judges survives if experts who chose a fail would have defended a pass too."""


def indeterminacy(tables: StudyTables) -> Indeterminacy:
    """Indeterminacy of the random core, with borderline read as "a pass and a fail are both defensible"."""
    if "indeterminacy" not in tables.made:
        tables.made["indeterminacy"] = _indeterminacy(tables)
    found: Indeterminacy = tables.made["indeterminacy"]
    return found


def _indeterminacy(tables: StudyTables) -> Indeterminacy:
    ratings = of_group(tables.core_ratings, groups(tables, [Kind.ALL])[0])
    human, clusters = multilabel(ratings), ratings.clusters
    shares = {judge: _pass_shares(judge_runs(tables, judge), ratings) for judge in judges_of(tables)}
    most = int(np.median(ratings.ratings_per_unit)) if len(ratings.units) else 1
    judges = [
        JudgeIndeterminacy(
            judge=judge,
            runs=runs,
            mse=multilabel_mse(human, _both(passed), clusters=clusters, seed=SEED),
            forced=compare_forced(forced_choice(ratings), _both(passed), clusters=clusters, seed=SEED),
            curves=curves(human[:, 0], passed, taus=thresholds(max(most, 1)), clusters=clusters, seed=SEED),
        )
        for judge, (passed, runs) in shares.items()
    ]
    return Indeterminacy(
        within=within_rater(ratings, clusters=clusters, seed=SEED),
        between=between_raters(ratings),
        pass_rate=pass_rate_bounds(ratings, clusters=clusters, seed=SEED),
        judges=tuple(sorted(judges, key=lambda one: (one.mse.value is None, one.mse.value or 0.0))),
        sweep=_sweep(ratings, {judge.name: passed for judge, (passed, _) in shares.items()}),
    )


def metric_pass_rate(tables: StudyTables, metric_version_id: int) -> Bounds:
    """What experts pass of one metric: from the share who pass to the share who could defend a pass."""
    own = Group(kind=Kind.METRIC, name="", versions=frozenset({metric_version_id}))
    return pass_rate_bounds(of_group(tables.core_ratings, own), seed=SEED)


def _pass_shares(runs: Ratings, ratings: Ratings) -> tuple[Floats, int]:
    """(units,) the share of a judge's runs that pass each rated item, nan without a run; and how many runs there are."""
    total = runs.ratings_per_unit
    share = dict(zip(runs.units, (runs.counts[:, 1] / np.maximum(total, 1)).tolist(), strict=True))
    found = np.array([share.get(unit, np.nan) for unit in ratings.units], dtype=np.float64)
    return found, int(total.max(initial=0))


def _both(passed: Floats) -> Floats:
    return np.stack([passed, 1 - passed], axis=1)


def _sweep(ratings: Ratings, judges: Mapping[str, Floats]) -> BetaSweep | None:
    known = np.all([~np.isnan(passed) for passed in judges.values()], axis=0) if judges else np.zeros(0, bool)
    if not known.any():
        return None
    return beta_sweep(
        forced_choice(ratings)[known, 0],
        {name: passed[known] for name, passed in judges.items()},
        clusters=None if ratings.clusters is None else ratings.clusters[known],
        seed=SEED,
    )
