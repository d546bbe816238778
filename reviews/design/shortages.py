"""What open review sets are short of, and who could fill it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import AssignmentReason, Panel
from impactbench.store import frames
from reviews.assignment import PANELS
from reviews.design.open_set import IN_THE_OVERLAP, OpenSet, read_open_set
from reviews.design.slots import open_sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Short:
    """An item with fewer raters than its set was opened for, or without a rater of a panel."""

    review_set: str
    item: str
    metric: str
    missing: int
    """Raters that it lacks."""
    panel: Panel | None
    """The panel that it lacks a rater of."""
    free: tuple[str, ...]
    """Raters of the set, of that panel if one is lacking, who could be given it."""
    why_not_others: str


def find_shortages(engine: Engine, study: str, assignments: pd.DataFrame) -> list[Short]:
    """The items that every open set of a study is short of raters for, most pressing first.

    A slot counts as filled where somebody still holds it or has answered it. One held by a rater who is no longer
    active and has not answered is empty.

    Args:
        engine: the database.
        study: the study.
        assignments: as `frames.assignments` gives them, with `slots`.
    """
    active = frames.raters(engine).set_index("rater")["active"]
    found: list[Short] = []
    for review_set in open_sets(engine, study):
        own = assignments[assignments["review_set"] == review_set.slug]
        lacking = _lacking(own, own["rater"].map(active).astype(bool), overlap=review_set.overlap or 0)
        if lacking:
            # Who could fill them takes longer to find out, and mostly nobody has to.
            found += _who_could(read_open_set(engine, study, review_set.slug), lacking)
    return sorted(found, key=lambda short: (len(short.free), -short.missing, short.review_set, short.item))


def _lacking(own: pd.DataFrame, active: pd.Series, *, overlap: int) -> dict[int, tuple[int, Panel | None]]:
    """Conversation -> how many raters it lacks, and a panel of which it has none."""
    slots = own["reason"].isin(IN_THE_OVERLAP)
    answered = own["status"] != "not_yet_rated"
    filled = slots & (answered | (active & own["released_at"].isna()))
    conversations = pd.Index(own.loc[own["reason"] == AssignmentReason.CORE, "conversation_id"].unique())
    raters = own[filled].groupby("conversation_id")["rater"].nunique().reindex(conversations, fill_value=0)
    present = set(own["panel"])
    meeting = {
        panel: conversations.isin(own.loc[filled & (own["panel"] == panel), "conversation_id"])
        for panel in PANELS
        if overlap > 1 and present.issuperset(PANELS)
    }
    missing = (overlap - raters).clip(lower=0).to_numpy()
    short = missing > 0
    for met in meeting.values():
        short |= ~met
    return {
        int(conversations[k]): (
            max(int(missing[k]), 1),
            next((panel for panel, met in meeting.items() if not met[k]), None),
        )
        for k in np.flatnonzero(short)
    }


def _who_could(opened: OpenSet, lacking: Mapping[int, tuple[int, Panel | None]]) -> Iterator[Short]:
    items = zip(*(opened.items[name] for name in ("key", "metric", "conversation_id")), strict=True)
    for key, metric, conversation in items:
        if conversation not in lacking:
            continue
        missing, panel = lacking[conversation]
        yield Short(
            review_set=opened.slug,
            item=str(key),
            metric=str(metric),
            missing=missing,
            panel=panel,
            free=tuple(m.name for m in opened.free_for(key) if panel is None or m.panel is panel),
            why_not_others=opened.explain(str(key)),
        )
