"""Writes runs of a study as folders in the published layout, one folder a benchmark."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Engine, select
from sqlmodel import Session
from sqlmodel import select as select_rows

from impactbench.adapters import ImportRefused
from impactbench.adapters.run_folder_layout import (
    benchmark_document,
    conversation_entry,
    restored,
    scenario_entry,
    score_entry,
)
from impactbench.adapters.run_folder_reading import UNKNOWN_FAMILY, UNNAMED_JUDGE, ScenarioContent
from impactbench.adapters.run_folder_results import NO_SCORE
from impactbench.domain import MetricDefinition
from impactbench.store import tables as t
from impactbench.store.engine import reading
from impactbench.store.frames import (
    benchmark,
    conversation,
    judge,
    judgment,
    metric,
    metric_version,
    model,
    placement,
    run,
    scenario,
    study,
    subarea,
)

_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFoldersWritten:
    """What was written, and what the layout has no place for."""

    folders: tuple[Path, ...]
    counts: Mapping[str, int]
    """By kind: metrics, scenarios, runs, conversations, judgments."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What to write, where a study holds more than the layout has room for."""

    run: str = ""
    """The first part of the runs' names (`PASS` of `PASS/<model>`), or a whole name."""
    judge: str = ""
    """The judge's model."""


def write_run_folders(
    engine: Engine, study_slug: str, folder: Path, *, choice: Choice | None = None
) -> RunFoldersWritten:
    """Write `<folder>/<benchmark>/benchmark.yaml, scenarios.json, runs/<model>/...` for each benchmark of a study.

    Args:
        engine: the database.
        study_slug: the study.
        folder: a new or an empty folder.
        choice: which runs and which judge, where there are several.

    Raises:
        ImportRefused: there is nothing to write, the folder holds something, or the layout has no room for what the
            study holds: two runs of a model, two judges, two versions of a metric.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise ImportRefused(f"{folder} is not empty; name a new folder")
    with reading(engine) as session:
        held = _Held.read(session, study_slug, choice or Choice())
    written: list[Path] = []
    for slug in held.benchmarks:
        for path, content in held.files(slug).items():
            place = folder / slug / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8")
        written.append(folder / slug)
    return RunFoldersWritten(folders=tuple(written), counts=dict(held.counts), notes=tuple(held.notes))


@dataclass(slots=True)
class _Held:
    """What a study holds, by benchmark."""

    benchmarks: dict[str, t.Benchmark]
    versions: dict[int, tuple[str, t.MetricVersion, list[str]]]
    """Slug of the metric, its version and its subareas."""
    scenarios: dict[int, t.Scenario]
    runs: dict[int, t.Run]
    models: dict[int, t.Model]
    conversations: dict[str, dict[str, list[t.Conversation]]]
    """By benchmark and model."""
    judgments: dict[int, list[t.Judgment]]
    judge: tuple[t.Judge, t.Model] | None
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, session: Session, study_slug: str, choice: Choice) -> "_Held":
        runs = _runs(session, study_slug, choice.run)
        found = session.execute(
            select(t.Conversation, t.Scenario, t.MetricVersion, metric.slug, benchmark.slug, model.slug)
            .join(t.Scenario, scenario.id == conversation.scenario_id)
            .join(t.MetricVersion, metric_version.id == scenario.metric_version_id)
            .join(t.Metric, metric.id == metric_version.metric_id)
            .join(t.Benchmark, benchmark.id == metric.benchmark_id)
            .join(t.Model, model.id == conversation.model_id)
            .where(conversation.run_id.in_(list(runs)))
            .order_by(conversation.id)
        ).all()
        places: dict[int, list[str]] = defaultdict(list)
        for metric_id, slug in session.execute(
            select(placement.metric_id, subarea.slug)
            .join(t.Subarea, subarea.id == placement.subarea_id)
            .order_by(subarea.slug)
        ):
            places[metric_id].append(slug)
        chosen = _judge(session, list(runs), choice.judge)
        held = cls(
            benchmarks={},
            versions={},
            scenarios={},
            runs=runs,
            models={each.id or 0: each for each in session.exec(select_rows(t.Model))},
            conversations={},
            judgments=_judgments(session, list(runs), chosen),
            judge=chosen,
        )
        by_slug = {each.slug: each for each in session.exec(select_rows(t.Benchmark))}
        for held_conversation, its_scenario, version, metric_slug, benchmark_slug, model_slug in found:
            if not held_conversation.turns:
                held.counts["without a transcript"] += 1
                continue
            held.benchmarks[benchmark_slug] = by_slug[benchmark_slug]
            held.versions[version.id] = (metric_slug, version, places[version.metric_id])
            held.scenarios[its_scenario.id] = its_scenario
            of_model = held.conversations.setdefault(benchmark_slug, {}).setdefault(model_slug, [])
            of_model.append(held_conversation)
        if not held.benchmarks:
            raise ImportRefused(f"study {study_slug!r} has no conversation with a transcript to export")
        held.benchmarks = dict(sorted(held.benchmarks.items()))
        held.require_room()
        if without := held.counts["without a transcript"]:
            held.notes.append(f"{without} conversations without a transcript are left out")
        return held

    def require_room(self) -> None:
        for slug, by_model in self.conversations.items():
            for name, several in by_model.items():
                runs = sorted({self.runs[each.run_id].slug for each in several})
                if len(runs) > 1:
                    raise ImportRefused(
                        f"model {name!r} has conversations of benchmark {slug!r} in {len(runs)} runs"
                        f" ({', '.join(runs)}), the layout has room for one: name it with --run"
                    )
            numbers: dict[str, set[int]] = defaultdict(set)
            for version in self._versions_of(slug):
                numbers[self.versions[version][0]].add(self.versions[version][1].version)
            if twice := [name for name, versions in numbers.items() if len(versions) > 1]:
                raise ImportRefused(
                    f"metric {twice[0]!r} of benchmark {slug!r} has conversations in versions"
                    f" {', '.join(map(str, sorted(numbers[twice[0]])))}, the layout has room for one: name runs of one"
                    " version with --run"
                )

    def files(self, slug: str) -> dict[str, str]:
        """The files of a benchmark's folder, by path."""
        carried = self._carried(slug)
        scenarios = self._scenario_entries(slug)
        said = {
            key: restored(entry, carried["scenarios"].get(entry["id"], {}))
            for key, entry in scenarios.items()
        }
        files = {
            "benchmark.yaml": _yaml(self._document(slug, carried["benchmark"])),
            "scenarios.json": _json(sorted(said.values(), key=lambda entry: str(entry["id"]))),
        }
        self.counts["scenarios"] += len(said)
        for name, several in sorted(self.conversations[slug].items()):
            besides = self.runs[several[0].run_id].manifest.get("carried", {})
            place = f"runs/{name}"
            files[f"{place}/conversations.json"] = _json(
                [
                    restored(
                        conversation_entry(
                            said[each.scenario_id], key=each.key, model=name, turns=each.turns
                        ),
                        besides.get("conversations", {}).get(each.key, {}),
                    )
                    for each in several
                ]
            )
            scores = self._scores(several, scenarios=scenarios, name=name, besides=besides.get("scores", {}))
            files[f"{place}/scores.json"] = _json(scores)
            files |= self._models(place, name)
            self.counts["runs"] += 1
            self.counts["conversations"] += len(several)
            self.counts["judgments"] += len(scores)
        return files

    def _versions_of(self, slug: str) -> list[int]:
        several = [each for held in self.conversations[slug].values() for each in held]
        return sorted({self.scenarios[each.scenario_id].metric_version_id for each in several})

    def _document(self, slug: str, besides: Mapping[str, Any]) -> dict[str, Any]:
        metrics = [
            (name, _definition(version), places)
            for name, version, places in sorted(
                (self.versions[each] for each in self._versions_of(slug)), key=lambda found: found[0]
            )
        ]
        self.counts["metrics"] += len(metrics)
        about = self.benchmarks[slug]
        return restored(benchmark_document(about.name, about.description, metrics), besides)

    def _carried(self, slug: str) -> dict[str, dict[str, Any]]:
        """What the folders that the runs came from said besides."""
        carried: dict[str, dict[str, Any]] = {"benchmark": {}, "scenarios": {}}
        ids = {each.run_id for held in self.conversations[slug].values() for each in held}
        for ident in sorted(ids):
            for part, besides in self.runs[ident].manifest.get("carried", {}).items():
                if part in carried:
                    carried[part] = {**besides, **carried[part]}
        return carried

    def _scenario_entries(self, slug: str) -> dict[int, dict[str, Any]]:
        several = [each for held in self.conversations[slug].values() for each in held]
        used = {each.scenario_id: self.scenarios[each.scenario_id] for each in several}
        names = Counter(each.slug for each in used.values())
        entries = {}
        for key, each in used.items():
            metric_slug, version, _ = self.versions[each.metric_version_id]
            name = each.slug if names[each.slug] == 1 else f"{metric_slug}_{each.slug}"
            entries[key] = scenario_entry(_scenario(each, name, metric_slug), _definition(version))
        return entries

    def _scores(
        self,
        several: Sequence[t.Conversation],
        *,
        scenarios: Mapping[int, dict[str, Any]],
        name: str,
        besides: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        scores = []
        for each in several:
            version = self.scenarios[each.scenario_id].metric_version_id
            for one in self.judgments.get(each.id or 0, []):
                if one.unscored_because == NO_SCORE:
                    continue
                if one.metric_version_id != version:
                    self.counts["of another version"] += 1
                    continue
                entry = score_entry(
                    scenarios[each.scenario_id],
                    conversation=each.key,
                    model=name,
                    repeat=one.repeat,
                    present=one.present,
                    said={
                        "justification": one.justification,
                        "unscored_because": one.unscored_because,
                        "raw_reply": one.raw_reply,
                    },
                )
                scores.append(restored(entry, besides.get(f"{each.key}#{one.repeat}", {})))
        return scores

    def _models(self, place: str, name: str) -> dict[str, str]:
        """model.yaml and judge.yaml, where something is known that the folder's name does not say."""
        target = next(each for each in self.models.values() if each.slug == name)
        files = {}
        if target.family not in ("", UNKNOWN_FAMILY):
            files[f"{place}/model.yaml"] = _yaml(_lineage(target))
        if self.judge and self.judge[1].slug != UNNAMED_JUDGE:
            how, who = self.judge
            document = {"slug": who.slug, **_lineage(who), "parameters": how.parameters}
            document |= {"prompt_hash": how.prompt_hash} if how.prompt_hash else {}
            files[f"{place}/judge.yaml"] = _yaml(document)
        return files


def _runs(session: Session, study_slug: str, name: str) -> dict[int, t.Run]:
    if session.execute(select(study.id).where(study.slug == study_slug)).first() is None:
        raise ImportRefused(f"there is no study {study_slug!r}; `impactbench import run DIR` makes one")
    found = session.exec(
        select_rows(t.Run).join(t.Study, study.id == run.study_id).where(study.slug == study_slug)
    ).all()
    chosen = {
        each.id or 0: each for each in found if name in ("", each.slug) or each.slug.startswith(f"{name}/")
    }
    if not chosen:
        have = ", ".join(sorted(each.slug for each in found)) or "none"
        raise ImportRefused(f"study {study_slug!r} has no run {name!r}; there is {have}")
    return chosen


def _judge(session: Session, runs: Sequence[int], name: str) -> tuple[t.Judge, t.Model] | None:
    of_runs = (
        select(judgment.judge_id)
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .where(conversation.run_id.in_(runs))
    )
    query = select(t.Judge, t.Model).join(t.Model, model.id == judge.model_id).where(judge.id.in_(of_runs))
    found = [(how, who) for how, who in session.execute(query.order_by(model.slug, judge.id))]
    chosen = [(how, who) for how, who in found if name in ("", who.slug)]
    names = ", ".join(f"{who.slug} (prompt {how.prompt_hash[:8] or 'unknown'})" for how, who in found)
    if name and not chosen:
        raise ImportRefused(f"there is no judge {name!r}; there is {names or 'none'}")
    if len(chosen) > 1:
        raise ImportRefused(
            f"there are judgments by {len(chosen)} judges ({names}), the layout has room for one: name one with --judge"
        )
    return chosen[0] if chosen else None


def _judgments(
    session: Session, runs: Sequence[int], chosen: tuple[t.Judge, t.Model] | None
) -> dict[int, list[t.Judgment]]:
    if chosen is None:
        return {}
    held: dict[int, list[t.Judgment]] = defaultdict(list)
    query = (
        select_rows(t.Judgment)
        .join(t.Conversation, conversation.id == judgment.conversation_id)
        .where(conversation.run_id.in_(runs), judgment.judge_id == chosen[0].id)
        .order_by(judgment.conversation_id, judgment.repeat)
    )
    for each in session.exec(query):
        held[each.conversation_id].append(each)
    return held


def _definition(version: t.MetricVersion) -> MetricDefinition:
    return MetricDefinition(**{name: getattr(version, name) for name in MetricDefinition.model_fields})


def _scenario(row: t.Scenario, slug: str, metric_slug: str) -> ScenarioContent:
    fields = row.model_dump(include=set(ScenarioContent.model_fields) - {"slug", "metric"})
    return ScenarioContent(slug=slug, metric=metric_slug, **fields)


def _lineage(row: t.Model) -> dict[str, Any]:
    said = {"provider": row.provider, "family": row.family, "sibling_group": row.sibling_group}
    filled: dict[str, Any] = {
        name: value for name, value in said.items() if value and value != UNKNOWN_FAMILY
    }
    return filled if row.open_weight is None else {**filled, "open_weight": row.open_weight}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=110))
