"""How far the review sets of a study are: counted from the labels in the store, never from a field that could lag."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from impactbench.domain import LabelStatus
from reviews.design.pace import Pace

RELEASED = "released"
"""The status of a slot that was given up before an answer came."""
_COUNTED = {
    "done": LabelStatus.SUBMITTED,
    "cannot_judge": LabelStatus.CANNOT_JUDGE,
    "skipped": LabelStatus.SKIPPED,
    "waiting": "not_yet_rated",
    "released": RELEASED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How far the review sets of a study are."""

    by_rater: pd.DataFrame
    by_panel: pd.DataFrame
    by_metric: pd.DataFrame
    by_stratum: pd.DataFrame


def count_slots(assignments: pd.DataFrame, metrics: pd.DataFrame) -> Counts:
    """Count the assignments of a study's own sets.

    Args:
        assignments: as `frames.assignments` gives them, with `slots`.
        metrics: as `frames.metrics` gives them.
    """
    own = assignments[assignments["origin"] == "design"].reset_index(drop=True)
    given_up = own["released_at"].notna() & (own["status"] == "not_yet_rated")
    own = own.assign(status=own["status"].mask(given_up, RELEASED))
    return Counts(
        by_rater=_by_rater(own),
        by_panel=_by_panel(own),
        by_metric=_by_metric(own, metrics),
        by_stratum=_by_stratum(own),
    )


def _by_rater(own: pd.DataFrame) -> pd.DataFrame:
    """A rater of the study's own sets: rater, panel, asked, done, cannot_judge, skipped, waiting, released,
    last_label_at. Slots given up before an answer came are `released` and not `asked`.
    """
    counts = _count(own, ["rater", "panel"])
    newest = own.groupby("rater")["labelled_at"].max()
    counts["last_label_at"] = [newest[rater] for rater in counts["rater"]]
    return counts


def _by_panel(own: pd.DataFrame) -> pd.DataFrame:
    """A panel: panel, raters, asked, done, cannot_judge, skipped, waiting, released."""
    counts = _count(own, ["panel"])
    raters = own.groupby("panel", dropna=False)["rater"].nunique()
    counts.insert(1, "raters", raters.to_numpy())
    return counts


def _by_stratum(own: pd.DataFrame) -> pd.DataFrame:
    """A stratum of a set: review_set, stratum, items, asked, done, cannot_judge, skipped, waiting, released."""
    first = own[own["repeat"] == 0]
    counts = _count(first, ["review_set", "stratum"])
    items = first.groupby(["review_set", "stratum"])["conversation_id"].nunique()
    counts.insert(2, "items", items.to_numpy())
    return counts


def _by_metric(own: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """A metric (by version) of the study's own sets: metric, version, items, with_one_label, asked, done, cannot_judge,
    skipped, waiting, released. `with_one_label`: items of which one rater alone has given a verdict. Hidden repeats are
    not counted.
    """
    names = metrics[["metric_version_id", "version"]].assign(
        metric=metrics["benchmark"] + "/" + metrics["metric"]
    )
    first = own[own["repeat"] == 0].merge(names, on="metric_version_id")
    key = ["metric", "version"]
    done = first["status"] == LabelStatus.SUBMITTED
    labels = done.groupby([first[column] for column in [*key, "conversation_id"]]).sum()
    of_metric = labels.groupby(key)
    counts = _count(first, key)
    counts.insert(2, "items", of_metric.size().to_numpy())
    counts.insert(3, "with_one_label", (labels == 1).groupby(key).sum().to_numpy())
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
