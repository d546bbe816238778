"""How far the review sets of a study are: counted from the labels in the store, never from a field that could lag."""

import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import LabelStatus
from impactbench.store import frames

_COUNTED = {
    "done": LabelStatus.SUBMITTED,
    "cannot_judge": LabelStatus.CANNOT_JUDGE,
    "skipped": LabelStatus.SKIPPED,
    "waiting": "not_yet_rated",
}


def count_by_rater(engine: Engine, study: str) -> pd.DataFrame:
    """A rater of the study's own sets: rater, panel, asked, done, cannot_judge, skipped, waiting, last_label_at."""
    frame = _own_assignments(engine, study)
    counts = _count(frame, ["rater", "panel"])
    newest = frame.groupby("rater")["labelled_at"].max()
    counts["last_label_at"] = [newest[rater] for rater in counts["rater"]]
    return counts


def count_by_metric(engine: Engine, study: str) -> pd.DataFrame:
    """A metric (by version) of the study's own sets: metric, version, items, with_one_label, asked, done, cannot_judge,
    skipped, waiting. `with_one_label`: items of which one rater alone has given a verdict.
    """
    metrics = frames.metrics(engine)
    names = metrics.assign(metric=metrics["benchmark"] + "/" + metrics["metric"])
    frame = _own_assignments(engine, study).merge(
        names[["metric_version_id", "metric", "version"]], on="metric_version_id"
    )
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


def _own_assignments(engine: Engine, study: str) -> pd.DataFrame:
    frame = frames.assignments(engine, study)
    return frame[frame["origin"] == "design"].reset_index(drop=True)


def _count(frame: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    statuses = frame[key].assign(
        asked=1, **{name: (frame["status"] == status).astype(int) for name, status in _COUNTED.items()}
    )
    return statuses.groupby(key, dropna=False, sort=True).sum().reset_index()
