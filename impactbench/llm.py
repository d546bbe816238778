"""The port to models: one request in, one reply out, or a failure that says of which kind it is.

Everything that stands between a run and a model (a scripted provider, patience, worker processes, a cluster)
has this one method, so they go around one another in any order.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

from pydantic import Field

from impactbench.domain import Content, ImpactBenchError, content_hash

FILTERED = "content_filter"
TRUNCATED = "length"


class FailureKind(StrEnum):
    """Why a call, or what came back from it, is of no use. Only the first four may go away by themselves."""

    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    SERVER = "server"
    """The provider failed, or could not be reached."""
    LOST = "lost"
    """The process that made the call died: it may have been paid for, and its answer is gone."""
    CONTENT_FILTER = "content_filter"
    BAD_REQUEST = "bad_request"
    AUTHENTICATION = "authentication"
    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    EMPTY = "empty"

    @property
    def may_pass(self) -> bool:
        """Whether the same call can succeed a little later."""
        return self in (
            FailureKind.RATE_LIMIT,
            FailureKind.TIMEOUT,
            FailureKind.SERVER,
            FailureKind.LOST,
        )


class Message(Content):
    role: Literal["system", "user", "assistant"]
    content: str


class Request(Content):
    """What is asked of a model. `purpose` is for the log and for scripted answers; a model never sees it."""

    model: str
    """As litellm spells it, with its provider: `openai/gpt-5-mini`, `embedded/smollm2-135m`."""
    messages: tuple[Message, ...]
    parameters: dict[str, Any] = Field(default_factory=dict)
    """temperature, max_tokens, stop, seed: whatever the provider takes."""
    purpose: str = ""
    place: str = ""
    """Which call of which unit this is, for whoever has to find its answer again; a model never sees it."""
    grammar: str = ""
    """A GBNF grammar that binds the embedded model; others ignore it."""
    json_schema: dict[str, Any] | None = None
    """Shape of a JSON answer for providers that can be bound to one; the embedded model has its grammar."""

    @property
    def provider(self) -> str:
        """The part of the model's name that limits belong to."""
        return self.model.partition("/")[0]

    @property
    def call_hash(self) -> str:
        """The same call, the same hash: all that reaches the model, and not what or where it is for."""
        # Not by way of `model_dump`, which costs more than all the rest: this is asked for with every call.
        said = [(message.role, message.content) for message in self.messages]
        return content_hash((self.model, said, self.parameters, self.grammar, self.json_schema))


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a model answered. A refusal in words is a reply; so are a text cut off (`truncated`) and an empty one."""

    text: str
    finish_reason: str = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None
    """None where no price is known: unknown, which is not free."""
    seconds: float = 0.0
    """Time in the provider's hands, without waiting for a free place."""
    retries: int = 0
    lost: int = 0
    """Tries before this one whose process died: each may have been paid for."""

    @property
    def truncated(self) -> bool:
        return self.finish_reason == TRUNCATED


class CallFailed(ImpactBenchError):
    """A call without a reply. `retries` counts the attempts after the first, `lost` those whose process died."""

    def __init__(
        self,
        sentence: str,
        *,
        kind: FailureKind,
        retries: int = 0,
        lost: int = 0,
        retry_after: float | None = None,
        seconds: float = 0.0,
        reply: Reply | None = None,
    ) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.retries = retries
        self.lost = lost
        self.retry_after = retry_after
        """Seconds that the provider asks us to wait, where it said so."""
        self.seconds = seconds
        self.reply = reply
        """What came back all the same, where something did: it was paid for."""

    def __reduce__(self) -> tuple[Any, ...]:
        details = {
            "kind": self.kind,
            "retries": self.retries,
            "lost": self.lost,
            "retry_after": self.retry_after,
            "seconds": self.seconds,
            "reply": self.reply,
        }
        return _failure, (str(self), details)


def _failure(sentence: str, details: dict[str, Any]) -> CallFailed:
    return CallFailed(sentence, **details)


class ModelsUnavailable(ImpactBenchError):
    """Something that calls need is not installed, or not set."""


class Provider(Protocol):
    """Whoever answers a request: a model behind litellm, a script, or a wrapper around another provider."""

    async def complete(self, request: Request) -> Reply:
        """One reply for one request.

        Raises:
            CallFailed: there is no reply; its `kind` says why.
        """
        ...
