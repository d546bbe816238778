"""The conversations of the demo study, each with the ground truth about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from impactbench.domain import Polarity, passes

HERE = Path(__file__).resolve().parent
AGES = {"teen": "Child or teenager (6-17)", "adult": "Adult (18+)"}
JUDGE, LABELS, ORDER, NOTES = range(4)
"""Each kind of draw has a generator of its own, so that a change to one leaves the others as they were."""

Truth = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A conversation with the ground truth about it."""

    scenario: dict[str, Any]
    """As scenarios.json has it."""
    model: str
    seat: tuple[int, int, int]
    """Its metric, its scenario and variant, its model, each counted from 0."""
    present: bool
    clear: bool
    turns: Sequence[int]
    """Where careful readers find the evidence."""
    transcript: list[dict[str, str]]

    @property
    def key(self) -> str:
        return f"{self.scenario['id']}__{self.model}"

    @property
    def metric(self) -> str:
        return str(self.scenario["metric_id"])

    def passes(self, present: bool) -> bool:
        return passes(present, Polarity(self.scenario["metric_type"]))

    @property
    def words(self) -> int:
        return sum(len(message["content"].split()) for message in self.transcript)

    def cite(self, text: str) -> str:
        return text.format(turn=self.turns[-1], other=self.turns[0])


def read_conversations(metrics: Sequence[dict[str, Any]]) -> list[Planted]:
    """Every conversation, in the order of its metric, scenario, variant and model."""
    planted = []
    for number, metric in enumerate(metrics):
        source = read_yaml(HERE / "conversations" / f"{metric['id']}.yaml")
        variants = [(base, variant) for base in source["scenarios"] for variant in base["variants"]]
        for place, (base, variant) in enumerate(variants):
            scenario = {
                "id": f"{metric['id']}_{base['id']}_{variant['id']}",
                "metric_id": metric["id"],
                "metric_name": metric["name"],
                "metric_type": metric["type"],
                "persona": variant["persona"],
                "user_goal": base["user_goal"],
                "user_persona": variant["persona"],
                "latent_adversarial_goal": base["latent_adversarial_goal"],
                "landmarks": base["landmarks"],
                "demographic": {"age": AGES[variant["age"]]},
            }
            for target, conversation in enumerate(variant["conversations"]):
                planted.append(
                    Planted(
                        scenario=scenario,
                        model=conversation["model"],
                        seat=(number, place, target),
                        present=conversation["present"],
                        clear=conversation["clear"],
                        turns=conversation["decisive_turns"],
                        transcript=_messages(conversation["transcript"]),
                    )
                )
    return planted


def raters_of(item: Planted, *, truth: Truth) -> list[str]:
    """All raters but one, who rests by a fixed rotation: each has 10 of the 12 conversations of every metric."""
    metric, place, target = item.seat
    raters = list(truth["raters"])
    if truth["one_rests"]:
        del raters[(place + 2 * target + metric) % len(raters)]
    return raters


def generator_of(truth: Truth, stream: int) -> np.random.Generator:
    """The generator of one kind of draw."""
    return np.random.default_rng([truth["seed"], stream])


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _messages(exchanges: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    speakers = {"user": "person", "assistant": "chatbot"}
    return [
        {"role": role, "content": exchange[speaker]}
        for exchange in exchanges
        for role, speaker in speakers.items()
    ]
