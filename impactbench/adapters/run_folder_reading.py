"""Reads a run folder in the published layout and checks it whole; nothing is kept here.

<benchmark>/benchmark.yaml  scenarios.json  runs/<model>/conversations.json  scores.json  [model.yaml  judge.yaml]
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import Entry, file_hash, read_json_entries, read_yaml
from impactbench.adapters.run_folder_layout import VARIANT
from impactbench.adapters.run_folder_results import (
    FolderConversation,
    FolderScore,
    read_conversations,
    read_scores,
)
from impactbench.domain import AgeVariant, Anchor, Content, MetricDefinition, Polarity
from impactbench.resources import family_of, subareas

UNNAMED_JUDGE = "unnamed-judge"
UNKNOWN_FAMILY = "unknown"

_AGES = {
    "child or teenager": AgeVariant.TEEN,
    "child": AgeVariant.TEEN,
    "teenager": AgeVariant.TEEN,
    "teen": AgeVariant.TEEN,
    "adolescent": AgeVariant.TEEN,
    "minor": AgeVariant.TEEN,
    "adult": AgeVariant.ADULT,
}


class ScenarioContent(Content):
    """A base scenario in one age variant, as its file gives it."""

    slug: str
    metric: str
    base_scenario: str
    age: AgeVariant | None
    persona: str
    user_goal: str
    adversarial_goal: str
    anchors: tuple[Anchor, ...]
    system_prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderMetric:
    slug: str
    definition: MetricDefinition
    subareas: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderModel:
    """A model and what is known of its lineage; `stated` where the folder says so itself."""

    slug: str
    provider: str = ""
    family: str = UNKNOWN_FAMILY
    sibling_group: str = ""
    open_weight: bool | None = None
    stated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderJudge:
    model: FolderModel
    prompt_hash: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderRun:
    """One target's conversations and what the judge said of them."""

    model: FolderModel
    judge: FolderJudge
    conversations: tuple[FolderConversation, ...]
    scores: tuple[FolderScore, ...]
    file_hashes: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """A benchmark's folder, read and checked."""

    path: Path
    slug: str
    name: str
    description: str
    study_title: str
    study_notice: str
    metrics: tuple[FolderMetric, ...]
    scenarios: tuple[ScenarioContent, ...]
    runs: tuple[FolderRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """What a folder does not say, or what is to be left out of it."""

    models: Sequence[str] = ()
    judge: str = ""
    judge_family: str = ""
    allow_unscored: bool = False


def read_run_folder(
    folder: Path,
    *,
    options: ReadingOptions | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> RunFolder:
    """Read a benchmark's folder, or the one run of it whose folder is given.

    Args:
        folder: `<benchmark>` for all its runs, or `<benchmark>/runs/<model>`.
        options: what the folder does not say.
        on_progress: told how many of the runs are read.

    Raises:
        ImportRefused: the first thing found wrong.
    """
    options = options or ReadingOptions()
    benchmark, run_folders = _locate(folder, models=options.models)
    document = read_yaml(benchmark / "benchmark.yaml")
    metrics = _read_metrics(document)
    polarities = {metric.slug: metric.definition.polarity for metric in metrics}
    scenarios = _read_scenarios(benchmark / "scenarios.json", polarities=polarities)
    metric_of = {scenario.slug: scenario.metric for scenario in scenarios}
    runs = []
    for done, run_folder in enumerate(run_folders):
        if on_progress:
            on_progress(done, len(run_folders))
        runs.append(_read_run(run_folder, metric_of=metric_of, polarities=polarities, options=options))
    study = document.mapping("study")
    return RunFolder(
        path=benchmark,
        slug=benchmark.resolve().name,
        name=document.text("name"),
        description=document.text("description", default=""),
        study_title=study.text("title", default=""),
        study_notice=study.text("notice", default=""),
        metrics=metrics,
        scenarios=scenarios,
        runs=tuple(runs),
    )


def _locate(folder: Path, *, models: Sequence[str]) -> tuple[Path, list[Path]]:
    if not folder.is_dir():
        raise ImportRefused(f"{folder}: there is no such folder")
    if (folder / "benchmark.yaml").exists():
        benchmark = folder
        if not (folder / "runs").is_dir():
            raise ImportRefused(
                f"{folder / 'runs'}: there is no such folder; it holds one folder for each model"
            )
        found = sorted(
            path for path in (folder / "runs").iterdir() if path.is_dir() and not path.name.startswith(".")
        )
        if not found:
            raise ImportRefused(f"{folder / 'runs'}: the folder is empty; it holds one folder for each model")
    elif (folder / "conversations.json").exists():
        absolute = folder.resolve()
        benchmark, found = absolute.parent.parent, [absolute]
        if not (benchmark / "benchmark.yaml").exists():
            raise ImportRefused(
                f"{folder}: a run needs its benchmark.yaml two folders up, and {benchmark} has none"
            )
    else:
        raise ImportRefused(
            f"{folder}: the folder has neither benchmark.yaml nor conversations.json;"
            " give the folder of a benchmark or one of its runs/<model> folders"
        )
    names = [path.name for path in found]
    if unknown := [model for model in models if model not in names]:
        raise ImportRefused(f"{folder}: there is no run of {unknown[0]!r}; there is {', '.join(names)}")
    return benchmark, [path for path in found if not models or path.name in models]


def _read_metrics(document: Entry) -> tuple[FolderMetric, ...]:
    known = {subarea.slug for subarea in subareas()}
    metrics: list[FolderMetric] = []
    for position, found in enumerate(document.entries("metrics"), start=1):
        slug = found.text("id")
        entry = Entry(f"{document.where}: metric {slug!r}", found.fields)
        places = entry.texts("subareas")
        if unknown := [place for place in places if place not in known]:
            raise entry.refuse(f"there is no subarea {unknown[0]!r}; there are {', '.join(sorted(known))}")
        if slug in [metric.slug for metric in metrics]:
            raise entry.refuse(f"metric {position} has the id of an earlier one, each metric needs its own")
        definition = MetricDefinition(
            name=entry.text("name"),
            polarity=polarity_of(entry, "type"),
            definition=entry.text("definition"),
            interpretive_clause=entry.text("interpretive_clause", default=""),
            question=entry.text("question", default=""),
            examples_present=entry.texts("examples"),
            examples_absent=entry.texts("examples_absent"),
            evidence=entry.text("evidence", default=""),
        )
        metrics.append(FolderMetric(slug=slug, definition=definition, subareas=places))
    if not metrics:
        raise document.refuse("there are no metrics, it must list at least one")
    return tuple(metrics)


def polarity_of(entry: Entry, name: str) -> Polarity:
    """The polarity that a field names."""
    word = entry.text(name)
    try:
        return Polarity(word)
    except ValueError:
        raise entry.refuse(f"{name} is {word!r}, it must be 'positive' or 'negative'") from None


def _read_scenarios(path: Path, *, polarities: Mapping[str, Polarity]) -> tuple[ScenarioContent, ...]:
    scenarios: dict[str, ScenarioContent] = {}
    for entry in read_json_entries(path, noun="scenario", key="id"):
        scenario = _scenario(entry, polarities=polarities)
        if scenario.slug in scenarios:
            raise entry.refuse("this id is there twice, each scenario needs its own")
        scenarios[scenario.slug] = scenario
    return tuple(scenarios.values())


def _scenario(entry: Entry, *, polarities: Mapping[str, Polarity]) -> ScenarioContent:
    slug, metric = entry.text("id"), entry.text("metric_id")
    if metric not in polarities:
        raise entry.refuse(
            f"metric_id is {metric!r}, which is not in benchmark.yaml; there is {', '.join(polarities)}"
        )
    if entry.has("metric_type") and polarity_of(entry, "metric_type") is not polarities[metric]:
        raise entry.refuse(
            f"metric_type is {entry.text('metric_type')!r}, but benchmark.yaml says that {metric} is"
            f" '{polarities[metric]}'"
        )
    anchors = [
        Anchor(turn=anchor.number("turn", least=1), instruction=anchor.text("instruction"))
        for anchor in entry.entries("landmarks")
    ]
    return ScenarioContent(
        slug=slug,
        metric=metric,
        base_scenario=entry.text("base_scenario", default="") or VARIANT.sub("", slug),
        age=_age(entry.mapping("demographic")),
        persona=entry.text("persona", default="") or entry.text("user_persona", default=""),
        user_goal=entry.text("user_goal", default=""),
        adversarial_goal=entry.text("latent_adversarial_goal", default=""),
        anchors=tuple(anchors),
        system_prompt=entry.text("system_prompt", default=""),
    )


def _age(demographic: Entry) -> AgeVariant | None:
    if not demographic.has("age"):
        return None
    said = demographic.text("age")
    words = said.split("(")[0].strip().casefold()
    if words not in _AGES:
        raise demographic.refuse(
            f"age is {said!r}, which is neither a teen ('Child or teenager (6-17)', 'teen')"
            " nor an adult ('Adult (18+)', 'adult')"
        )
    return _AGES[words]


def _read_run(
    folder: Path, *, metric_of: Mapping[str, str], polarities: Mapping[str, Polarity], options: ReadingOptions
) -> FolderRun:
    conversations, target = read_conversations(
        folder / "conversations.json", metric_of=metric_of, polarities=polarities
    )
    scores = read_scores(
        folder / "scores.json",
        conversations=conversations,
        metric_of=metric_of,
        polarities=polarities,
        allow_unscored=options.allow_unscored,
    )
    files = ("conversations.json", "scores.json", "model.yaml", "judge.yaml")
    return FolderRun(
        model=_model(folder, also_called=target),
        judge=_judge(folder / "judge.yaml", options=options),
        conversations=conversations,
        scores=scores,
        file_hashes={name: file_hash(folder / name) for name in files if (folder / name).exists()},
    )


def _model(folder: Path, *, also_called: str) -> FolderModel:
    slug, path = folder.name, folder / "model.yaml"
    if path.exists():
        return model_from(slug, read_yaml(path), also_called=also_called)
    return model_from(slug, Entry(str(path), {}), also_called=also_called)


def _judge(path: Path, *, options: ReadingOptions) -> FolderJudge:
    """The judge: from judge.yaml, or as the person who imports names it."""
    entry = read_yaml(path) if path.exists() else Entry(str(path), {})
    entry = entry.mapping("judge") if entry.has("judge") else entry
    named = entry.text("slug") if entry.fields else ""
    if options.judge and named and options.judge != named:
        raise entry.refuse(f"slug is {named!r}, but --judge says {options.judge!r}: leave --judge out")
    slug = options.judge or named or UNNAMED_JUDGE
    if options.judge_family:
        if entry.has("family") and entry.text("family") != options.judge_family:
            raise entry.refuse(
                f"family is {entry.text('family')!r}, but --judge-family says {options.judge_family!r}"
            )
        entry = Entry(entry.where, {**entry.fields, "family": options.judge_family})
    return FolderJudge(
        model=model_from(slug, entry),
        prompt_hash=entry.text("prompt_hash", default=""),
        parameters=dict(entry.mapping("parameters").fields),
    )


def model_from(slug: str, entry: Entry, *, also_called: str = "") -> FolderModel:
    """A model as an entry describes it; what it leaves out is read off the table of families."""
    known = family_of(slug) or family_of(also_called)
    open_weight = entry.truth("open_weight")
    return FolderModel(
        slug=slug,
        provider=entry.text("provider", default="") or (known.provider if known else ""),
        family=entry.text("family", default="") or (known.family if known else UNKNOWN_FAMILY),
        sibling_group=entry.text("sibling_group", default="") or (known.lineage if known else ""),
        open_weight=known.open_weight if open_weight is None and known else open_weight,
        stated=entry.has("family"),
    )
