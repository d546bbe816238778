"""A provider that answers from a script: for tests, rehearsals and demonstrations, without a model or a network.

rules:
  - purpose: judge                # glob patterns; the first rule that fits answers
    contains: "turn 6"            # words of any message
    answers:
      - fail: rate_limit
      - text: '{"present": true, "justification": "It is there."}'
    order: each_request
  - answers: [{text: "I see. Tell me more."}]
"""

import asyncio
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from impactbench.domain import Content, ImpactBenchError
from impactbench.llm import CallFailed, FailureKind, Reply, Request

REMEMBERED = 2_000
"""Requests that a script keeps for whoever asks; beyond that only the counts grow."""


class ScriptRefused(ImpactBenchError):
    """A script that cannot be read."""


class Answer(Content):
    """What comes back once: a text, or a failure, after a while."""

    text: str = ""
    fail: FailureKind | None = None
    finish_reason: str = "stop"
    delay: float = Field(default=0.0, ge=0)
    """Seconds until the answer; a very large one is a provider that hangs."""
    retry_after: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class Order(StrEnum):
    """Which of a rule's answers is given."""

    IN_TURN = "in_turn"
    """One after another over all calls, and from the first again."""
    EACH_REQUEST = "each_request"
    """The same, counted for every request by itself, and the last one for ever: twice a failure, then an answer."""
    BY_CONTENT = "by_content"
    """The same request, the same answer, in whatever order calls arrive."""


class Rule(Content):
    """Answers for the requests that fit."""

    purpose: str = "*"
    model: str = "*"
    contains: str = ""
    answers: tuple[Answer, ...] = Field(min_length=1)
    order: Order = Order.BY_CONTENT

    def fits(self, request: Request) -> bool:
        return (
            fnmatchcase(request.purpose, self.purpose)
            and fnmatchcase(request.model, self.model)
            and (not self.contains or any(self.contains in said.content for said in request.messages))
        )


class Script(Content):
    rules: tuple[Rule, ...] = Field(min_length=1)


class Scripted:
    """Answers by rules, or by a function, and remembers what it was asked.

    Args:
        script: rules, of which the first that fits answers; or a function from a request to an answer or a text.
        ledger: a file that gets a line for every answer given, a failure aside: purpose, model and call hash. It
            outlives the process, so it shows whether a call was paid twice.
    """

    def __init__(
        self, script: Sequence[Rule] | Callable[[Request], Answer | str], *, ledger: Path | None = None
    ) -> None:
        self._script = script
        self._ledger = ledger
        self._turns: Counter[tuple[int, str]] = Counter()
        self.requests: deque[Request] = deque(maxlen=REMEMBERED)
        """The latest requests, oldest first."""
        self.calls: Counter[str] = Counter()
        """How many requests arrived, by purpose."""
        self.at_once = 0
        """The most requests that were ever open together."""
        self._open = 0

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        self.calls[request.purpose] += 1
        self._open += 1
        self.at_once = max(self.at_once, self._open)
        started = time.monotonic()
        try:
            answer = self._answer(request)
            await asyncio.sleep(answer.delay)
        finally:
            self._open -= 1
        seconds = time.monotonic() - started
        if answer.fail is not None:
            sentence = f"The script answers {request.model} with {answer.fail}."
            raise CallFailed(sentence, kind=answer.fail, retry_after=answer.retry_after, seconds=seconds)
        self._note(request)
        words = sum(len(said.content.split()) for said in request.messages)
        return Reply(
            text=answer.text,
            finish_reason=answer.finish_reason,
            tokens_in=words if answer.tokens_in is None else answer.tokens_in,
            tokens_out=len(answer.text.split()) if answer.tokens_out is None else answer.tokens_out,
            cost_usd=answer.cost_usd,
            seconds=seconds,
        )

    def _answer(self, request: Request) -> Answer:
        if callable(self._script):
            said = self._script(request)
            return said if isinstance(said, Answer) else Answer(text=said)
        for place, rule in enumerate(self._script):
            if rule.fits(request):
                return rule.answers[self._index(place, rule, request)]
        raise CallFailed(
            f"The script has no answer to {request.model} for the purpose {request.purpose or '(none)'}; "
            "a last rule without conditions would answer everything.",
            kind=FailureKind.BAD_REQUEST,
        )

    def _index(self, place: int, rule: Rule, request: Request) -> int:
        if len(rule.answers) == 1:
            return 0
        if rule.order is Order.BY_CONTENT:
            return int(request.call_hash, 16) % len(rule.answers)
        key = (place, request.call_hash if rule.order is Order.EACH_REQUEST else "")
        turn = self._turns[key]
        self._turns[key] += 1
        return turn % len(rule.answers) if rule.order is Order.IN_TURN else min(turn, len(rule.answers) - 1)

    def _note(self, request: Request) -> None:
        if self._ledger is None:
            return
        line = f"{request.purpose}\t{request.model}\t{request.call_hash}\n".encode()
        descriptor = os.open(self._ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def read_script(path: Path, *, ledger: Path | None = None) -> Scripted:
    """The provider that a YAML file describes.

    Raises:
        ScriptRefused: the file is missing, is no YAML, or has a rule that cannot be understood.
    """
    try:
        script = Script.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptRefused(f"{path}: the script cannot be read ({error}).") from None
    except yaml.YAMLError as error:
        raise ScriptRefused(f"{path}: this is not YAML ({' '.join(str(error).split())}).") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ScriptRefused(
            f"{path}: {where}: {first['msg']}, but found {str(first['input'])[:80]!r}; "
            "a script is a list `rules`, each with a list `answers`."
        ) from None
    return Scripted(script.rules, ledger=ledger)
