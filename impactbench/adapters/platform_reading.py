"""Reads the published platform's data: metrics and where they stand, scenarios, models, verdicts, headings of the label.

scenario-index.json (scenarios and verdicts by metric), taxonomy.json (names, polarity, places), models.json,
metric-criteria.json (definitions), metric-meta.json (who wrote them and why they matter), nutrition-cat.json.
Metrics are called `<benchmark>__<metric>` there. What was computed from the verdicts is not read: it follows from them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from impactbench.adapters import ImportRefused
from impactbench.adapters.candidates import slug_of
from impactbench.adapters.documents import Entry, file_hash, read_text, shown
from impactbench.adapters.run_folder_reading import FolderMetric, FolderModel, ScenarioContent
from impactbench.domain import AgeVariant, MetricDefinition, Polarity
from impactbench.resources import family_of

FILES = (
    "scenario-index.json",
    "taxonomy.json",
    "models.json",
    "metric-criteria.json",
    "metric-meta.json",
    "nutrition-cat.json",
)
NO_VERDICT = "the platform gives no verdict"
_AGES = {"child": AgeVariant.TEEN, "adult": AgeVariant.ADULT}
_VERDICTS = {"yes": True, "no": False, None: None}
_SCENARIO = re.compile(r"[^_]+_(?P<base>[^_]+)_[^_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformPlace:
    """A subarea as the platform draws it; its slugs stand apart from those of the suite."""

    slug: str
    domain: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformCategory:
    """A heading of the nutrition label, and the keys of its metrics."""

    slug: str
    name: str
    description: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformBenchmark:
    """A benchmark with its metrics, scenarios and verdicts."""

    slug: str
    name: str
    metrics: tuple[FolderMetric, ...]
    scenarios: tuple[ScenarioContent, ...]
    verdicts: Mapping[tuple[str, str], bool | None]
    """By scenario and model: whether the behaviour is present; None where there is no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Everything that the folder says."""

    benchmarks: tuple[PlatformBenchmark, ...]
    models: tuple[FolderModel, ...]
    model_names: Mapping[str, str]
    """By slug, what people call a model; its slug where the platform does not say."""
    places: tuple[PlatformPlace, ...]
    placed: Mapping[str, tuple[str, ...]]
    """By key of a metric, the slugs of the places where it stands."""
    categories: tuple[PlatformCategory, ...]
    file_hashes: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    polarity: Polarity


def read_platform(folder: Path) -> Platform:
    """Read the folder whole.

    Raises:
        ImportRefused: the first thing found wrong: which file, which entry, and what would be right.
    """
    if not folder.is_dir():
        raise ImportRefused(f"{folder}: there is no such folder")
    models = tuple(_models(folder / "models.json"))
    places, placed, named = _taxonomy(folder / "taxonomy.json")
    definitions, about = _mapping(folder / "metric-criteria.json"), _mapping(folder / "metric-meta.json")
    undefined = [key for key in named if not definitions.has(key)]
    benchmarks = tuple(
        _benchmarks(
            folder / "scenario-index.json",
            {key: _definition(key, one, definitions, about) for key, one in named.items()},
            about,
            models=frozenset(model.slug for model in models),
        )
    )
    notes = []
    if undefined:
        notes.append(
            f"{len(undefined)} metrics have no definition, such as {undefined[0]}: their names stand for it"
        )
    return Platform(
        benchmarks=benchmarks,
        models=models,
        model_names={
            entry.text("id"): entry.text("name", default=entry.text("id"))
            for entry in _mapping(folder / "models.json").entries("models")
        },
        places=places,
        placed=placed,
        categories=tuple(_categories(folder / "nutrition-cat.json", named)),
        file_hashes={name: file_hash(folder / name) for name in FILES},
        notes=tuple(notes),
    )


def _models(path: Path) -> Iterator[FolderModel]:
    seen = set()
    for entry in _mapping(path).entries("models"):
        slug, provider = entry.text("id"), entry.text("provider")
        if slug in seen:
            raise entry.refuse(f"the model {slug!r} is there twice, each has one entry")
        seen.add(slug)
        known = family_of(slug)
        yield FolderModel(
            slug=slug,
            provider=provider,
            family=known.family if known else slug_of(provider),
            sibling_group=known.lineage if known else "",
            open_weight=known.open_weight if known else None,
        )


def _taxonomy(
    path: Path,
) -> tuple[tuple[PlatformPlace, ...], dict[str, tuple[str, ...]], dict[str, _Named]]:
    places: dict[str, PlatformPlace] = {}
    placed: dict[str, tuple[str, ...]] = {}
    named: dict[str, _Named] = {}
    for area in _mapping(path).entries("areas"):
        for subarea in area.entries("subareas"):
            slug = f"published-{slug_of(subarea.text('id'))}"
            places[slug] = PlatformPlace(slug=slug, domain=area.text("name"), name=subarea.text("name"))
            for metric in subarea.entries("metrics"):
                key, one = metric.text("id"), _Named(metric.text("name"), _polarity(metric))
                if named.setdefault(key, one).polarity is not one.polarity:
                    raise metric.refuse(f"{key} is {one.polarity} here and not elsewhere, it can be one only")
                placed[key] = tuple(dict.fromkeys((*placed.get(key, ()), slug)))
    return tuple(places.values()), placed, named


def _polarity(metric: Entry) -> Polarity:
    said = metric.text("type")
    if said not in set(Polarity):
        raise metric.refuse(f"type is {shown(said)}, it must be 'positive' or 'negative'")
    return Polarity(said)


def _definition(key: str, one: _Named, definitions: Entry, about: Entry) -> MetricDefinition:
    return MetricDefinition(
        name=one.name,
        polarity=one.polarity,
        definition=definitions.text(key, default=one.name),
        evidence=about.mapping(key).text("mattersBecause", default=""),
    )


def _benchmarks(
    path: Path, definitions: Mapping[str, MetricDefinition], about: Entry, *, models: frozenset[str]
) -> Iterator[PlatformBenchmark]:
    index = _mapping(path)
    by_benchmark: dict[str, list[str]] = {}
    for key in index.fields:
        benchmark, parted, metric = str(key).partition("__")
        if not (benchmark and parted and metric):
            raise index.refuse(f"the metric is called {key!r}, it must be <benchmark>__<metric>")
        if key not in definitions:
            raise index.refuse(f"metric {key!r} is not in taxonomy.json, which gives its polarity")
        by_benchmark.setdefault(benchmark, []).append(key)
    for benchmark, keys in by_benchmark.items():
        scenarios: dict[str, ScenarioContent] = {}
        verdicts: dict[tuple[str, str], bool | None] = {}
        for key in keys:
            for entry in index.entries(key):
                scenario = _scenario(entry, benchmark, key.partition("__")[2])
                if scenario.slug in scenarios:
                    raise entry.refuse(f"scenario_id {scenario.slug!r} is there twice in {benchmark}")
                scenarios[scenario.slug] = scenario
                verdicts.update(_verdicts(entry, scenario.slug, models))
        yield PlatformBenchmark(
            slug=benchmark,
            name=about.mapping(keys[0]).text("contributor", default=benchmark),
            metrics=tuple(
                FolderMetric(slug=key.partition("__")[2], definition=definitions[key], subareas=())
                for key in keys
            ),
            scenarios=tuple(scenarios.values()),
            verdicts=verdicts,
        )


def _scenario(entry: Entry, benchmark: str, metric: str) -> ScenarioContent:
    slug, age = entry.text("scenario_id"), entry.text("age")
    if age not in _AGES:
        raise entry.refuse(f"age is {shown(age)}, it must be 'child' or 'adult'")
    if (said := entry.text("benchmark", default=benchmark)) != benchmark:
        raise entry.refuse(f"benchmark is {shown(said)}, but its metric is one of {benchmark!r}")
    parts = _SCENARIO.fullmatch(slug)
    return ScenarioContent(
        slug=slug,
        metric=metric,
        base_scenario=parts["base"] if parts else slug,
        age=_AGES[age],
        persona="",
        user_goal=entry.text("title", default=""),
        adversarial_goal="",
        anchors=(),
        system_prompt="",
    )


def _verdicts(
    entry: Entry, scenario: str, models: frozenset[str]
) -> Iterator[tuple[tuple[str, str], bool | None]]:
    for model, said in entry.mapping("verdicts").fields.items():
        if model not in models:
            raise entry.refuse(f"there is a verdict on {model!r}, which is not in models.json")
        if said is not None and not (isinstance(said, str) and said in _VERDICTS):
            raise entry.refuse(f"the verdict on {model} is {shown(said)}, it must be 'yes', 'no' or null")
        yield (scenario, model), _VERDICTS[said]


def _categories(path: Path, named: Mapping[str, _Named]) -> Iterator[PlatformCategory]:
    for entry in _entries(path):
        metrics = [each.text("id") for each in entry.entries("metrics")]
        if unknown := [key for key in metrics if key not in named]:
            raise entry.refuse(f"metric {unknown[0]!r} is not in taxonomy.json")
        yield PlatformCategory(
            slug=entry.text("id"),
            name=entry.text("label"),
            description=entry.text("description", default=""),
            metrics=tuple(dict.fromkeys(metrics)),
        )


def _mapping(path: Path) -> Entry:
    value = _json(path)
    if not isinstance(value, dict):
        raise ImportRefused(f"{path}: the file holds {shown(value)}, it must be a mapping")
    return Entry(str(path), value)


def _entries(path: Path) -> Sequence[Entry]:
    return list(Entry(str(path), {"categories": _json(path)}).entries("categories"))


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ImportRefused(
            f"{path}, line {error.lineno}: this is not valid JSON ({error.msg}, column {error.colno})"
        ) from error
