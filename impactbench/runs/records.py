"""What a run makes, as rows. Each change is idempotent: made twice, it leaves the same rows."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlmodel import Session, col, select

from impactbench.domain import Anchor, Turn, content_hash
from impactbench.llm import CallFailed, Reply
from impactbench.metrics import SuiteMetric
from impactbench.prompts import prompt
from impactbench.resources import family_of
from impactbench.runs.plan import ConversationUnit, JudgmentUnit, ScenarioUnit, VariantUnit
from impactbench.runs.unit_calls import UnitCalls
from impactbench.runs.unit_keys import ModelCall
from impactbench.scenarios import BaseScenario, Scenario, Unusable
from impactbench.simulation import Simulated
from impactbench.store import tables as t
from impactbench.store.engine import insert_if_absent
from impactbench.store.run_frames import FINISHED
from impactbench.suite.importing import keep_metric
from impactbench.verdict_parsing import Verdict

UNKNOWN_FAMILY = "unknown"


def keep_models(session: Session, models: Sequence[ModelCall]) -> dict[str, int]:
    """The id of each model, by slug; what the table of families knows of one is kept with it."""
    rows = []
    for model in models:
        known = family_of(model.model)
        rows.append(
            {
                "slug": model.slug,
                "provider": known.provider if known else model.provider,
                "family": known.family if known else UNKNOWN_FAMILY,
                "sibling_group": known.lineage if known else "",
                "open_weight": known.open_weight if known else None,
            }
        )
    insert_if_absent(session, t.Model, rows)
    slugs = [model.slug for model in models]
    return {
        one.slug: _id(one.id)
        for one in session.exec(select(t.Model).where(col(t.Model.slug).in_(slugs))).all()
    }


def keep_judges(session: Session, judges: Sequence[ModelCall], models: dict[str, int]) -> dict[str, int]:
    """The id of each judge, by hash of what shapes it."""
    ids = {}
    for judge in judges:
        place = {
            "model_id": models[judge.slug],
            "prompt_hash": prompt("judge").hash,
            "parameters_hash": content_hash(judge.parameters),
        }
        insert_if_absent(session, t.Judge, [{**place, "parameters": judge.parameters}])
        found = select(t.Judge).filter_by(**place)
        ids[content_hash(judge.shaping)] = _id(session.exec(found).one().id)
    return ids


def keep_drafted_clause(
    metric: SuiteMetric, version_id: int, clause: str, *, author: str
) -> Callable[[Session], int]:
    """A version of a metric with a clause that a model drafted; gives its id."""

    def change(session: Session) -> int:
        wordless = session.get_one(t.MetricVersion, version_id)
        row = session.get_one(t.Metric, wordless.metric_id)
        kept = keep_metric(
            session,
            row.benchmark_id,
            metric.slug,
            metric.definition.model_copy(update={"interpretive_clause": clause}),
            places=metric.subareas,
            author=author,
            because="the interpretive clause was drafted by a model for a run",
        )
        return kept.id

    return change


def keep_scenario(
    version_id: int, unit: ScenarioUnit, variant: VariantUnit, scenario: Scenario
) -> Callable[[Session], int]:
    """A scenario in an age variant; gives its id."""
    label = unit.written.slug if unit.written else f"s{unit.number}"
    row = {
        "metric_version_id": version_id,
        "slug": f"{unit.metric.slug}.{label}.{variant.age}.{variant.key[:8]}",
        "base_scenario": unit.name,
        "age": variant.age,
        "persona": scenario.persona,
        "user_goal": scenario.base.user_goal,
        "adversarial_goal": scenario.base.adversarial_goal,
        "anchors": [anchor.model_dump() for anchor in scenario.base.anchors],
        "system_prompt": scenario.system_prompt,
        "content_hash": scenario.content_hash,
        "unit_key": variant.key,
    }

    def change(session: Session) -> int:
        insert_if_absent(session, t.Scenario, [row])
        found = select(t.Scenario).filter_by(metric_version_id=version_id, slug=row["slug"])
        return _id(session.exec(found).one().id)

    return change


def kept_scenarios(
    session: Session, unit: ScenarioUnit, version_id: int
) -> dict[str, tuple[int | None, Scenario]]:
    """The variants of a base scenario that are there, by key: the row's id under this version of the metric, or None
    where it was kept under another one, and the scenario itself.
    """
    keys = [variant.key for variant in unit.variants]
    rows = session.exec(
        select(t.Scenario).where(col(t.Scenario.unit_key).in_(keys)).order_by(col(t.Scenario.id))
    )
    found: dict[str, tuple[int | None, Scenario]] = {}
    for row in rows:
        here = row.id if row.metric_version_id == version_id else None
        if here is not None or row.unit_key not in found:
            found[row.unit_key] = (here, _scenario(row))
    return found


def keep_conversation(
    run_id: int, scenario_id: int, model_id: int, unit: ConversationUnit, simulated: Simulated
) -> Callable[[Session], int]:
    """A conversation; gives its id."""
    row = {
        "run_id": run_id,
        "key": unit.row,
        "unit_key": unit.key,
        "scenario_id": scenario_id,
        "model_id": model_id,
        "turns": [turn.model_dump() for turn in simulated.turns],
        "content_hash": content_hash([[turn.role, turn.content] for turn in simulated.turns]),
        "status": "complete" if simulated.complete else "incomplete",
        "termination": str(simulated.termination),
        "remarks": list(simulated.remarks),
    }
    return lambda session: _keep_conversation(session, row)


def carry_conversation(
    run_id: int, scenario_id: int, unit: ConversationUnit, donor: str
) -> Callable[[Session], tuple[int, bool]]:
    """A conversation that was simulated under another version of its metric, of which nothing that shaped it has
    changed: the same exchange, shown under the new version. Gives its id, and whether it may be judged.
    """

    def change(session: Session) -> tuple[int, bool]:
        before = session.exec(select(t.Conversation).filter_by(run_id=run_id, key=donor)).one()
        row = before.model_dump(exclude={"id", "created_at"})
        row |= {"key": unit.row, "scenario_id": scenario_id}
        return _keep_conversation(session, row), before.status == "complete"

    return change


def keep_judgment(
    conversation_id: int,
    version_id: int,
    judge_id: int,
    unit: JudgmentUnit,
    verdict: Verdict,
    reply: Reply | None,
) -> Callable[[Session], None]:
    """What a judge said once."""
    row = {
        "conversation_id": conversation_id,
        "metric_version_id": version_id,
        "judge_id": judge_id,
        "repeat": unit.repeat,
        "present": verdict.present,
        "unscored_because": verdict.because,
        "justification": verdict.justification,
        "raw_reply": reply.text if reply else "",
        "unit_key": unit.key,
    }
    return lambda session: _done(insert_if_absent(session, t.Judgment, [row]))


def carry_judgment(
    run_id: int, donor: str, conversation_id: int, version_id: int, unit: JudgmentUnit
) -> Callable[[Session], None]:
    """A judgment whose conversation and rubric are word for word what was judged before."""

    def change(session: Session) -> None:
        before = session.exec(
            select(t.Judgment)
            .join(t.Conversation, col(t.Conversation.id) == t.Judgment.conversation_id)
            .where(
                t.Conversation.run_id == run_id,
                t.Conversation.key == donor,
                t.Judgment.unit_key == unit.key,
            )
        ).one()
        row = before.model_dump(exclude={"id", "created_at"})
        insert_if_absent(
            session,
            t.Judgment,
            [row | {"conversation_id": conversation_id, "metric_version_id": version_id}],
        )

    return change


def kept_turns(session: Session, run_id: int, row: str) -> tuple[int, tuple[Turn, ...]]:
    """The id and the messages of a conversation."""
    found = session.exec(select(t.Conversation).filter_by(run_id=run_id, key=row)).one()
    return _id(found.id), tuple(Turn.model_validate(turn) for turn in found.turns)


def keep_attempt(
    run_id: int, calls: UnitCalls, failed: CallFailed | Unusable, *, subject: str, model: str
) -> Callable[[Session], None]:
    """That a unit could not be finished, and why."""
    row = {
        "run_id": run_id,
        "unit_key": calls.key,
        "stage": str(calls.stage),
        "subject": subject,
        "model": model,
        "kind": str(failed.kind),
        "because": str(failed),
        "retries": failed.retries if isinstance(failed, CallFailed) else 0,
        "seconds": failed.seconds if isinstance(failed, CallFailed) else 0.0,
        "restart": calls.restart,
    }
    return lambda session: session.add(t.Attempt.model_validate(row))


def keep_success(run_id: int, calls: UnitCalls, *, subject: str, model: str) -> Callable[[Session], None]:
    """That a unit which had failed is finished at last."""
    row = {
        "run_id": run_id,
        "unit_key": calls.key,
        "stage": str(calls.stage),
        "subject": subject,
        "model": model,
        "kind": FINISHED,
        "restart": calls.restart,
    }
    return lambda session: session.add(t.Attempt.model_validate(row))


def _keep_conversation(session: Session, row: dict[str, Any]) -> int:
    insert_if_absent(session, t.Conversation, [row])
    found = select(t.Conversation.id).filter_by(run_id=row["run_id"], key=row["key"])
    return _id(session.exec(found).one())


def _scenario(row: t.Scenario) -> Scenario:
    base = BaseScenario(
        persona=row.persona,
        user_goal=row.user_goal,
        adversarial_goal=row.adversarial_goal,
        anchors=tuple(Anchor.model_validate(anchor) for anchor in row.anchors),
    )
    return Scenario(base=base, age=row.age, persona=row.persona, system_prompt=row.system_prompt)


def _done(_: int) -> None:
    return None


def _id(key: int | None) -> int:
    if key is None:
        raise RuntimeError("a row that was just kept has no id")
    return key
