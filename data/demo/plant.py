"""Makes the demo study from its conversations and its ground truth: run `python data/demo/plant.py`.

It reads conversations/*.yaml, metrics.yaml, rationales.yaml, revision.yaml and ground_truth.yaml beside it and writes
everyday-choices/: a benchmark in the published layout, with what a simulated judge said, ratings.csv, what six
simulated raters said; and revision/, what both said after one metric was reworded. The same inputs give the same bytes.
"""

import argparse
import csv
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from planted import HERE, Planted, read_conversations, read_yaml
from revised import DECIDED, VERDICT_COLUMNS, rated_again, under_revision, verdicts_again
from simulated import judge_all, rate_all

COLUMNS = [
    "item_id",
    "base_scenario_id",
    "variant",
    "metric_id",
    "metric_version",
    "guideline_version",
    "rater_id",
    "rater_group",
    "repeat_no",
    "label",
    "status",
    "reason",
    "confidence",
    "rationale",
    "turns",
    "created_utc",
    "updated_utc",
    "active_seconds",
    "blinding_version",
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the demo study from its ground truth.")
    parser.add_argument("--into", type=Path, default=HERE, help="the folder that holds what is written")
    plant(into=parser.parse_args().into)


def plant(*, into: Path) -> None:
    """Write the whole study."""
    truth = read_yaml(HERE / "ground_truth.yaml")
    benchmark = read_yaml(HERE / "metrics.yaml")
    notes = read_yaml(HERE / "rationales.yaml")
    planted = read_conversations(benchmark["metrics"])
    into, folder = into / "everyday-choices", into / "revision"
    for each in (into, folder):
        each.mkdir(parents=True, exist_ok=True)
    _write(into / "benchmark.yaml", _as_yaml(benchmark))
    scenarios = {item.scenario["id"]: item.scenario for item in planted}
    _write(into / "scenarios.json", _as_json(list(scenarios.values())))
    scores = judge_all(planted, truth=truth, notes=notes)
    for model, about in truth["models"].items():
        run = into / "runs" / model
        run.mkdir(parents=True, exist_ok=True)
        own = [item for item in planted if item.model == model]
        _write(run / "conversations.json", _as_json([_conversation(item) for item in own]))
        _write(run / "scores.json", _as_json([score for item in own for score in scores[item.key]]))
        _write(run / "model.yaml", _as_yaml(about))
        _write(run / "judge.yaml", _as_yaml(_judge(truth["judge"])))
    _write_table(into / "ratings.csv", COLUMNS, rate_all(planted, truth=truth, notes=notes))
    revision = read_yaml(HERE / "revision.yaml")
    again = under_revision(revision, planted=planted, truth=truth)
    decided = {name: revision[name] for name in DECIDED}
    _write(folder / "decisions.yaml", _as_yaml(decided | {"judge": _judge(truth["judge"])}))
    _write_table(folder / "verdicts.csv", VERDICT_COLUMNS, verdicts_again(again))
    _write_table(folder / "ratings.csv", COLUMNS, rated_again(again))


def _conversation(item: Planted) -> dict[str, Any]:
    return {
        **item.scenario,
        "conv_id": item.key,
        "target": {"id": item.model, "model": item.model},
        "transcript": item.transcript,
    }


def _judge(judge: dict[str, Any]) -> dict[str, Any]:
    """The judge as a run folder describes it."""
    about = {name: judge[name] for name in ("slug", "provider", "family", "parameters")}
    return about | {"prompt_hash": hashlib.sha256(judge["prompt"].encode()).hexdigest()}


def _write_table(path: Path, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _as_yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110))


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
