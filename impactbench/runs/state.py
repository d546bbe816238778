"""What of a run is on disk already, and where the rows are that its conversations and judgments hang on."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy import Engine, func, select
from sqlmodel import select as select_rows

from impactbench.llm import FailureKind
from impactbench.metrics import Suite
from impactbench.runs.design import RunDesign
from impactbench.runs.manifest import make_manifest, manifest_hash
from impactbench.runs.plan import ConversationUnit, RunPlan, ScenarioUnit
from impactbench.runs.spending import Spending
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent, reading, writing
from impactbench.store.frames import benchmark, conversation, judgment, metric, metric_version, run, study
from impactbench.store.run_frames import FINISHED, attempt, call
from impactbench.suite.importing import keep_metrics

_ANEW = (FailureKind.MALFORMED, FailureKind.TRUNCATED, FailureKind.REFUSED, FailureKind.EMPTY)
"""Failures by what a model answered: reading the same replies again would fail again, so its unit begins anew."""


@dataclass(slots=True)
class RunState:
    """What is done. `conversations` maps the row name of each to whether it may be judged."""

    conversations: dict[str, bool] = field(default_factory=dict)
    judgments: set[tuple[str, str]] = field(default_factory=set)
    """Row name of the conversation, key of the judgment."""
    donors: dict[str, str] = field(default_factory=dict)
    """By key of a conversation: the row name of one that was simulated under another version of its metric."""
    restarts: dict[str, int] = field(default_factory=dict)
    """By key of a unit: how often it has to begin anew."""
    tried: set[str] = field(default_factory=set)
    """Keys of units that failed and were not finished since."""
    called_before: bool = False

    def left_of(self, unit: ConversationUnit) -> int:
        """How many units of a conversation and its judgments are left, as far as can be known beforehand."""
        complete = self.conversations.get(unit.row)
        if complete is None:
            return 1 + len(unit.judgments)
        if not complete:
            return 0
        return sum((unit.row, each.key) not in self.judgments for each in unit.judgments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left of a plan."""

    conversations: int
    judgments: int
    scenarios: int
    """Base scenarios in an age variant with something left to simulate or judge."""
    not_judged: int
    """Judgments that the plan has and that will not be made: their conversation is incomplete."""

    @property
    def units(self) -> int:
        return self.conversations + self.judgments


def read_state(engine: Engine, run_id: int) -> RunState:
    """What of a run is done, in a few queries."""
    state = RunState()
    with reading(engine) as session:
        connection = session.connection()
        rows = select(conversation.key, conversation.unit_key, conversation.status).where(
            conversation.run_id == run_id
        )
        for key, unit, status in connection.execute(rows):
            state.conversations[key] = status == "complete"
            state.donors[unit] = key
        judged = (
            select(conversation.key, judgment.unit_key)
            .join(t.Conversation, conversation.id == judgment.conversation_id)
            .where(conversation.run_id == run_id)
        )
        state.judgments.update((row[0], row[1]) for row in connection.execute(judged))
        anew = (
            select(attempt.unit_key, func.count())
            .where(attempt.run_id == run_id, attempt.kind.in_([str(kind) for kind in _ANEW]))
            .group_by(attempt.unit_key)
        )
        state.restarts.update({row[0]: int(row[1]) for row in connection.execute(anew)})
        latest = select(func.max(attempt.id)).where(attempt.run_id == run_id).group_by(attempt.unit_key)
        failed = select(attempt.unit_key).where(attempt.id.in_(latest), attempt.kind != FINISHED)
        state.tried.update(row[0] for row in connection.execute(failed))
        first = connection.execute(select(call.id).where(call.run_id == run_id).limit(1)).first()
        state.called_before = first is not None
    return state


def count_left(plan: RunPlan, state: RunState) -> Left:
    """What is left of a plan."""
    conversations = judgments = scenarios = not_judged = 0
    for scenario in plan.scenarios():
        for variant in scenario.variants:
            before = conversations + judgments
            for unit in variant.conversations:
                complete = state.conversations.get(unit.row)
                if complete is None:
                    conversations += 1
                    judgments += len(unit.judgments)
                elif complete:
                    judgments += state.left_of(unit)
                else:
                    not_judged += len(unit.judgments)
            scenarios += conversations + judgments > before
    return Left(conversations=conversations, judgments=judgments, scenarios=scenarios, not_judged=not_judged)


def scenarios_with_work(plan: RunPlan, state: RunState) -> Iterator[ScenarioUnit]:
    """The base scenarios with something left to do, in the order of the plan."""
    for scenario in plan.scenarios():
        if any(state.left_of(unit) for variant in scenario.variants for unit in variant.conversations):
            yield scenario


def find_run(engine: Engine, design: RunDesign) -> int | None:
    """The id of the run of a design; None where it was never started."""
    query = (
        select(run.id)
        .join(t.Study, study.id == run.study_id)
        .where(study.slug == design.study.slug, run.slug == design.run)
    )
    with reading(engine) as session:
        return session.connection().execute(query).scalar_one_or_none()


def open_run(engine: Engine, plan: RunPlan) -> int:
    """The id of the run of a plan; study and run are made where they are not there."""
    design = plan.design
    slug = design.study.slug
    with writing(engine) as session:
        row = {"slug": slug, "title": design.study.title or slug, "notice": design.study.notice}
        insert_if_absent(session, t.Study, [row])
        kept = session.exec(select_rows(t.Study).where(t.Study.slug == slug)).one()
        manifest = make_manifest(plan)
        insert_if_absent(session, t.Run, [{"study_id": kept.id, "slug": design.run, "manifest": manifest}])
        found = select_rows(t.Run).where(t.Run.study_id == kept.id, t.Run.slug == design.run)
        return _id(session.exec(found).one().id)


def begin_launch(engine: Engine, run_id: int, plan: RunPlan, left: Left) -> int:
    """Record that a run is started, with the manifest of this start and what is left; gives the launch's id."""
    manifest = make_manifest(plan)
    planned = {
        **plan.counts.as_dict(),
        "conversations_left": left.conversations,
        "judgments_left": left.judgments,
        "judgments_each": len(plan.design.judges) * plan.design.repeats,
    }
    with writing(engine) as session:
        number = session.exec(
            select_rows(func.coalesce(func.max(t.Launch.number), 0)).where(t.Launch.run_id == run_id)
        ).one()
        launch = t.Launch(
            run_id=run_id,
            number=number + 1,
            manifest=manifest,
            manifest_hash=manifest_hash(manifest),
            planned=planned,
        )
        session.add(launch)
        session.flush()
        return _id(launch.id)


def end_launch(engine: Engine, launch_id: int, because: str) -> None:
    """Record how a start of a run ended."""
    with writing(engine) as session:
        launch = session.get_one(t.Launch, launch_id)
        launch.ended_at, launch.ended_because = t.now(), because


def keep_versions(engine: Engine, plan: RunPlan, suite: Suite) -> dict[str, int]:
    """The id of the version of each metric of a plan, by benchmark/metric; wordings that are new are kept."""
    known = _known_versions(engine)
    missing = [one for one in plan.metrics if (one.key, one.definition.content_hash) not in known]
    if missing:
        named = {each.slug: each for each in suite.benchmarks}
        with writing(engine) as session:
            keep_metrics(session, missing, benchmarks=named)
        known = _known_versions(engine)
    return {one.key: known[one.key, one.definition.content_hash] for one in plan.metrics}


def read_spending(engine: Engine, run_id: int, spending: Spending) -> Spending:
    """Add what earlier starts of a run have spent."""
    query = select(
        func.count(),
        func.coalesce(func.sum(call.tokens_in + call.tokens_out), 0),
        func.coalesce(func.sum(call.cost_usd), 0.0),
        func.count() - func.count(call.cost_usd),
    ).where(call.run_id == run_id)
    with reading(engine) as session:
        calls, tokens, usd, unpriced = session.connection().execute(query).one()
    spending.calls, spending.tokens = int(calls), int(tokens)
    spending.usd, spending.unpriced = float(usd), int(unpriced)
    return spending


def _known_versions(engine: Engine) -> dict[tuple[str, str], int]:
    query = (
        select(benchmark.slug, metric.slug, metric_version.content_hash, metric_version.id)
        .join(t.Metric, metric.id == metric_version.metric_id)
        .join(t.Benchmark, benchmark.id == metric.benchmark_id)
    )
    with reading(engine) as session:
        return {
            (f"{where}/{slug}", content): int(key)
            for where, slug, content, key in session.connection().execute(query)
        }


def _id(key: int | None) -> int:
    if key is None:
        raise RuntimeError("a row that was just kept has no id")
    return key
