"""What the simulated judge and raters say of the conversations of one metric once it has been reworded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planted import Planted, Truth
from simulated import judge_all, rate_all

DECIDED = ("metric", "maintainer", "wording", "revise", "adopt", "note")
"""What revision.yaml says of the decisions, which the demo takes; the rest is for the draws."""

VERSION = 2
VERDICT_COLUMNS = ["item_id", "metric_id", "metric_version", "repeat_no", "present", "justification"]


@dataclass(frozen=True, kw_only=True)
class Again:
    """The conversations of the metric, the ground truth under its new wording, and what is written under "why"."""

    planted: Sequence[Planted]
    truth: Truth
    notes: dict[str, Any]


def under_revision(revision: dict[str, Any], *, planted: Sequence[Planted], truth: Truth) -> Again:
    """The new wording leaves one reading, and what the old one divided is clear under it."""
    metric, reading = revision["metric"], revision["reading"]
    return Again(
        planted=[item for item in planted if item.metric == metric],
        truth={
            **truth,
            "seed": truth["seed"] + revision["seed"],
            "created_utc": revision["created_utc"],
            "one_rests": False,
            "no_verdict": [],
            "judge": {**truth["judge"], metric: reading},
            "labels": {**truth["labels"], "contested": truth["labels"]["clear"]},
            "raters": {rater: {**about, metric: reading} for rater, about in truth["raters"].items()},
        },
        notes={metric: {"bank": revision["notes"], "judge": revision["judge"], "conversations": {}}},
    )


def verdicts_again(again: Again) -> list[dict[str, Any]]:
    """The judge's verdicts under the new wording, as a table that `impactbench import verdicts` reads."""
    scores = judge_all(again.planted, truth=again.truth, notes=again.notes)
    return [
        {
            "item_id": item.key,
            "metric_id": item.metric,
            "metric_version": VERSION,
            "repeat_no": score["sample"],
            "present": str(score["present"]).lower(),
            "justification": score["justification"],
        }
        for item in again.planted
        for score in scores[item.key]
    ]


def rated_again(again: Again) -> list[dict[str, Any]]:
    """The ratings of the second review: everybody rates every conversation of the metric."""
    rows = rate_all(again.planted, truth=again.truth, notes=again.notes)
    return [{**row, "metric_version": VERSION} for row in rows]
