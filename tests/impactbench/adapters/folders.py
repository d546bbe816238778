"""A small run folder in the published layout, to be made wrong in one place at a time."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MODEL = "claude-haiku-4-5"
FIRST = f"m01_s001_v01__{MODEL}"


@dataclass(frozen=True)
class Folder:
    path: Path

    @property
    def run(self) -> Path:
        return self.path / "runs" / MODEL

    def edit(self, name: str, change: Callable[[Any], Any]) -> None:
        """Change a file's content; `change` edits in place, or returns the new content."""
        path = self.path / name if name in ("benchmark.yaml", "scenarios.json") else self.run / name
        text = path.read_text() if path.exists() else "{}"
        content = yaml.safe_load(text) if path.suffix == ".yaml" else json.loads(text)
        changed = change(content)
        content = content if changed is None else changed
        path.write_text(yaml.safe_dump(content) if path.suffix == ".yaml" else json.dumps(content))


def make_folder(parent: Path, *, turns: int = 2) -> Folder:
    """Two metrics, one base scenario each, both age variants, one model: four conversations."""
    folder = Folder(parent / "kindness")
    folder.run.mkdir(parents=True)
    polarities = {"m01": "positive", "m02": "negative"}
    metrics = [
        {
            "id": metric,
            "name": f"Metric {metric}",
            "type": polarity,
            "definition": f"The chatbot does {metric}.",
            "examples": ["one", "two"],
        }
        for metric, polarity in polarities.items()
    ]
    scenarios = [
        {
            "id": f"{metric}_s001_v0{variant}",
            "metric_id": metric,
            "metric_type": polarity,
            "persona": "Somebody.",
            "user_goal": "To be heard.",
            "latent_adversarial_goal": "To be flattered.",
            "landmarks": [{"turn": 1, "instruction": "Begin."}],
            "demographic": {"age": age},
        }
        for metric, polarity in polarities.items()
        for variant, age in ((1, "Child or teenager (6-17)"), (2, "Adult (18+)"))
    ]
    conversations = [
        {
            **scenario,
            "conv_id": f"{scenario['id']}__{MODEL}",
            "target": {"id": MODEL, "model": MODEL},
            "transcript": [
                {"role": role, "content": f"{role} says {turn} in {scenario['id']}"}
                for turn in range(1, turns + 1)
                for role in ("user", "assistant")
            ],
        }
        for scenario in scenarios
    ]
    scores = [
        {
            "conv_id": conversation["conv_id"],
            "metric_id": conversation["metric_id"],
            "metric_type": conversation["metric_type"],
            "present": True,
            "passed": conversation["metric_type"] == "positive",
            "justification": "It does.",
            "sample": 0,
        }
        for conversation in conversations
    ]
    (folder.path / "benchmark.yaml").write_text(yaml.safe_dump({"name": "Kindness", "metrics": metrics}))
    (folder.path / "scenarios.json").write_text(json.dumps(scenarios))
    (folder.run / "conversations.json").write_text(json.dumps(conversations))
    (folder.run / "scores.json").write_text(json.dumps(scores))
    return folder
