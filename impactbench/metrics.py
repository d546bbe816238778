"""The suite: benchmarks of metrics as people write them, one YAML file a benchmark, read into frozen values.

What is written may still be wanting (a missing example, an unknown subarea): `impactbench.suite.check` says so.
What cannot be read at all is refused here.
"""

from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from impactbench.adapters import ImportRefused
from impactbench.adapters.documents import Entry, read_yaml, shown
from impactbench.domain import Content, MetricDefinition, Polarity
from impactbench.resources import content
from impactbench.suite.validity import Recommendation

_BENCHMARK_FIELDS = frozenset({"name", "construct", "subareas", "validity", "metrics"})
_METRIC_FIELDS = frozenset(
    {
        "slug",
        "name",
        "polarity",
        "definition",
        "question",
        "interpretive_clause",
        "examples_present",
        "examples_absent",
        "matters",
        "sources",
        "difficulty",
        "subareas",
    }
)


Word = TypeVar("Word", bound=StrEnum)


class Difficulty(StrEnum):
    """How hard it will be for two careful judges to agree whether the behaviour is there."""

    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"


class SuiteMetric(Content):
    """A metric of the suite: what is looked for, where it stands, and what its author expects of it."""

    benchmark: str
    slug: str
    definition: MetricDefinition
    subareas: tuple[str, ...]
    difficulty: Difficulty = Difficulty.MODERATE
    matters: str = ""
    """Why the behaviour matters to people."""
    sources: tuple[str, ...] = ()
    """What that rests on; `definition.evidence` holds both."""

    @property
    def key(self) -> str:
        """The name by which runs and conflicts of interest know it: benchmark/metric."""
        return f"{self.benchmark}/{self.slug}"


class SuiteBenchmark(Content):
    """Metrics of one construct, with what was asked about its validity."""

    slug: str
    name: str
    description: str
    validity: dict[Recommendation, str]
    metrics: tuple[SuiteMetric, ...]
    file: str


class Suite(Content):
    """All benchmarks of a folder, in the order of their file names."""

    benchmarks: tuple[SuiteBenchmark, ...]

    @property
    def metrics(self) -> tuple[SuiteMetric, ...]:
        return tuple(metric for benchmark in self.benchmarks for metric in benchmark.metrics)

    def metric(self, key: str) -> SuiteMetric:
        """A metric by benchmark/metric.

        Raises:
            ImportRefused: there is none of that name.
        """
        for metric in self.metrics:
            if metric.key == key:
                return metric
        raise ImportRefused(f"the suite has no metric {key!r}; `impactbench suite list` names them all")


def suite_folder() -> Path:
    """The suite that comes with the program."""
    return Path(str(content("suite")))


def load_suite(folder: Path | None = None) -> Suite:
    """Read every benchmark of a folder: the files of its `benchmarks/`, or its own where it has none.

    Raises:
        ImportRefused: there is no benchmark, or a file cannot be read; the text names file, metric and value.
    """
    root = suite_folder() if folder is None else folder
    place = root / "benchmarks" if (root / "benchmarks").is_dir() else root
    files = sorted(place.glob("*.yaml"))
    if not files:
        raise ImportRefused(f"{root}: there is no benchmark here, which would be a file NAME.yaml")
    return Suite(benchmarks=tuple(load_benchmark(file) for file in files))


def load_benchmark(file: Path) -> SuiteBenchmark:
    """Read one benchmark; its slug is the name of its file.

    Raises:
        ImportRefused: the file cannot be read; the text names file, metric and value.
    """
    entry = read_yaml(file)
    _know(entry, _BENCHMARK_FIELDS)
    places = entry.texts("subareas")
    metrics = tuple(_metric(one, benchmark=file.stem, places=places) for one in _named_metrics(entry))
    slugs = [metric.slug for metric in metrics]
    if twice := {slug for slug in slugs if slugs.count(slug) > 1}:
        raise entry.refuse(f"the metric {min(twice)!r} is there twice; every slug must be its own")
    return SuiteBenchmark(
        slug=file.stem,
        name=entry.text("name"),
        description=entry.text("construct", default="").strip(),
        validity=_validity(entry.mapping("validity")),
        metrics=metrics,
        file=str(file),
    )


def _named_metrics(entry: Entry) -> tuple[Entry, ...]:
    if not entry.has("metrics"):
        raise entry.refuse("there is no 'metrics', which must be a list of metrics")
    metrics = tuple(entry.entries("metrics"))
    return tuple(
        Entry(f"{entry.where}: metric {one.text('slug')!r}", one.fields)
        for one in metrics
        if one.text("slug")
    )


def _metric(entry: Entry, *, benchmark: str, places: tuple[str, ...]) -> SuiteMetric:
    _know(entry, _METRIC_FIELDS)
    matters, sources = entry.text("matters", default="").strip(), entry.texts("sources")
    return SuiteMetric(
        benchmark=benchmark,
        slug=entry.text("slug"),
        subareas=entry.texts("subareas") or places,
        difficulty=_one_of(entry, "difficulty", Difficulty, default=Difficulty.MODERATE),
        matters=matters,
        sources=sources,
        definition=MetricDefinition(
            name=entry.text("name").strip(),
            polarity=_one_of(entry, "polarity", Polarity),
            definition=entry.text("definition").strip(),
            interpretive_clause=entry.text("interpretive_clause", default="").strip(),
            question=entry.text("question", default="").strip(),
            examples_present=_stripped(entry.texts("examples_present")),
            examples_absent=_stripped(entry.texts("examples_absent")),
            evidence=evidence_text(matters, sources),
        ),
    )


def evidence_text(matters: str, sources: tuple[str, ...]) -> str:
    r"""Why a behaviour matters and what that rests on, as one text of a metric's version.

    >>> evidence_text("It helps.", ("A (2000).", "B (2001)."))
    'It helps.\nSource: A (2000).\nSource: B (2001).'
    """
    return "\n".join([*filter(None, [matters]), *(f"Source: {source}" for source in sources)])


def _stripped(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts)


def _validity(entry: Entry) -> dict[Recommendation, str]:
    known = {str(one) for one in Recommendation}
    if unknown := sorted(set(entry.fields) - known):
        raise entry.refuse(f"{unknown[0]!r} is no recommendation; they are {', '.join(sorted(known))}")
    return {one: entry.text(one).strip() for one in Recommendation if entry.has(one)}


def _one_of(entry: Entry, name: str, words: type[Word], *, default: Word | None = None) -> Word:
    said = entry.text(name, default=default)
    try:
        return words(said)
    except ValueError:
        raise entry.refuse(f"{name} is {shown(said)}, it must be {' or '.join(words)}") from None


def _know(entry: Entry, fields: frozenset[str]) -> None:
    if unknown := sorted(str(name) for name in set(entry.fields) - fields):
        raise entry.refuse(f"{unknown[0]!r} is no field here; the fields are {', '.join(sorted(fields))}")
