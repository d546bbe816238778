"""How far the review sets of a study are: counted from the labels in the store, never from a field that could lag."""

from collections.abc import Mapping, Sequence

import pandas as pd

from impactbench.domain import LabelStatus
from reviews.design.pace import Pace
from reviews.design.slots import seen_at

RELEASED = "released"
"""The status of a slot that was given up before an answer came."""
_COUNTED = {
    "done": LabelStatus.SUBMITTED,
    "cannot_judge": LabelStatus.CANNOT_JUDGE,
    "skipped": LabelStatus.SKIPPED,
    "waiting": "not_yet_rated",
    "released": RELEASED,
}


def own_slots(assignments: pd.DataFrame, seen: Mapping[int, pd.Timestamp]) -> pd.DataFrame:
    """The assignments of the study's own sets, with `seen_at`; one given up before an answer came has the status `released`.

    Args:
        assignments: as `frames.assignments` gives them, with `slots`.
        seen: when each rater was last seen; see `last_seen`.
    """
    own = assignments[assignments["origin"] == "design"].reset_index(drop=True)
    given_up = own["released_at"].notna() & (own["status"] == "not_yet_rated")
    return own.assign(status=own["status"].mask(given_up, RELEASED), seen_at=seen_at(own, seen))


def count_by_rater(own: pd.DataFrame) -> pd.DataFrame:
    """A rater of the study's own sets: rater, panel, asked, done, cannot_judge, skipped, waiting, released,
    last_label_at, seen_at. Slots given up before an answer came are `released` and not `asked`.

    Args:
        own: as `own_slots` gives them, as for what follows.
    """
    counts = _count(own, ["rater", "panel"])
    for column, newest in (("last_label_at", "labelled_at"), ("seen_at", "seen_at")):
        at = own.groupby("rater")[newest].max()
        counts[column] = [at[rater] for rater in counts["rater"]]
    return counts


def count_by_panel(own: pd.DataFrame) -> pd.DataFrame:
    """A panel: panel, raters, asked, done, cannot_judge, skipped, waiting, released."""
    counts = _count(own, ["panel"])
    raters = own.groupby("panel", dropna=False)["rater"].nunique()
    counts.insert(1, "raters", raters.to_numpy())
    return counts


def count_by_stratum(own: pd.DataFrame) -> pd.DataFrame:
    """A stratum of a set: review_set, stratum, items, asked, done, cannot_judge, skipped, waiting, released."""
    first = own[own["repeat"] == 0]
    counts = _count(first, ["review_set", "stratum"])
    items = first.groupby(["review_set", "stratum"])["conversation_id"].nunique()
    counts.insert(2, "items", items.to_numpy())
    return counts


def count_by_metric(own: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """A metric (by version) of the study's own sets: metric, version, items, with_one_label, asked, done, cannot_judge,
    skipped, waiting, released. `with_one_label`: items of which one rater alone has given a verdict. Hidden repeats are
    not counted.

    Args:
        own: as `own_slots` gives them.
        metrics: as `frames.metrics` gives them.
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
