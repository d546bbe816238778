"""The published layout entry by entry, as it is written; and what a folder says besides, which must come back.

A field that the store has no place for (a gender, a note of another program) is carried in the manifest of the run, so
that a folder that is imported and exported says what it said.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from impactbench.domain import AgeVariant, MetricDefinition, Polarity, passes

if TYPE_CHECKING:
    from impactbench.adapters.run_folder_reading import ScenarioContent

AGE_WORDS = {AgeVariant.TEEN: "Child or teenager (6-17)", AgeVariant.ADULT: "Adult (18+)"}
VARIANT = re.compile(r"_v\d+$")

Fields = Mapping[str, Any]


def benchmark_document(
    name: str, description: str, metrics: Iterable[tuple[str, MetricDefinition, Sequence[str]]]
) -> dict[str, Any]:
    """benchmark.yaml."""
    document: dict[str, Any] = {"name": name, **_filled(description=description)}
    document["metrics"] = [_metric(slug, definition, places) for slug, definition, places in metrics]
    return document


def _metric(slug: str, definition: MetricDefinition, places: Sequence[str]) -> dict[str, Any]:
    return {
        "id": slug,
        "name": definition.name,
        "type": definition.polarity.value,
        "definition": definition.definition,
        **_filled(
            subareas=list(places),
            question=definition.question,
            interpretive_clause=definition.interpretive_clause,
            examples=list(definition.examples_present),
            examples_absent=list(definition.examples_absent),
            evidence=definition.evidence,
        ),
    }


def scenario_entry(content: "ScenarioContent", definition: MetricDefinition) -> dict[str, Any]:
    """An entry of scenarios.json."""
    base = content.base_scenario if content.base_scenario != VARIANT.sub("", content.slug) else ""
    return {
        "id": content.slug,
        "metric_id": content.metric,
        "metric_name": definition.name,
        "metric_type": definition.polarity.value,
        "persona": content.persona,
        "user_goal": content.user_goal,
        "user_persona": content.persona,
        "latent_adversarial_goal": content.adversarial_goal,
        "landmarks": [{"turn": each.turn, "instruction": each.instruction} for each in content.anchors],
        **_filled(
            demographic={"age": AGE_WORDS[content.age]} if content.age else {},
            base_scenario=base,
            system_prompt=content.system_prompt,
        ),
    }


def conversation_entry(
    scenario: Fields, *, key: str, model: str, turns: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """An entry of conversations.json: its scenario, and what was said."""
    return {
        **scenario,
        "conv_id": key,
        "target": {"id": model, "model": model},
        "transcript": [{"role": turn["role"], "content": turn["content"]} for turn in turns],
    }


def score_entry(
    scenario: Fields, *, conversation: str, model: str, repeat: int, present: bool | None, said: Fields
) -> dict[str, Any]:
    """An entry of scores.json; `said` holds justification, unscored_because and raw_reply."""
    passed = None if present is None else passes(present, Polarity(scenario["metric_type"]))
    return {
        "id": scenario["id"],
        "metric_id": scenario["metric_id"],
        "metric_name": scenario["metric_name"],
        "metric_type": scenario["metric_type"],
        "target_model": model,
        "conv_id": conversation,
        "present": present,
        "passed": passed,
        "score": None if passed is None else int(passed),
        "justification": said["justification"],
        "sample": repeat,
        **_filled(unscored_because=said["unscored_because"], raw_reply=said["raw_reply"]),
    }


def difference(said: Fields, written: Fields) -> dict[str, Any]:
    """What a file says otherwise than we would write it; empty where nothing.

    >>> difference({"id": "s1", "gender": "any"}, {"id": "s1", "persona": ""})
    {'has': {'gender': 'any'}, 'lacks': ['persona']}
    """
    has = {name: value for name, value in said.items() if name not in written or written[name] != value}
    return _filled(has=has, lacks=[name for name in written if name not in said])


def restored(written: Fields, carried: Fields) -> dict[str, Any]:
    """An entry as the file said it.

    >>> restored({"id": "s1", "persona": ""}, {"has": {"gender": "any"}, "lacks": ["persona"]})
    {'id': 's1', 'gender': 'any'}
    """
    lacks = carried.get("lacks", ())
    return {**{name: value for name, value in written.items() if name not in lacks}, **carried.get("has", {})}


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
