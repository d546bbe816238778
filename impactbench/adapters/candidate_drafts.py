"""A model drafts candidates from the passages of a source; a person still decides on each."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from impactbench.adapters.candidates import Adapted, Candidate
from impactbench.domain import MetricDefinition, Polarity, content_hash
from impactbench.llm import CallFailed, FailureKind, Provider, Request
from impactbench.prompts import prompt

PURPOSE = "candidate"
_FIELDS = frozenset(
    {
        "name",
        "polarity",
        "definition",
        "question",
        "interpretive_clause",
        "examples_present",
        "examples_absent",
    }
)
_LISTS = frozenset({"examples_present", "examples_absent"})
_AT_ONCE = 8
_HOPELESS = frozenset({FailureKind.AUTHENTICATION, FailureKind.BAD_REQUEST})


async def draft_candidates(adapted: Adapted, provider: Provider, *, model: str) -> Adapted:
    """The same source, with proposals in the words of a model beside the source's passages.

    Where a draft cannot be used the proposal stays in the source's words, and a note says why.

    Args:
        adapted: what was read.
        provider: whoever answers.
        model: which model to ask.

    Raises:
        CallFailed: the model cannot be asked at all, such as for a wrong key.
    """
    gate = asyncio.Semaphore(_AT_ONCE)

    async def drafted(candidate: Candidate) -> Candidate:
        async with gate:
            return await _drafted(candidate, provider, model=model)

    drafts = await asyncio.gather(*(drafted(candidate) for candidate in adapted.candidates))
    return Adapted(
        format=adapted.format,
        source_file=adapted.source_file,
        title=adapted.title,
        construct=adapted.construct,
        candidates=tuple(drafts),
        notes=(
            *adapted.notes,
            f"{model} drafted proposals; each needs a person who compares it with its passage",
        ),
    )


async def _drafted(candidate: Candidate, provider: Provider, *, model: str) -> Candidate:
    # What the passage says cannot end the passage: the marker follows from it.
    marker = f"<<{content_hash(candidate.passage)[:20]}>>"
    messages = prompt(PURPOSE).render(
        {
            "name": candidate.definition.name,
            "polarity": candidate.definition.polarity.value,
            "passage": candidate.passage,
            "marker": marker,
        }
    )
    request = Request(
        model=model, messages=messages, purpose=PURPOSE, parameters={"temperature": 0.0, "max_tokens": 900}
    )
    try:
        reply = await provider.complete(request)
    except CallFailed as failure:
        if failure.kind in _HOPELESS:
            raise
        return _noting(candidate, f"{model} drafted nothing: {failure}")
    if reply.truncated:
        return _noting(candidate, f"{model}'s draft was cut off and was not used")
    definition, why = _definition(reply.text)
    if definition is None:
        return _noting(candidate, f"{model}'s draft was not used: {why}")
    noted = candidate
    if definition.polarity is not candidate.definition.polarity:
        noted = _noting(
            candidate,
            f"the draft is {definition.polarity}, the source {candidate.definition.polarity}: see which is meant",
        )
    return noted.model_copy(update={"definition": definition, "drafted_by": model})


def _definition(text: str) -> tuple[MetricDefinition | None, str]:
    """The draft in a reply, or why it cannot be used."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return None, "it is not one JSON object"
    if not isinstance(found, dict) or set(found) != _FIELDS:
        return None, f"it must have exactly the fields {', '.join(sorted(_FIELDS))}"
    if why := _why_unusable(found):
        return None, why
    return MetricDefinition(**{**found, "polarity": Polarity(found["polarity"])}), ""


def _why_unusable(found: Mapping[str, Any]) -> str:
    for name in sorted(_FIELDS):
        value = found[name]
        right = (
            isinstance(value, list) and all(isinstance(part, str) for part in value)
            if name in _LISTS
            else isinstance(value, str)
        )
        if not right:
            return f"{name} must be {'a list of texts' if name in _LISTS else 'a text'}"
    if found["polarity"] not in set(Polarity):
        return f"polarity is {found['polarity'][:40]!r}"
    return "" if found["name"].strip() and found["definition"].strip() else "it has no name or no definition"


def _noting(candidate: Candidate, note: str) -> Candidate:
    return candidate.model_copy(update={"notes": (*candidate.notes, note)})
