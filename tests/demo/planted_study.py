"""The demo study with other seeds, as the tables that an audit reads, without files or a database."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pandas as pd
import yaml

from impactbench.domain import AssignmentReason, Polarity, passes
from reviews.evidence import StudyTables, joined
from tests.demo.findings import DEMO


@contextmanager
def _demo_on_path() -> Iterator[None]:
    sys.path.insert(0, str(DEMO))
    try:
        yield
    finally:
        sys.path.remove(str(DEMO))


@cache
def _source() -> tuple[Any, Any, Any, Any]:
    with _demo_on_path():
        import planted
        import simulated
    benchmark = planted.read_yaml(DEMO / "metrics.yaml")
    return (
        planted.read_conversations(benchmark["metrics"]),
        planted.read_yaml(DEMO / "ground_truth.yaml"),
        planted.read_yaml(DEMO / "rationales.yaml"),
        simulated,
    )


PLANTED: dict[str, Any] = yaml.safe_load((DEMO / "ground_truth.yaml").read_text(encoding="utf-8"))
"""Everything that was planted."""


def study_of_seed(seed: int) -> StudyTables:
    """The study as judge and raters would have left it with another seed of the same ground truth."""
    items, truth, notes, simulated = _source()
    truth = {**truth, "seed": seed}
    names = list(dict.fromkeys(item.metric for item in items))
    version = {name: number for number, name in enumerate(names, start=1)}
    number = {item.key: place for place, item in enumerate(items, start=1)}
    polarity = {item.metric: Polarity(item.scenario["metric_type"]) for item in items}
    metrics = pd.DataFrame(
        {
            "metric_version_id": [version[name] for name in names],
            "benchmark": "everyday-choices",
            "metric": names,
            "version": 1,
            "name": names,
            "polarity": [polarity[name] for name in names],
            "subareas": [[] for _ in names],
        }
    )
    conversations = pd.DataFrame(
        [
            {
                "conversation_id": number[item.key],
                "run": item.model,
                "conversation": item.key,
                "age": "teen" if "teen" in item.scenario["demographic"]["age"] else "adult",
                "model": item.model,
                "family": truth["models"][item.model]["family"],
                "base_scenario": item.scenario["id"],
                "n_turns": len(item.transcript) // 2,
            }
            for item in items
        ]
    )
    judgments = pd.DataFrame(
        [
            {
                "conversation_id": number[key],
                "metric_version_id": version[key[:3]],
                "judge_id": 1,
                "judge": truth["judge"]["slug"],
                "judge_family": truth["judge"]["family"],
                "repeat": score["sample"],
                "present": score["present"],
                "passed": passes(score["present"], polarity[key[:3]]),
                "unscored_because": "",
                "justification": "",
            }
            for key, scores in simulated.judge_all(items, truth=truth, notes=notes).items()
            for score in scores
        ]
    ).astype({"present": "boolean", "passed": "boolean"})
    asked = pd.DataFrame(
        [
            {
                "assignment_id": place,
                "conversation_id": number[row["item_id"]],
                "metric_version_id": version[row["metric_id"]],
                "rater": row["rater_id"],
                "panel": row["rater_group"],
                "repeat": 0,
                "position": place,
                "status": row["status"],
                "label": row.get("label") or None,
                "no_verdict_because": row.get("reason") or None,
                "labelled_at": row["created_utc"],
                "inclusion_probability": None,
                "reason": AssignmentReason.CORE,
                "released_at": None,
            }
            for place, row in enumerate(simulated.rate_all(items, truth=truth, notes=notes), start=1)
        ]
    )
    nothing = pd.DataFrame(columns=["conversation_id", "metric_version_id", "verdict"])
    return joined(metrics, asked, judgments, nothing, conversations)
