"""Labels as scores of Inspect: for each sample the score of every rater, with who gave it, when and why in its history."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from impactbench.adapters.label_items import LabelledItem, labelled_items
from impactbench.adapters.study_labels import StudyLabels
from impactbench.domain import LabelStatus, LabelVerdict

VALUES = {LabelVerdict.PASS: "C", LabelVerdict.BORDERLINE: "P", LabelVerdict.FAIL: "I"}
"""Inspect's words for a verdict: correct, partial, incorrect. What is no verdict is N, no answer."""

_SAMPLE = re.compile(r"^(?P<id>.+)_epoch_(?P<epoch>\d+)$")


def inspect_scores(labels: StudyLabels) -> Iterator[dict[str, Any]]:
    """A record for each item: the sample (id and epoch) and its scores, in the shape of Inspect's own `scores`.

    A conversation that did not come from a log is the sample of its own name, in epoch 1. Each score is named
    `expert/<rater>/<metric>`; its history holds every revision as an edit with its provenance.
    """
    for item in labelled_items(labels):
        found = _SAMPLE.match(item.item)
        yield {
            "id": found["id"] if found else item.item,
            "epoch": int(found["epoch"]) if found else 1,
            "run": item.run,
            "scores": {
                _name(item, cells): _score(cells, revisions)
                for cells, revisions in zip(item.labels, item.history, strict=True)
                if cells["status"] != LabelStatus.ANSWERED
            },
        }


def write_inspect_scores(labels: StudyLabels, path: Path) -> None:
    """Write the records to a file, as JSON lines; the same labels give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(record, ensure_ascii=False) for record in inspect_scores(labels))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _name(item: LabelledItem, cells: Mapping[str, str]) -> str:
    repeat = f"#{cells['repeat_no']}" if cells["repeat_no"] != "0" else ""
    return f"expert/{cells['rater_id']}{repeat}/{item.metric}@{item.metric_version}"


def _score(cells: Mapping[str, str], revisions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    newest = revisions[-1]
    return {
        "value": _value(newest),
        "explanation": newest["rationale"] or None,
        "metadata": {
            "status": newest["status"],
            "reason": newest["no_verdict_because"],
            "rater_group": cells["rater_group"],
        },
        "history": [
            {
                "value": _value(said),
                "explanation": said["rationale"] or None,
                "provenance": {
                    "timestamp": said["created_at"],
                    "author": cells["rater_id"],
                    "reason": said["revised_because"] or None,
                    "metadata": {"revision": said["revision"], "status": said["status"]},
                },
            }
            for said in revisions
        ],
    }


def _value(said: Mapping[str, Any]) -> str:
    return VALUES[LabelVerdict(said["verdict"])] if said["verdict"] else "N"
