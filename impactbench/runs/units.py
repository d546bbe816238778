"""What each kind of unit of a run does: draft a clause, write scenarios, simulate a conversation, judge it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Engine

from impactbench.domain import Turn, content_hash
from impactbench.judging import judge_conversation, judge_request
from impactbench.metrics import Suite, SuiteMetric
from impactbench.runs.plan import ConversationUnit, JudgmentUnit, RunPlan, ScenarioUnit, VariantUnit
from impactbench.runs.recording import Recorder
from impactbench.runs.records import (
    carry_conversation,
    carry_judgment,
    keep_conversation,
    keep_drafted_clause,
    keep_judges,
    keep_judgment,
    keep_models,
    keep_scenario,
    kept_scenarios,
    kept_turns,
)
from impactbench.runs.state import RunState, keep_versions
from impactbench.runs.unit_calls import UnitCalls
from impactbench.runs.unit_keys import Stage
from impactbench.scenarios import BaseScenario, Scenario, write_base, write_clause, write_variant
from impactbench.simulation import simulate
from impactbench.store.engine import reading


@dataclass(frozen=True, slots=True)
class Worked:
    """What a unit led to: counts of what was made, and further work."""

    more: "list[Work]" = field(default_factory=list)
    conversations: int = 0
    incomplete: int = 0
    judgments: int = 0
    unscored: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    """One unit to do, and how a person would find it again."""

    key: str
    stage: Stage
    subject: str
    model: str
    do: Callable[[UnitCalls], Awaitable[Worked]]


@dataclass(frozen=True, slots=True)
class _Rubric:
    """The version of a metric that is judged, and its interpretive clause."""

    version_id: int
    clause: str


class RunUnits:
    """Makes the work of one run; `prepare` it, which keeps metrics, models and judges."""

    def __init__(
        self,
        engine: Engine,
        plan: RunPlan,
        recorder: Recorder,
        state: RunState,
        *,
        run_id: int,
        versions: Mapping[str, int],
        models: Mapping[str, int],
        judges: Mapping[str, int],
    ) -> None:
        self._engine, self._design, self._recorder, self._state = engine, plan.design, recorder, state
        self._run_id = run_id
        self._versions, self._models, self._judges = versions, models, judges

    @classmethod
    async def prepare(
        cls, engine: Engine, plan: RunPlan, recorder: Recorder, *, suite: Suite, run_id: int, state: RunState
    ) -> "RunUnits":
        design = plan.design
        models = await recorder.change(
            lambda session: keep_models(session, [*design.targets, *design.judges])
        )
        judges = await recorder.change(lambda session: keep_judges(session, design.judges, models))
        versions = keep_versions(engine, plan, suite)
        return cls(
            engine, plan, recorder, state, run_id=run_id, versions=versions, models=models, judges=judges
        )

    def clause(self, scenarios: Sequence[ScenarioUnit]) -> Work:
        """Draft the interpretive clause of a metric that has none; leads to its scenarios."""
        metric, writer = scenarios[0].metric, self._design.writer

        async def do(calls: UnitCalls) -> Worked:
            clause = await write_clause(calls, metric.definition, author=writer)
            keep = keep_drafted_clause(metric, self._versions[metric.key], clause, author=writer.slug)
            rubric = _Rubric(await self._recorder.change(keep), clause)
            return Worked([self._scenario(unit, rubric) for unit in scenarios])

        return Work(scenarios[0].clause_key, Stage.CLAUSE, metric.key, writer.slug, do)

    def scenario(self, unit: ScenarioUnit) -> Work:
        """Write a base scenario of a metric that has its clause; leads to its age variants."""
        clause = unit.metric.definition.interpretive_clause
        return self._scenario(unit, _Rubric(self._versions[unit.metric.key], clause))

    def _scenario(self, unit: ScenarioUnit, rubric: _Rubric) -> Work:
        writer, metric = self._design.writer, unit.metric

        async def do(calls: UnitCalls) -> Worked:
            with reading(self._engine) as session:
                there = kept_scenarios(session, unit, rubric.version_id)
            more: list[Work] = []
            if unit.written is not None:
                written = unit.written.variants(self._design.ages, system_prompt=self._design.system_prompt)
                there |= {
                    variant.key: (None, scenario)
                    for variant, scenario in zip(unit.variants, written, strict=True)
                    if variant.key not in there
                }
            missing = [variant for variant in unit.variants if variant.key not in there]
            if missing:
                base = await write_base(
                    calls,
                    metric.definition,
                    author=writer,
                    number=unit.number,
                    turns=self._design.simulation.turns,
                )
                more += [self._variant(unit, variant, rubric, base) for variant in missing]
            for variant in unit.variants:
                if variant.key in there:
                    more += await self._conversations(unit, variant, rubric, *there[variant.key])
            return Worked(more)

        return Work(unit.key, Stage.SCENARIO, unit.name, writer.slug, do)

    def _variant(self, unit: ScenarioUnit, variant: VariantUnit, rubric: _Rubric, base: BaseScenario) -> Work:
        writer = self._design.writer

        async def do(calls: UnitCalls) -> Worked:
            scenario = await write_variant(
                calls, base, variant.age, author=writer, system_prompt=self._design.system_prompt
            )
            return Worked(await self._conversations(unit, variant, rubric, None, scenario))

        return Work(variant.key, Stage.SCENARIO, f"{unit.name}, {variant.age}", writer.slug, do)

    async def _conversations(
        self,
        unit: ScenarioUnit,
        variant: VariantUnit,
        rubric: _Rubric,
        scenario_id: int | None,
        scenario: Scenario,
    ) -> list[Work]:
        """The conversations of a scenario that have something left; the scenario is kept first."""
        due = [one for one in variant.conversations if self._state.left_of(one)]
        if scenario_id is None:
            keep = keep_scenario(rubric.version_id, unit, variant, scenario)
            scenario_id = await self._recorder.change(keep)
        subject = f"{unit.name}, {variant.age}"
        return [self._conversation(unit.metric, rubric, one, subject, scenario_id, scenario) for one in due]

    def _conversation(
        self,
        metric: SuiteMetric,
        rubric: _Rubric,
        unit: ConversationUnit,
        subject: str,
        scenario_id: int,
        scenario: Scenario,
    ) -> Work:
        subject = f"{subject}, {unit.target.slug}"
        design = self._design

        async def do(calls: UnitCalls) -> Worked:
            if unit.row in self._state.conversations:
                with reading(self._engine) as session:
                    conversation_id, turns = kept_turns(session, self._run_id, unit.row)
                return Worked(self._judgments(metric, rubric, unit, subject, conversation_id, turns))
            if donor := self._state.donors.get(unit.key):
                return await self._carry(metric, rubric, unit, subject, scenario_id, donor)
            simulated = await simulate(
                calls,
                scenario,
                metric.definition,
                target=unit.target,
                simulator=design.simulator,
                design=design.simulation,
                key=unit.key,
            )
            keep = keep_conversation(
                self._run_id, scenario_id, self._models[unit.target.slug], unit, simulated
            )
            conversation_id = await self._recorder.change(keep)
            if not simulated.complete:
                return Worked(conversations=1, incomplete=1)
            more = self._judgments(metric, rubric, unit, subject, conversation_id, simulated.turns)
            return Worked(more, conversations=1)

        return Work(unit.key, Stage.CONVERSATION, subject, unit.target.slug, do)

    async def _carry(
        self,
        metric: SuiteMetric,
        rubric: _Rubric,
        unit: ConversationUnit,
        subject: str,
        scenario_id: int,
        donor: str,
    ) -> Worked:
        conversation_id, complete = await self._recorder.change(
            carry_conversation(self._run_id, scenario_id, unit, donor)
        )
        if not complete:
            return Worked(conversations=1, incomplete=1)
        same = [each for each in unit.judgments if (donor, each.key) in self._state.judgments]
        for each in same:
            await self._recorder.change(
                carry_judgment(self._run_id, donor, conversation_id, rubric.version_id, each)
            )
            self._state.judgments.add((unit.row, each.key))
        with reading(self._engine) as session:
            _, turns = kept_turns(session, self._run_id, unit.row)
        more = self._judgments(metric, rubric, unit, subject, conversation_id, turns)
        return Worked(more, conversations=1, judgments=len(same))

    def _judgments(
        self,
        metric: SuiteMetric,
        rubric: _Rubric,
        unit: ConversationUnit,
        subject: str,
        conversation_id: int,
        turns: Sequence[Turn],
    ) -> list[Work]:
        return [
            self._judgment(metric, rubric, each, subject, conversation_id, turns)
            for each in unit.judgments
            if (unit.row, each.key) not in self._state.judgments
        ]

    def _judgment(
        self,
        metric: SuiteMetric,
        rubric: _Rubric,
        unit: JudgmentUnit,
        subject: str,
        conversation_id: int,
        turns: Sequence[Turn],
    ) -> Work:
        async def do(calls: UnitCalls) -> Worked:
            request = judge_request(
                turns,
                definition=metric.definition.definition,
                clause=rubric.clause,
                judge=unit.judge,
                key=unit.key,
            )
            verdict, reply = await judge_conversation(calls, request)
            judge_id = self._judges[content_hash(unit.judge.shaping)]
            await self._recorder.change(
                keep_judgment(conversation_id, rubric.version_id, judge_id, unit, verdict, reply)
            )
            return Worked(judgments=1, unscored=int(verdict.present is None))

        return Work(unit.key, Stage.JUDGMENT, f"{subject}, repeat {unit.repeat}", unit.judge.slug, do)
