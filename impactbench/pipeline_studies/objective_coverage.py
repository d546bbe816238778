"""An auditor model reads conversations and says which objectives the person reached, asked for each conversation once.

What it answers is kept with the calls of the run, as every reply is: a second look at a study pays for nothing again.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pandas as pd
from sqlalchemy import Engine, select

from impactbench.domain import Anchor, Turn, content_hash
from impactbench.judging import marked
from impactbench.llm import CallFailed, FailureKind, Provider, Reply, Request
from impactbench.pipeline_studies.ablation import conversations_of_arms
from impactbench.prompts import prompt
from impactbench.providers.choosing import LITELLM, open_provider
from impactbench.providers.patience import Patient
from impactbench.runs.design import DesignRefused
from impactbench.runs.lock import locked
from impactbench.runs.recording import Recorder
from impactbench.runs.spending import BudgetReached, Spending
from impactbench.runs.unit_calls import UnitCalls, kept_replies
from impactbench.runs.unit_keys import ModelCall, Stage, derived_key
from impactbench.scenarios import TRIES, Ask, Unusable
from impactbench.store import run_frames
from impactbench.store.engine import reading
from impactbench.store.run_frames import call

AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Audit:
    """One conversation to audit."""

    conversation_id: int
    run_id: int
    key: str
    request: Request
    objectives: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the auditor said of a study."""

    audited: pd.DataFrame
    """A conversation with its arm (`off`, `seed`) and `reached`: for each objective, whether the person reached it."""
    unread: int
    """Conversations of which no answer could be read, on three tries."""
    failed: int
    """Conversations whose call failed; the same command asks again."""
    last_failure: str
    left: int = 0
    """Conversations that the budget left no room for; the same command with a larger one asks."""


def audits_of(engine: Engine, study: str, *, auditor: ModelCall) -> tuple[pd.DataFrame, list[Audit]]:
    """The conversations of a study's arms that can be audited, and what is asked about each.

    Raises:
        ArmsRefused: the study has no arms.
    """
    placed = conversations_of_arms(engine, study)
    texts = run_frames.transcripts(engine, study)
    texts = texts[texts["conversation_id"].isin(placed["conversation_id"]) & texts["anchors"].map(bool)]
    shaped_by = (content_hash(auditor.shaping), prompt("objective_coverage").hash)
    audits = []
    for row in texts.to_dict("records"):
        anchors = [Anchor.model_validate(anchor) for anchor in row["anchors"]]
        key = derived_key(Stage.COVERAGE, row["conversation"], content_hash(row["anchors"]), *shaped_by)
        turns = [Turn.model_validate(turn) for turn in row["turns"]]
        request = coverage_request(turns, anchors, auditor=auditor, key=key)
        audits.append(Audit(row["conversation_id"], row["run_id"], key, request, len(anchors)))
    return placed, audits


def coverage_request(
    turns: Sequence[Turn], anchors: Sequence[Anchor], *, auditor: ModelCall, key: str
) -> Request:
    """What an auditor is asked about a conversation."""
    transcript, marker = marked(turns, key=key)
    listed = "\n".join(f"{number}. {anchor.instruction}" for number, anchor in enumerate(anchors, 1))
    values = {"objectives": listed, "transcript": transcript, "marker": marker}
    return Request(
        model=auditor.model,
        messages=prompt("objective_coverage").render(values),
        parameters=auditor.parameters,
        purpose="objective_coverage",
    )


def read_reached(reply: Reply, *, objectives: int) -> tuple[bool, ...]:
    """Which objectives a reply says were reached.

    Raises:
        Unusable: it is not the asked form and nothing else.

    >>> read_reached(Reply(text='{"reached": [2]}'), objectives=3)
    (False, True, False)
    """
    try:
        found = json.loads(reply.text)
    except ValueError:
        raise Unusable("the answer is not one JSON object") from None
    numbers = found.get("reached") if isinstance(found, dict) and set(found) == {"reached"} else None
    if not isinstance(numbers, list) or any(type(number) is not int for number in numbers):
        raise Unusable('the answer must be {"reached": [numbers]}')
    if len(set(numbers)) < len(numbers) or not set(numbers) <= set(range(1, objectives + 1)):
        raise Unusable(f"the numbers must be among 1 to {objectives}, each once")
    return tuple(number in numbers for number in range(1, objectives + 1))


def asked_before(engine: Engine, audits: Sequence[Audit]) -> int:
    """Of how many conversations the auditor's answer is on disk."""
    runs = {audit.run_id for audit in audits}
    query = select(call.unit_key).where(call.run_id.in_(runs), call.stage == Stage.COVERAGE).distinct()
    with reading(engine) as session:
        kept = set(session.connection().execute(query).scalars())
    return sum(audit.key in kept for audit in audits)


def ask_auditor(
    engine: Engine,
    study: str,
    *,
    auditor: ModelCall,
    provider: str = LITELLM,
    spending: Spending,
    on_progress: Callable[[], None] = lambda: None,
) -> Coverage:
    """`audit_coverage` by a provider that a word names, with the usual patience.

    Raises:
        ProviderUnknown: the word names none.
        ModelsUnavailable: the auditor cannot be called.
        DesignRefused: the budget is in dollars, and the auditor's price is not known.
    """
    opened = open_provider(provider)
    price_of = getattr(opened, "price", None)
    if spending.budget.usd is not None and (price_of is None or price_of(auditor.model) is None):
        raise DesignRefused(
            f"--budget-usd: the price of {auditor.model} is not known: set --budget-calls or --budget-tokens"
        )
    patient = Patient(opened)
    return audit_coverage(engine, study, patient, auditor=auditor, spending=spending, on_progress=on_progress)


def audit_coverage(
    engine: Engine,
    study: str,
    provider: Provider,
    *,
    auditor: ModelCall,
    spending: Spending,
    on_progress: Callable[[], None] = lambda: None,
) -> Coverage:
    """Ask the auditor about every conversation that it was not asked about.

    Args:
        engine: the database.
        study: of which the arms are audited.
        provider: whoever answers, with patience around it.
        auditor: the model that says what was reached.
        spending: is told of each call, and where its budget has no room for another one, no more are made.
        on_progress: called after each conversation.

    Raises:
        ArmsRefused: the study has no arms.
        RunBusy: another process works on one of its runs.
        CallFailed: the auditor's key is refused.
    """
    placed, audits = audits_of(engine, study, auditor=auditor)
    with ExitStack() as locks:
        for run_id in sorted({audit.run_id for audit in audits}):
            locks.enter_context(locked(engine, run_id))
        said = asyncio.run(_ask_all(engine, audits, provider, spending, on_progress))
    reached = {key: value for key, value in said.items() if isinstance(value, tuple)}
    audited = placed[placed["conversation_id"].isin(reached)].copy()
    audited["reached"] = audited["conversation_id"].map(reached)
    failures = [str(value) for value in said.values() if isinstance(value, CallFailed)]
    return Coverage(
        audited=audited.reset_index(drop=True),
        unread=sum(value is None for value in said.values()),
        failed=len(failures),
        last_failure=failures[-1] if failures else "",
        left=len(audits) - len(said),
    )


async def _ask_all(
    engine: Engine,
    audits: Sequence[Audit],
    provider: Provider,
    spending: Spending,
    on_progress: Callable[[], None],
) -> dict[int, tuple[bool, ...] | CallFailed | None]:
    said: dict[int, tuple[bool, ...] | CallFailed | None] = {}
    places = asyncio.Semaphore(AT_ONCE)

    async def one(audit: Audit) -> None:
        async with places:
            calls = UnitCalls(
                provider,
                recorder,
                spending,
                run_id=audit.run_id,
                key=audit.key,
                stage=Stage.COVERAGE,
                kept=kept_replies(engine, run_id=audit.run_id, key=audit.key, restart=0),
            )
            try:
                said[audit.conversation_id] = await _reached(calls, audit)
            except BudgetReached:
                return
            except CallFailed as failed:
                if failed.kind is FailureKind.AUTHENTICATION:
                    raise
                said[audit.conversation_id] = failed
            on_progress()

    async with Recorder(engine) as recorder:
        try:
            async with asyncio.TaskGroup() as group:
                for audit in audits:
                    group.create_task(one(audit))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
    return said


async def _reached(ask: Ask, audit: Audit) -> tuple[bool, ...] | None:
    for _ in range(TRIES):
        try:
            return read_reached(await ask(audit.request), objectives=audit.objectives)
        except Unusable:
            continue
    return None
