"""What a part of the simulation does to the objectives that conversations reach, and to how much these differ."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from impactbench.pipeline_studies.ablation import pairs_with
from impactbench.pipeline_studies.paired_differences import DRAWS, SEED, Paired, paired_differences

SCENARIO = ["metric_version_id", "base_scenario", "age"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageEffect:
    """One part switched off, beside all on."""

    off: str
    reached: Paired
    """The share of a scenario's objectives that a conversation reached, over pairs of conversations."""
    disagreement: Paired | None
    """How often two conversations of a scenario differ in whether an objective was reached, over scenarios; 0: all
    conversations of a scenario reach the same objectives. None where no scenario has two conversations in both arms."""


def coverage_effects(audited: pd.DataFrame, *, seed: int = SEED, draws: int = DRAWS) -> list[CoverageEffect]:
    """The effects over all metrics.

    Args:
        audited: from `audit_coverage`.
        seed: of the resamples.
        draws: how many of them.
    """
    shares = audited.assign(share=[float(np.mean(reached)) for reached in audited["reached"]])
    reached = paired_differences(pairs_with(shares, "share"), seed=seed, draws=draws)
    apart = paired_differences(
        pairs_with(_disagreements(audited), "disagreement", place=SCENARIO), seed=seed, draws=draws
    )
    return [
        CoverageEffect(off=off, reached=one, disagreement=apart.get((off, group)))
        for (off, group), one in reached.items()
        if group == "all"
    ]


def pairwise_disagreement(conversations: Sequence[Sequence[bool]]) -> float:
    """The mean, over objectives and pairs of conversations, of differing in whether the objective was reached.

    0 is no difference; the most is just above a half where many conversations are split evenly, and 1 for two that
    share nothing.

    >>> pairwise_disagreement([[True, True], [True, False], [True, False]])
    0.3333333333333333
    """
    reached = np.asarray(conversations, dtype=np.int64)
    n, k = len(reached), reached.sum(axis=0)
    return float((2 * k * (n - k)).mean() / (n * (n - 1)))


def _disagreements(audited: pd.DataFrame) -> pd.DataFrame:
    """A scenario in an arm: its columns, off, and the disagreement of its conversations where there are two."""
    groups = audited.groupby([*SCENARIO, "benchmark", "metric", "polarity", "off"], sort=True)["reached"]
    rows = groups.agg(list).reset_index()
    rows = rows[rows["reached"].map(len) > 1]
    return rows.assign(disagreement=[pairwise_disagreement(each) for each in rows["reached"]])
