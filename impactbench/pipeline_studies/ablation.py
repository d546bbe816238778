"""What switching a part of the simulation off does to pass rates, and to how many conversations can be judged."""

from dataclasses import dataclass

import pandas as pd
from sqlalchemy import Engine

from impactbench.pipeline_studies.arms import ALL_ON, ArmsRefused, switched_off
from impactbench.pipeline_studies.paired_differences import DRAWS, GROUPS, SEED, Paired, paired_differences
from impactbench.store import frames

PLACE = ["metric_version_id", "base_scenario", "age", "model", "seed"]
"""What the conversations of a pair have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchEffect:
    """One part switched off, beside all on, by one judge over one group of metrics."""

    judge: str
    off: str
    group: str
    """all, positive or negative."""
    passed: Paired | None
    """The pass rate over pairs with a verdict in both arms; the failure rate changes as much, the other way. None
    where there is no such pair."""
    without_verdict: Paired
    """The share of conversations without a verdict: incomplete or unscored."""


def compare_arms(engine: Engine, study: str, *, seed: int = SEED, draws: int = DRAWS) -> list[SwitchEffect]:
    """The effect of each part that was switched off, judge by judge, from each judge's first verdict.

    Where a metric has changed in the middle of the study, its newest version counts.

    Raises:
        ArmsRefused: the study has no arms, or no judge has judged any of them.
    """
    placed = conversations_of_arms(engine, study)
    judgments = frames.judgments(engine, study)
    judgments = judgments[judgments["repeat"] == 0]
    if judgments.empty:
        raise ArmsRefused(f"no conversation of the study {study!r} is judged yet: `impactbench run status`")
    effects = []
    for (_, judge), said in judgments.groupby(["judge_id", "judge"]):
        verdicts = placed.merge(
            said[["conversation_id", "metric_version_id", "passed"]],
            on=["conversation_id", "metric_version_id"],
            how="left",
        )
        pairs = pairs_with(verdicts, "passed")
        missing = pairs.assign(before=pairs["before"].isna(), after=pairs["after"].isna())
        lost = paired_differences(missing, seed=seed, draws=draws)
        found = paired_differences(pairs.dropna(subset=["before", "after"]), seed=seed, draws=draws)
        effects += [
            SwitchEffect(
                judge=str(judge), off=off, group=group, passed=found.get((off, group)), without_verdict=one
            )
            for (off, group), one in lost.items()
            if one.pairs
        ]
    return sorted(effects, key=lambda one: (one.judge, one.off, GROUPS.index(one.group)))


def conversations_of_arms(engine: Engine, study: str) -> pd.DataFrame:
    """The conversations of the arms, complete or not, each with `off` and `seed` of its arm; newest versions alone."""
    arms = switched_off(engine, study)
    placed = frames.conversations(engine, study).merge(arms, on="run")
    newest = placed.groupby(["benchmark", "metric"])["metric_version_id"].transform("max")
    return placed[placed["metric_version_id"] == newest]


def pairs_with(rows: pd.DataFrame, value: str, *, place: list[str] = PLACE) -> pd.DataFrame:
    """Each row of an arm beside the one with all on: the columns of `paired_differences`, and more."""
    whole = rows.loc[rows["off"] == ALL_ON, [*place, value]].rename(columns={value: "before"})
    others = rows[rows["off"] != ALL_ON].rename(columns={value: "after", "off": "comparison"})
    return others.merge(whole, on=place)
