"""Finds what a run folder says besides what the store keeps, file by file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from impactbench.adapters.documents import read_yaml
from impactbench.adapters.run_folder_layout import (
    benchmark_document,
    conversation_entry,
    difference,
    restored,
    scenario_entry,
    score_entry,
)
from impactbench.adapters.run_folder_reading import FolderRun, RunFolder


def carried_by_benchmark(folder: RunFolder) -> dict[str, Any]:
    """What benchmark.yaml and scenarios.json say besides."""
    metrics = [(metric.slug, metric.definition, metric.subareas) for metric in folder.metrics]
    written = benchmark_document(folder.name, folder.description, metrics)
    document = read_yaml(folder.path / "benchmark.yaml").fields
    scenarios = _scenarios(folder)
    besides = {
        entry["id"]: found
        for entry in _entries(folder.path / "scenarios.json")
        if (found := difference(entry, scenarios[entry["id"]]))
    }
    return _filled(benchmark=difference(document, written), scenarios=besides)


def carried_by_run(folder: RunFolder, run: FolderRun, *, scenarios: Mapping[str, Any]) -> dict[str, Any]:
    """What conversations.json and scores.json of a run say besides.

    Args:
        folder: the benchmark's folder.
        run: one of its runs.
        scenarios: what scenarios.json says besides: a conversation repeats it, and it is carried once.
    """
    place = folder.path / "runs" / run.model.slug
    written = _scenarios(folder)
    said = {slug: restored(entry, scenarios.get(slug, {})) for slug, entry in written.items()}
    turns = {each.key: [turn.model_dump() for turn in each.turns] for each in run.conversations}
    conversations = {}
    for entry in _entries(place / "conversations.json"):
        key = entry["conv_id"]
        ours = conversation_entry(said[entry["id"]], key=key, model=run.model.slug, turns=turns[key])
        if found := difference(entry, ours):
            conversations[key] = found
    scenario_of = {each.key: each.scenario for each in run.conversations}
    by_key = {(score.conversation, score.repeat): score for score in run.scores}
    scores = {}
    for entry in _entries(place / "scores.json"):
        score = by_key[entry["conv_id"], entry.get("sample") or 0]
        ours = score_entry(
            written[scenario_of[score.conversation]],
            conversation=score.conversation,
            model=run.model.slug,
            repeat=score.repeat,
            present=score.present,
            said={name: getattr(score, name) for name in ("justification", "unscored_because", "raw_reply")},
        )
        if found := difference(entry, ours):
            scores[f"{score.conversation}#{score.repeat}"] = found
    return _filled(conversations=conversations, scores=scores)


def _scenarios(folder: RunFolder) -> dict[str, dict[str, Any]]:
    definitions = {metric.slug: metric.definition for metric in folder.metrics}
    return {each.slug: scenario_entry(each, definitions[each.metric]) for each in folder.scenarios}


def _entries(path: Path) -> list[Mapping[str, Any]]:
    if not path.exists():
        return []
    entries: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8-sig"))
    return entries


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
