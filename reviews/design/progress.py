"""How far the review sets of a study are: counted from the labels in the store, never from a field that could lag."""

from collections.abc import Sequence

import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import LabelStatus
from impactbench.store import frames
from reviews.design.pace import Pace
from reviews.design.slots import slots

RELEASED = "released"
"""The status of a slot that was given up before an answer came."""
_COUNTED = {
    "done": LabelStatus.SUBMITTED,
    "cannot_judge": LabelStatus.CANNOT_JUDGE,
    "skipped": LabelStatus.SKIPPED,
    "waiting": "not_yet_rated",
    "released": RELEASED,
}


def own_assignments(engine: Engine, study: str) -> pd.DataFrame:
    """An assignment of the study's own sets: as in `frames.assignments`, with `reason`, `released_at`, `seen_at`."""
    frame = frames.assignments(engine, study).merge(slots(engine, study), on="assignment_id")
    frame = frame[frame["origin"] == "design"].reset_index(drop=True)
    given_up = frame["released_at"].notna() & (frame["status"] == "not_yet_rated")
    frame["status"] = frame["status"].mask(given_up, RELEASED)
    return frame


def count_by_rater(engine: Engine, study: str) -> pd.DataFrame:
    """A rater of the study's own sets: rater, panel, asked, done, cannot_judge, skipped, waiting, released,
    last_label_at, seen_at. Slots given up before an answer came are `released` and not `asked`.
    """
    frame = own_assignments(engine, study)
    counts = _count(frame, ["rater", "panel"])
    for column, newest in (("last_label_at", "labelled_at"), ("seen_at", "seen_at")):
        at = frame.groupby("rater")[newest].max()
        counts[column] = [at[rater] for rater in counts["rater"]]
    return counts


def count_by_panel(engine: Engine, study: str) -> pd.DataFrame:
    """A panel: panel, raters, asked, done, cannot_judge, skipped, waiting, released."""
    frame = own_assignments(engine, study)
    counts = _count(frame, ["panel"])
    raters = frame.groupby("panel", dropna=False)["rater"].nunique()
    counts.insert(1, "raters", raters.to_numpy())
    return counts


def count_by_stratum(engine: Engine, study: str) -> pd.DataFrame:
    """A stratum of a set: review_set, stratum, items, asked, done, cannot_judge, skipped, waiting, released."""
    frame = own_assignments(engine, study)
    frame = frame[frame["repeat"] == 0]
    counts = _count(frame, ["review_set", "stratum"])
    items = frame.groupby(["review_set", "stratum"])["conversation_id"].nunique()
    counts.insert(2, "items", items.to_numpy())
    return counts


def count_by_metric(engine: Engine, study: str) -> pd.DataFrame:
    """A metric (by version) of the study's own sets: metric, version, items, with_one_label, asked, done, cannot_judge,
    skipped, waiting, released. `with_one_label`: items of which one rater alone has given a verdict. Hidden repeats are
    not counted.
    """
    metrics = frames.metrics(engine)
    names = metrics.assign(metric=metrics["benchmark"] + "/" + metrics["metric"])
    frame = own_assignments(engine, study).merge(
        names[["metric_version_id", "metric", "version"]], on="metric_version_id"
    )
    frame = frame[frame["repeat"] == 0]
    key = ["metric", "version"]
    verdicts = (frame["status"] == LabelStatus.SUBMITTED).groupby(
        [frame[column] for column in [*key, "conversation_id"]]
    )
    per_item = verdicts.sum().rename("labels").reset_index()
    of_metric = per_item.groupby(key)["labels"]
    counts = _count(frame, key)
    counts.insert(2, "items", of_metric.size().to_numpy())
    counts.insert(3, "with_one_label", of_metric.agg(lambda labels: int((labels == 1).sum())).to_numpy())
    return counts


def reminders(by_rater: pd.DataFrame, *, title: str, pace: Pace) -> dict[str, str]:
    """A text for each rater who still has something to answer, to be copied into a message."""
    return {
        str(row["rater"]): (
            f"Dear {row['rater']},\n\nthank you for taking part in “{title}”. You have answered "
            f"{row['asked'] - row['waiting']} of {row['asked']} conversations; {row['waiting']} are left, about "
            f"{_time(pace.hours(int(row['waiting'])))}. Your personal link takes you to where you stopped, and everything "
            "you have entered is kept.\n\nIf you cannot go on, please tell us, so that somebody else can."
        )
        for row in by_rater.to_dict("records")
        if row["waiting"]
    }


def _time(hours: float) -> str:
    """How long, for people.

    >>> _time(0.4), _time(2.5)
    ('24 minutes', '2.5 hours')
    """
    return f"{round(hours * 60)} minutes" if hours < 1.5 else f"{hours:.1f} hours"


def _count(frame: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    statuses = frame[list(key)].assign(
        asked=(frame["status"] != RELEASED).astype(int),
        **{name: (frame["status"] == status).astype(int) for name, status in _COUNTED.items()},
    )
    return statuses.groupby(list(key), dropna=False, sort=True).sum().reset_index()
