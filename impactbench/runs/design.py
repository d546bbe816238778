"""What a run is to do: a study file, read whole and checked before anything is planned or paid for."""

from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from impactbench.domain import AgeVariant, Anchor, Content, ImpactBenchError
from impactbench.providers.patience import DEFAULTS, GENEROUS, Limits
from impactbench.runs.unit_keys import ModelCall
from impactbench.scenarios import BaseScenario, Scenario, Unusable, checked_base
from impactbench.simulation import SimulationDesign

MOST_AT_ONCE = 512
MOST_IN_BATCHES = 4_000


class DesignRefused(ImpactBenchError):
    """A study file that cannot be run."""


class StudyOfRun(Content):
    """The study that the run's conversations belong to."""

    slug: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    title: str = ""
    notice: str = ""
    """Shown on every page of the study, such as that its results are no evidence."""


class WrittenScenario(Content):
    """A base scenario that a person wrote, with the persona of each age variant."""

    slug: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    metric: str
    """benchmark/metric, or a metric's slug where only one benchmark has it."""
    user_goal: str
    adversarial_goal: str
    anchors: tuple[Anchor, ...] = ()
    persona: str
    ages: dict[AgeVariant, str] = Field(min_length=1)
    """The persona of each age variant; goals and anchors are the same for all."""

    @property
    def base(self) -> BaseScenario:
        return BaseScenario(
            persona=self.persona,
            user_goal=self.user_goal,
            adversarial_goal=self.adversarial_goal,
            anchors=self.anchors,
        )

    def variants(self, ages: tuple[AgeVariant, ...], *, system_prompt: str) -> list[Scenario]:
        return [
            Scenario(base=self.base, age=age, persona=self.ages[age], system_prompt=system_prompt)
            for age in ages
        ]


class Budget(Content):
    """Where a run stops by itself. What was spent in earlier starts of the run counts."""

    usd: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)


class Price(Content):
    """US dollars for a million tokens, where the built-in list does not know a model."""

    usd_per_million_in: float = Field(ge=0)
    usd_per_million_out: float = Field(ge=0)


Switch = Literal["anchors", "adversarial_guidance", "typing_edits"]


class PipelineStudy(Content):
    """What a study of the pipeline itself varies: each arm is a run of its own, from the same scenarios."""

    switch_off: tuple[Switch, ...] = ()
    """Parts of the simulation: one arm has all of them on, and one each has one of them off."""
    simulators: tuple[ModelCall, ...] = ()
    """Candidates: one arm each."""
    repetitions: int = Field(default=1, gt=0)
    """How often each arm is simulated, with a seed of its own each time."""


class RunDesign(Content):
    """A study file. Whatever shapes a result is part of the keys of units; limits, budget and names are not."""

    study: StudyOfRun
    run: str = Field(default="run-1", pattern=r"^[a-z0-9][a-z0-9._-]*$")
    """The name of this pass. Another name simulates and judges everything anew."""
    suite: Path | None = None
    """A folder of benchmarks; the suite that comes with the program where it is left out."""
    metrics: tuple[str, ...] = ("*",)
    """benchmark/metric, with * and ? as in file names."""
    scenarios: Path | None = None
    """A YAML file of base scenarios that people wrote. Without it the author model writes them."""
    scenarios_per_metric: int = Field(default=3, gt=0)
    ages: tuple[AgeVariant, ...] = (AgeVariant.TEEN, AgeVariant.ADULT)
    system_prompt: str = ""
    """What the targets are told beforehand; nothing by default."""
    simulation: SimulationDesign = SimulationDesign()
    author: ModelCall | None = None
    """Writes scenarios and interpretive clauses; the simulator where it is left out."""
    simulator: ModelCall
    targets: tuple[ModelCall, ...] = Field(min_length=1)
    judges: tuple[ModelCall, ...] = Field(min_length=1)
    repeats: int = Field(default=1, gt=0)
    """How often each judge judges each conversation: each time a call of its own."""
    seed: int = 0
    provider: str = "litellm"
    """`litellm`, or `scripted:FILE` for a rehearsal without models."""
    budget: Budget = Budget()
    limits: dict[str, Limits] = Field(default_factory=dict)
    """By provider, the part of a model's name before the first slash; `*` for those not named."""
    worker_processes: int | Literal["auto"] = "auto"
    """How many processes call models: 0 is this one; `auto` starts others when this one is full, up to one a core."""
    batches: tuple[str, ...] = ()
    """Providers whose batch endpoints take judgments and scenarios: cheaper, and within a day instead of at once."""
    prices: dict[str, Price] = Field(default_factory=dict)
    engine: Literal["asyncio", "ray"] = "asyncio"
    pipeline_study: PipelineStudy | None = None
    """Arms that differ in the pipeline itself; `pipeline_studies.arms.arms_of` makes a design of each."""

    @property
    def writer(self) -> ModelCall:
        return self.author or self.simulator

    @property
    def models(self) -> dict[str, ModelCall]:
        """Every model of the run by its litellm name."""
        every = (self.writer, self.simulator, *self.targets, *self.judges)
        return {model.model: model for model in every}

    def limits_of(self, provider: str) -> Limits:
        return self.limits.get(provider) or DEFAULTS.get(provider) or self.limits.get("*", GENEROUS)

    @property
    def at_once(self) -> int:
        """How many units are under way together: as many as the providers take calls."""
        if self.batches:
            return MOST_IN_BATCHES
        providers = {model.provider for model in self.models.values()}
        return min(MOST_AT_ONCE, sum(self.limits_of(provider).at_once for provider in providers))

    @model_validator(mode="after")
    def _names_are_their_own(self) -> "RunDesign":
        slugs = [target.slug for target in self.targets]
        twice = sorted({slug for slug in slugs if slugs.count(slug) > 1})
        if twice:
            raise ValueError(f"two targets are called {twice[0]!r}; give one of them another `name`")
        calls = [(judge.slug, judge.parameters) for judge in self.judges]
        if any(calls.count(call) > 1 for call in calls):
            raise ValueError(
                "a judge is there twice: to have it judge twice, say `repeats: 2`; two models of one name need a `name`"
            )
        if isinstance(self.worker_processes, int) and self.worker_processes < 0:
            raise ValueError("worker_processes must be 0, more, or auto")
        if len(set(self.ages)) < len(self.ages) or not self.ages:
            raise ValueError("ages must be teen, adult or both, each once")
        least = self.simulation.least_turns
        if self.simulation.turns < 1 or (least is not None and not 1 <= least <= self.simulation.turns):
            raise ValueError("simulation.turns must be at least 1, and least_turns between 1 and turns")
        return self


def read_design(path: Path) -> RunDesign:
    """Read a study file. Paths in it are understood from where it lies.

    Raises:
        DesignRefused: it is missing, no YAML, or a field is not what it should be; the text names file and field.
    """
    found = _yaml(path)
    try:
        design = RunDesign.model_validate(found)
    except ValidationError as error:
        raise DesignRefused(f"{path}: {_first(error)}") from None
    beside = path.resolve().parent
    return design.model_copy(
        update={
            name: beside / value
            for name, value in (("suite", design.suite), ("scenarios", design.scenarios))
            if value is not None
        }
        | ({"provider": f"scripted:{beside / design.provider[9:]}"} if _is_scripted(design.provider) else {})
    )


def read_scenarios(path: Path, *, ages: tuple[AgeVariant, ...], turns: int) -> tuple[WrittenScenario, ...]:
    """Read base scenarios that people wrote: a list `scenarios`.

    Raises:
        DesignRefused: one cannot be used; the text names file, scenario and what is wrong.
    """
    found = _yaml(path)
    entries = found.get("scenarios")
    if not isinstance(entries, list) or not entries:
        raise DesignRefused(f"{path}: there must be a list 'scenarios'")
    written = []
    for number, entry in enumerate(entries, 1):
        try:
            one = WrittenScenario.model_validate(entry)
            checked_base(one.base, turns=turns)
        except ValidationError as error:
            raise DesignRefused(f"{path}: scenario {number}: {_first(error)}") from None
        except Unusable as unusable:
            raise DesignRefused(f"{path}: scenario {one.slug!r}: {unusable}") from None
        if missing := [age for age in ages if age not in one.ages]:
            raise DesignRefused(
                f"{path}: scenario {one.slug!r}: there is no persona for the age variant {missing[0]}"
            )
        written.append(one)
    slugs = [(one.metric, one.slug) for one in written]
    if twice := [place for place in slugs if slugs.count(place) > 1]:
        raise DesignRefused(f"{path}: scenario {twice[0][1]!r} of {twice[0][0]} is there twice")
    return tuple(written)


def _yaml(path: Path) -> dict[str, object]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DesignRefused(f"{path}: there is no such file") from None
    except OSError as error:
        raise DesignRefused(f"{path}: the file cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DesignRefused(f"{path}: this is not a text file in UTF-8") from None
    except yaml.YAMLError as error:
        raise DesignRefused(f"{path}: this is not YAML ({' '.join(str(error).split())})") from None
    if not isinstance(found, dict):
        raise DesignRefused(f"{path}: it must be a mapping of fields, such as study, targets and judges")
    return found


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return f"{place} is no field here"
    if first["type"] in ("missing", "value_error"):
        return f"{place}: {said}".removeprefix(": ")
    return f"{place} is {str(first['input'])[:60]!r}: {said}"


def _is_scripted(provider: str) -> bool:
    return provider.startswith("scripted:")
