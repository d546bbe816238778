"""What an earlier review set tells about where the judge errs: the spread by which a later sample is allocated.

Neyman's allocation: a stratum gets items in proportion to how many conversations it has and to how much the difference
between judge and experts varies in it, so that the overall rate of errors comes out as precisely as so many items allow.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import LabelStatus, LabelVerdict
from impactbench.store import frames
from reviews.assignment import PlanRefused
from reviews.sampling import name_strata

_WORTH = {LabelVerdict.PASS: 1.0, LabelVerdict.BORDERLINE: 0.5, LabelVerdict.FAIL: 0.0}
_JUDGE = {"pass": 1.0, "fail": 0.0}
SHRINKAGE = 4
"""How many items the spread of all strata together counts beside those of a stratum: few pilot items say little."""


def error_spread(
    engine: Engine, study: str, slug: str, frame: pd.DataFrame, *, strata: Sequence[str]
) -> dict[str, float]:
    """Stratum -> the standard deviation of judge minus experts among the items of an earlier set.

    Args:
        frame: every conversation, with the judge's `verdict`, as `reviews.design.sampling_frame.beside_the_judge` gives it.

    Raises:
        PlanRefused: the set has fewer than two items with a verdict of both.
    """
    labels = frames.assignments(engine, study)
    labels = labels[
        (labels["review_set"] == slug) & (labels["repeat"] == 0) & (labels["status"] == LabelStatus.SUBMITTED)
    ]
    worth = labels["label"].map(_WORTH).astype(float)
    experts = worth.groupby([labels["conversation_id"], labels["metric_version_id"]]).mean()
    items = list(zip(frame["conversation_id"], frame["metric_version_id"], strict=True))
    error = frame["verdict"].map(_JUDGE).astype(float) - pd.Series(
        [experts.get(item, np.nan) for item in items], index=frame.index, dtype=float
    )
    if error.notna().sum() < 2:
        raise PlanRefused(
            f"the review set {slug!r} of {study!r} has fewer than two items that both the judge and an expert have judged, "
            "so it says nothing about where the judge errs; leave --pilot out, or name another set"
        )
    return shrunken_spread(error, name_strata(frame, list(strata)))


def shrunken_spread(error: pd.Series, stratum: pd.Series) -> dict[str, float]:
    """The spread of each stratum, drawn towards that of all; equal everywhere where no error varies at all."""
    overall = float(error.var(ddof=1))
    if not overall > 0:
        return dict.fromkeys(map(str, stratum.unique()), 1.0)
    spread = {}
    for name, errors in error.groupby(stratum):
        known = errors.dropna()
        own = float(known.var(ddof=1)) if len(known) > 1 else overall
        variance = (len(known) * own + SHRINKAGE * overall) / (len(known) + SHRINKAGE)
        spread[str(name)] = float(np.sqrt(variance))
    return spread
