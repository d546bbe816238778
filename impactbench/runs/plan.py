"""The plan of a run: every unit that it is made of, by key, from the design alone. Nothing is called and nothing is read.

A key is built from the keys of what a unit rests on, so all of them are known before the first call, and whatever
changes in a metric, a prompt, a model or a parameter changes the keys of what depends on it and of nothing else.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import product

from impactbench.domain import AgeVariant, content_hash
from impactbench.metrics import Suite, SuiteMetric
from impactbench.prompts import prompt
from impactbench.runs.design import DesignRefused, RunDesign, WrittenScenario
from impactbench.runs.unit_keys import ModelCall, Stage, derived_key, unit_key


@dataclass(frozen=True, slots=True)
class JudgmentUnit:
    """One judgment to make."""

    key: str
    judge: ModelCall
    repeat: int


@dataclass(frozen=True, slots=True)
class ConversationUnit:
    """One conversation to simulate, and the judgments of it."""

    key: str
    row: str
    """Names it in its run: the same exchange under another version of the metric is another row."""
    target: ModelCall
    judgments: tuple[JudgmentUnit, ...]


@dataclass(frozen=True, slots=True)
class VariantUnit:
    """One age variant of a base scenario, and the conversations from it."""

    key: str
    age: AgeVariant
    conversations: tuple[ConversationUnit, ...]


@dataclass(frozen=True, slots=True)
class ScenarioUnit:
    """One base scenario of a metric with its age variants; `written` where a person wrote it."""

    key: str
    metric: SuiteMetric
    clause_key: str
    """Of the unit that drafts the metric's interpretive clause; empty where it has one."""
    number: int
    written: WrittenScenario | None
    variants: tuple[VariantUnit, ...]

    @property
    def name(self) -> str:
        """Says which base scenario it is, within the metric; other content is another name."""
        label = self.written.slug if self.written else f"s{self.number}"
        return f"{self.metric.slug}.{label}.{self.key[:8]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many units of each stage there are."""

    clause: int = 0
    scenario: int = 0
    """Base scenarios in their age variants."""
    conversation: int = 0
    judgment: int = 0

    def as_dict(self) -> dict[str, int]:
        return {stage: getattr(self, stage) for stage in Stage if stage is not Stage.COVERAGE}


def count_units(
    *,
    metrics: int,
    scenarios_per_metric: int,
    ages: int,
    targets: int,
    judges: int = 1,
    repeats: int = 1,
    clauses: int = 0,
) -> Counts:
    """What a study of some size is made of.

    >>> published = count_units(metrics=809, scenarios_per_metric=3, ages=2, targets=10)
    >>> published.scenario, published.conversation
    (4854, 48540)
    """
    scenarios = metrics * scenarios_per_metric * ages
    conversations = scenarios * targets
    return Counts(
        clause=clauses,
        scenario=scenarios,
        conversation=conversations,
        judgment=conversations * judges * repeats,
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What of a metric reaches whom, hashed."""

    version: str
    """All of it, with the clause that is drafted where there is none."""
    judge: str
    simulator: str


def _told(metric: SuiteMetric, clause_key: str, *, guided: bool) -> _Told:
    definition = metric.definition
    return _Told(
        version=content_hash([definition.content_hash, clause_key]),
        judge=content_hash([definition.definition, clause_key or definition.interpretive_clause]),
        simulator=content_hash([definition.definition, definition.polarity]) if guided else "",
    )


@dataclass(frozen=True)
class RunPlan:
    """A design, with the metrics and the written scenarios that it names."""

    design: RunDesign
    metrics: tuple[SuiteMetric, ...]
    written: tuple[WrittenScenario, ...] = ()

    def scenarios(self) -> Iterator[ScenarioUnit]:
        """Every unit, base scenario by base scenario, always in the same order."""
        for metric in self.metrics:
            yield from self._scenarios_of(metric)

    @cached_property
    def counts(self) -> Counts:
        """How many units there are in all."""
        bases = len(self.written) or len(self.metrics) * self.design.scenarios_per_metric
        scenarios = bases * len(self.design.ages)
        conversations = scenarios * len(self.design.targets)
        return Counts(
            clause=sum(not metric.definition.interpretive_clause for metric in self.metrics),
            scenario=scenarios,
            conversation=conversations,
            judgment=conversations * len(self.design.judges) * self.design.repeats,
        )

    @cached_property
    def _written_by_metric(self) -> dict[str, list[WrittenScenario]]:
        by_metric: dict[str, list[WrittenScenario]] = {}
        for one in self.written:
            by_metric.setdefault(one.metric, []).append(one)
        return by_metric

    @cached_property
    def _prompts(self) -> dict[str, str]:
        style = "screenplay" if self.design.simulation.style == "screenplay" else "simulated_user"
        names = ("scenario", "age_variant", "interpretive_clause", "judge")
        return {name: prompt(name).hash for name in names} | {"user": prompt(style).hash}

    def _scenarios_of(self, metric: SuiteMetric) -> Iterator[ScenarioUnit]:
        clause_key = "" if metric.definition.interpretive_clause else self._clause_key(metric)
        told = _told(metric, clause_key, guided=self.design.simulation.adversarial_guidance)
        written: Sequence[WrittenScenario | None] = [None] * self.design.scenarios_per_metric
        if self.written:
            written = self._written_by_metric.get(metric.key, [])
        for number, one in enumerate(written, 1):
            yield self._scenario(metric, clause_key, told, number, one)

    def _scenario(
        self,
        metric: SuiteMetric,
        clause_key: str,
        told: "_Told",
        number: int,
        written: WrittenScenario | None,
    ) -> ScenarioUnit:
        if written:
            key = unit_key(Stage.SCENARIO, written=written.base.content_hash)
        else:
            key = unit_key(
                Stage.SCENARIO,
                name=metric.definition.name,
                definition=metric.definition.definition,
                polarity=metric.definition.polarity,
                author=self.design.writer.shaping,
                prompt=self._prompts["scenario"],
                number=number,
                turns=self.design.simulation.turns,
            )
        variants = tuple(self._variant(told, key, age, written) for age in self.design.ages)
        return ScenarioUnit(
            key=key, metric=metric, clause_key=clause_key, number=number, written=written, variants=variants
        )

    def _variant(
        self, told: "_Told", base: str, age: AgeVariant, written: WrittenScenario | None
    ) -> VariantUnit:
        if written:
            made_by: object = written.ages[age]
        else:
            made_by = [self.design.writer.shaping, self._prompts["age_variant"]]
        key = unit_key(
            Stage.SCENARIO, base=base, age=age, made_by=made_by, system_prompt=self.design.system_prompt
        )
        return VariantUnit(
            key=key,
            age=age,
            conversations=tuple(
                self._conversation(told, key, target, shaping) for target, shaping in self._targets
            ),
        )

    def _conversation(
        self, told: "_Told", scenario: str, target: ModelCall, shaping: str
    ) -> ConversationUnit:
        key = derived_key(Stage.CONVERSATION, scenario, told.simulator, shaping, self._simulation)
        judgments = tuple(
            JudgmentUnit(
                key=derived_key(Stage.JUDGMENT, key, told.judge, by, str(repeat)),
                judge=judge,
                repeat=repeat,
            )
            for (judge, by), repeat in self._judges
        )
        return ConversationUnit(
            key=key,
            row=derived_key(Stage.CONVERSATION, key, told.version)[:32],
            target=target,
            judgments=judgments,
        )

    @cached_property
    def _targets(self) -> list[tuple[ModelCall, str]]:
        return [(target, content_hash(target.shaping)) for target in self.design.targets]

    @cached_property
    def _judges(self) -> list[tuple[tuple[ModelCall, str], int]]:
        judges = [
            (judge, content_hash([judge.shaping, self._prompts["judge"]])) for judge in self.design.judges
        ]
        return list(product(judges, range(self.design.repeats)))

    @cached_property
    def _simulation(self) -> str:
        return content_hash(
            [
                self.design.simulation.model_dump(mode="json"),
                self.design.simulator.shaping,
                self._prompts["user"],
                self.design.seed,
            ]
        )

    def _clause_key(self, metric: SuiteMetric) -> str:
        return unit_key(
            Stage.CLAUSE,
            name=metric.definition.name,
            definition=metric.definition.definition,
            evidence=metric.definition.evidence,
            author=self.design.writer.shaping,
            prompt=self._prompts["interpretive_clause"],
        )


def plan_run(design: RunDesign, suite: Suite, *, written: Sequence[WrittenScenario] = ()) -> RunPlan:
    """The plan of a run.

    Args:
        design: the study file.
        suite: where its metrics are.
        written: base scenarios that people wrote; where there are any, only metrics that they are of take part.

    Raises:
        DesignRefused: the design names a metric that is not in the suite, or none has a scenario.
    """
    for pattern in design.metrics:
        if not any(fnmatchcase(metric.key, pattern) for metric in suite.metrics):
            raise DesignRefused(
                f"metrics: nothing in the suite is called {pattern!r}; `impactbench suite list` names its metrics"
            )
    chosen = tuple(
        metric
        for metric in suite.metrics
        if any(fnmatchcase(metric.key, pattern) for pattern in design.metrics)
    )
    if not written:
        return RunPlan(design=design, metrics=chosen)
    named = tuple(_with_whole_name(one, suite) for one in written)
    of = Counter(one.metric for one in named)
    taking_part = tuple(metric for metric in chosen if metric.key in of)
    if not taking_part:
        raise DesignRefused("scenarios: none of the written scenarios is of a metric that the design chooses")
    keys = {metric.key for metric in taking_part}
    return RunPlan(
        design=design, metrics=taking_part, written=tuple(one for one in named if one.metric in keys)
    )


def _with_whole_name(one: WrittenScenario, suite: Suite) -> WrittenScenario:
    fitting = [metric.key for metric in suite.metrics if one.metric in (metric.key, metric.slug)]
    if len(fitting) != 1:
        found = "no metric" if not fitting else f"{len(fitting)} metrics ({', '.join(fitting)})"
        raise DesignRefused(
            f"scenarios: scenario {one.slug!r}: {found} of the suite is called {one.metric!r}"
        )
    return one.model_copy(update={"metric": fitting[0]})
