"""The judge prompt tried on the examples of a suggested metric: it must call the present ones present, the absent absent."""

import asyncio
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from impactbench.domain import Turn, content_hash
from impactbench.judging import judge_conversation, judge_request
from impactbench.llm import CallFailed, Provider
from impactbench.prompts import prompt
from impactbench.providers.scripted import read_script
from impactbench.runs.unit_keys import ModelCall
from impactbench.suite.submission_store import keep_trial, suggestion
from impactbench.suite.submissions import SubmissionContent, SubmissionRefused

SCRIPTED = "scripted:"
NO_MODEL = (
    "no model is set to try the examples with: set IMPACTBENCH_TRIAL_MODEL to a model that you have a key for, or to"
    " embedded/smollm2-135m, which runs here without one and whose verdicts are no evidence"
)


def trial_provider(model: str) -> tuple[Provider, ModelCall]:
    """Who answers for a model: a script for `scripted:FILE`, else litellm.

    Raises:
        SubmissionRefused: no model is named; the text says what to set.
        ScriptRefused, ModelsUnavailable: the script, the library or the key is missing.
    """
    if not model:
        raise SubmissionRefused(NO_MODEL)
    if model.startswith(SCRIPTED):
        return read_script(Path(model.removeprefix(SCRIPTED))), ModelCall(model="scripted/trial")
    from impactbench.providers.litellm_provider import LiteLLMProvider

    provider = LiteLLMProvider()
    provider.check(model)
    return provider, ModelCall(model=model, parameters={"temperature": 0.0, "max_tokens": 400})


def try_submission(engine: Engine, code: str, model: str) -> bool:
    """Try the newest revision of a suggestion and keep the result; returns whether the judge told present from absent.

    Raises:
        SubmissionRefused: there is no such suggestion, nothing was sent yet, or no model is named.
        CallFailed: the model cannot be asked at all, such as for a wrong key.
    """
    newest = suggestion(engine, code).newest
    if newest is None:
        raise SubmissionRefused(f"suggestion {code} is a draft; it is tried once it has been sent")
    provider, judge = trial_provider(model)
    outcomes = asyncio.run(try_examples(provider, newest.content, judge=judge))
    return keep_trial(
        engine, newest.id, model=judge.model, prompt_hash=prompt("judge").hash, outcomes=outcomes
    )


async def try_examples(
    provider: Provider, content: SubmissionContent, *, judge: ModelCall
) -> list[dict[str, Any]]:
    """What the judge says of each example, present ones first, as outcomes to keep.

    Raises:
        CallFailed: the model cannot be asked at all, such as for a wrong key.
    """
    definition = content.definition
    examples = [
        *(("present", example) for example in definition.examples_present),
        *(("absent", example) for example in definition.examples_absent),
    ]
    return list(
        await asyncio.gather(
            *(_outcome(provider, content, judge, side, example) for side, example in examples)
        )
    )


async def _outcome(
    provider: Provider, content: SubmissionContent, judge: ModelCall, side: str, example: str
) -> dict[str, Any]:
    definition = content.definition
    turns = [Turn(role="assistant", content=example)]
    if content.scenario.messages:
        turns.insert(0, Turn(role="user", content=content.scenario.messages[0]))
    request = judge_request(
        turns,
        definition=definition.definition,
        clause=definition.interpretive_clause,
        judge=judge,
        key=content_hash([definition.content_hash, example]),
    )
    said: dict[str, Any] = {"side": side, "example": example}
    try:
        verdict, _ = await judge_conversation(provider.complete, request)
    except CallFailed as failed:
        if not failed.kind.may_pass:
            raise
        return said | {"present": None, "justification": "", "because": f"{failed.kind}: {failed}"}
    return said | {
        "present": verdict.present,
        "justification": verdict.justification,
        "because": verdict.because,
    }
