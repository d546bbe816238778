"""Extra raters where the first stage shows need, each item with a known chance that depends on the first stage alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import AssignmentReason, LabelStatus, LabelVerdict
from reviews.assignment import Member, PlanRefused
from reviews.contested.contest import metric_statuses
from reviews.design.extension import Extension
from reviews.design.new_seats import find_raters
from reviews.design.open_set import OpenSet, read_open_set
from reviews.evidence import StudyTables, random_core, read_tables
from validation.contested import Status

LEAST_CHANCE = 0.1
"""No item is without a chance: one over it is the largest weight."""
NEEDS = {
    "experts are split": 0.5,
    "a label is borderline": 0.3,
    "the judge contradicts itself": 0.3,
    "the metric is contested": 0.4,
    "the metric is to be watched": 0.2,
}
"""What each sign of need adds to the chance of extra raters; together at most 1."""
FEWEST_LABELS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What the first stage says about an item."""

    item: str
    signs: tuple[str, ...]

    @property
    def chance(self) -> float:
        """The chance of extra raters.

        >>> Need(item="a", signs=()).chance, Need(item="b", signs=("experts are split",)).chance
        (0.1, 0.6)
        """
        return min(1.0, round(LEAST_CHANCE + sum(NEEDS[sign] for sign in self.signs), 6))


def draft_adaptive(
    engine: Engine, study: str, slug: str, *, to: int, raters: Sequence[Member] = ()
) -> Extension:
    """Draw items for extra raters, up to `to` for each, with the chances of their needs; stores nothing.

    Only items whose first stage is over take part: every slot answered or given up, and two labels or more.

    Raises:
        PlanRefused: the set is not there or locked, has had its second stage, or no item is ready.
    """
    opened = read_open_set(engine, study, slug, raters=raters)
    if (opened.assignments["reason"] == AssignmentReason.ADAPTIVE).any():
        raise PlanRefused(
            f"the review set {slug!r} has had its second stage, and its chances were fixed by the first; open another "
            "set for more labels"
        )
    needs = first_stage_needs(opened, read_tables(engine, study))
    room = [need for need in needs if len(opened.holders[need.item]) < to]
    if not room:
        ready = f"{len(needs)} of its {len(opened.items)} items have been rated to the end with two labels or more"
        raise PlanRefused(
            f"no item of the review set {slug!r} can be given extra raters up to {to}: {ready}; wait for more labels, "
            "or give a higher number with --to"
        )
    generator = np.random.default_rng([int(opened.design["seed"] or 0), 2])
    lots = dict(zip(opened.items["key"], generator.random(len(opened.items)).tolist(), strict=True))
    drawn = [need for need in room if lots[need.item] < need.chance]
    seats, shortages = find_raters(opened, {need.item: to - len(opened.holders[need.item]) for need in drawn})
    expected = sum(need.chance for need in room)
    notes = [
        f"{len(drawn)} of {len(room)} items are drawn for extra raters; {expected:.1f} were to be expected.",
        "Headline agreement rests on the first stage alone, as before.",
    ]
    if waiting := len(opened.items) - len(needs):
        notes.append(f"{waiting} items take no part, for their first stage is not over.")
    return Extension(
        opened=opened,
        to=to,
        reason=AssignmentReason.ADAPTIVE,
        seats=tuple(seats),
        shortages=tuple(shortages),
        notes=tuple(notes),
        probabilities={need.item: need.chance for need in room},
    )


def first_stage_needs(opened: OpenSet, tables: StudyTables) -> list[Need]:
    """The needs of every item whose first stage is over, by key."""
    core = random_core(opened.assignments)
    own = tables.assignments[tables.assignments["assignment_id"].isin(core["assignment_id"])]
    statuses = {one.metric: one.status for one in metric_statuses(replace(tables, assignments=own))}
    flips = _contradictions(tables.judgments)
    needs = []
    for key, rows in core.groupby("key", sort=True):
        open_slots = (rows["status"] == "not_yet_rated") & rows["released_at"].isna()
        labels = rows.loc[rows["status"] == LabelStatus.SUBMITTED, "label"]
        if open_slots.any() or len(labels) < FEWEST_LABELS:
            continue
        version, conversation = rows["metric_version_id"].iloc[0], rows["conversation_id"].iloc[0]
        status = statuses.get(version)
        signs = {
            "experts are split": labels.nunique() > 1,
            "a label is borderline": (labels == LabelVerdict.BORDERLINE).any(),
            "the judge contradicts itself": (conversation, version) in flips,
            "the metric is contested": status is Status.CONTESTED,
            "the metric is to be watched": status is Status.WATCH,
        }
        needs.append(Need(item=str(key), signs=tuple(sign for sign, there in signs.items() if there)))
    return needs


def _contradictions(judgments: pd.DataFrame) -> set[tuple[int, int]]:
    """(conversation, metric version) of which one and the same judge said both."""
    scored = judgments[judgments["present"].notna()]
    said = scored.groupby(["conversation_id", "metric_version_id", "judge_id"])["present"].nunique()
    return {(int(key[0]), int(key[1])) for key in said[said > 1].index}
