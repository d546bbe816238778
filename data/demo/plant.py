"""Makes the demo study from its conversations and its ground truth: run `python data/demo/plant.py`.

It reads conversations/*.yaml, metrics.yaml, rationales.yaml and ground_truth.yaml beside it and writes
everyday-choices/: a benchmark in the published layout, with what a simulated judge said, and ratings.csv, what six
simulated raters said. The same inputs give the same bytes.
"""

import argparse
import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import yaml
from planted import HERE, Planted, read_conversations, read_yaml
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
    parser.add_argument("--into", type=Path, default=HERE / "everyday-choices", help="the folder to write")
    plant(into=parser.parse_args().into)


def plant(*, into: Path) -> None:
    """Write the whole study."""
    truth = read_yaml(HERE / "ground_truth.yaml")
    benchmark = read_yaml(HERE / "metrics.yaml")
    notes = read_yaml(HERE / "rationales.yaml")
    planted = read_conversations(benchmark["metrics"])
    into.mkdir(parents=True, exist_ok=True)
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
    with (into / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rate_all(planted, truth=truth, notes=notes))


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


def _as_yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110))


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
