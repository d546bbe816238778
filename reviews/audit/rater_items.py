"""The items behind what is said of one rater: what they answered, and what the others answered there."""

from collections.abc import Hashable

import pandas as pd

from impactbench.domain import LabelStatus
from reviews.audit.items import ITEM
from reviews.evidence import SCALE, StudyTables, random_core

OWN = "own"
"""The column that holds the rater's own answer."""


def items_of_rater(tables: StudyTables, counted: pd.DataFrame, rater: Hashable) -> pd.DataFrame:
    """The items that a rater answered, those furthest from what the others said first.

    Columns: conversation_id, metric_version_id, conversation, title, age, own (label or status), fail, borderline, pass
    (how often everybody gave it, the rater included), cannot_judge, further (own score minus the others' mean, missing
    where nobody else gave a label).

    Args:
        tables: the study.
        counted: its items, as `under_figure` gives them without a judge.
        rater: the pseudonym.
    """
    rows = random_core(tables.assignments)
    own = rows[(rows["rater"] == rater) & (rows["repeat"] == 0) & rows["status"].ne("not_yet_rated")]
    submitted = own["status"] == LabelStatus.SUBMITTED
    answers = own[ITEM].assign(own=own["label"].map(str).where(submitted, own["status"].map(str)))
    items = counted.merge(answers, on=ITEM, how="inner")
    score = items[OWN].map({label: place / (len(SCALE) - 1) for place, label in enumerate(SCALE)})
    total = items[SCALE[1]] / 2 + items[SCALE[2]]
    others = items[list(SCALE)].sum(axis=1) - score.notna()
    items["further"] = score - (total - score) / others.where(others > 0)
    order = items["further"].abs().sort_values(ascending=False, kind="stable", na_position="last").index
    shown = [*ITEM, "conversation", "title", "age", OWN, *SCALE, str(LabelStatus.CANNOT_JUDGE), "further"]
    return items.loc[order, shown].reset_index(drop=True)
