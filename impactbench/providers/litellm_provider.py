"""Every model that litellm knows, behind the port; the only module that imports litellm.

Importing this module does not import litellm, which takes seconds; the first provider does.
"""

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from impactbench.llm import FILTERED, CallFailed, FailureKind, ModelsUnavailable, Reply, Request
from impactbench.providers import embedded

TIMEOUT = 120.0
"""Seconds that litellm waits for one answer; a `Patient` may wait for less."""
INSTALL = "pip install 'impactbench[models]'"
_FILTER_WORDS = (
    "content_filter",
    "content filter",
    "content management policy",
    "responsible ai",
    "filtered",
)
_NO_MONEY = ("insufficient_quota", "exceeded your current quota", "billing")
_SECRET = re.compile(r"(?i)\b(?:sk|pk|key|gsk|xai|aiza)[-_a-z0-9*]{8,}|bearer\s+\S+")
_CREDENTIALS = ("_KEY", "_TOKEN", "_SECRET", "_CREDENTIALS")


def import_litellm() -> ModuleType:
    """litellm, told to stay off the network and to be quiet.

    Raises:
        ModelsUnavailable: it is not installed.
    """
    # Without this, importing it fetches a price list.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
    except ImportError:
        raise ModelsUnavailable(f"Model calls need litellm, which is not installed: {INSTALL}.") from None
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


class LiteLLMProvider:
    """Calls models by way of litellm, once each: patience is somebody else's business.

    Args:
        endpoints: addresses by provider (`{"openai": "http://localhost:8000/v1"}`) for servers of one's own; a
            provider with such an address needs no key.
        timeout: seconds for one answer.
    """

    def __init__(self, *, endpoints: Mapping[str, str] | None = None, timeout: float = TIMEOUT) -> None:
        self._litellm = import_litellm()
        self._endpoints = dict(endpoints or {})
        self._timeout = timeout
        self._options: dict[str, dict[str, Any]] = {}
        self._without_log = _log_switch(self._litellm)
        _register_embedded(self._litellm)

    def check(self, model: str) -> None:
        """Whether calls to this model can be made at all; costs nothing, so it is asked before a run.

        Raises:
            ModelsUnavailable: litellm does not know the provider, a key is missing, or the embedded model is.
        """
        if model in self._options:
            return
        provider = model.partition("/")[0]
        options: dict[str, Any] = {"timeout": self._timeout, "num_retries": 0, "max_retries": 0}
        if provider == embedded.PROVIDER:
            if model != embedded.EMBEDDED_MODEL:
                raise ModelsUnavailable(
                    f"{model} is not a model; the embedded one is {embedded.EMBEDDED_MODEL}."
                )
            embedded.model_file()
        elif provider in self._endpoints:
            options |= {"api_base": self._endpoints[provider], "api_key": "none"}
        else:
            self._check_keys(model)
        self._options[model] = options

    def _check_keys(self, model: str) -> None:
        try:
            self._litellm.get_llm_provider(model)
        except Exception:
            raise ModelsUnavailable(
                f"{model}: litellm knows no such provider; a model is named like openai/gpt-5-mini."
            ) from None
        missing = [
            name
            for name in self._litellm.validate_environment(model)["missing_keys"]
            if name.endswith(_CREDENTIALS)
        ]
        if missing:
            raise ModelsUnavailable(
                f"{model} needs a key: set the environment variable {' or '.join(missing)}."
            )

    def price(self, model: str) -> tuple[float, float] | None:
        """US dollars per token in and out, from litellm's own list; None where it has none."""
        if model == embedded.EMBEDDED_MODEL:
            return 0.0, 0.0
        known = self._litellm.model_cost
        entry = known.get(model) or known.get(model.partition("/")[2])
        if not entry or "input_cost_per_token" not in entry or "output_cost_per_token" not in entry:
            return None
        return float(entry["input_cost_per_token"]), float(entry["output_cost_per_token"])

    async def complete(self, request: Request) -> Reply:
        try:
            self.check(request.model)
        except ModelsUnavailable as unavailable:
            raise CallFailed(str(unavailable), kind=FailureKind.AUTHENTICATION) from None
        started = time.monotonic()
        try:
            self._without_log()
            response = await self._litellm.acompletion(
                model=request.model,
                messages=[{"role": said.role, "content": said.content} for said in request.messages],
                **self._options[request.model],
                **self.shape(request),
                **request.parameters,
            )
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise self.failure(error, request, seconds=time.monotonic() - started) from None
        return self.reply(response, request, seconds=time.monotonic() - started)

    async def close(self) -> None:
        """Close the connections that litellm keeps open for the next call."""
        await self._litellm.close_litellm_async_clients()

    def shape(self, request: Request) -> dict[str, Any]:
        """What binds the answer to a form, where the model can be bound."""
        if request.provider == embedded.PROVIDER:
            return {"grammar": request.grammar} if request.grammar else {}
        if request.json_schema is None or not self._litellm.supports_response_schema(request.model):
            return {}
        schema = {"name": "answer", "schema": request.json_schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def reply(self, response: Any, request: Request, *, seconds: float) -> Reply:
        """A response of litellm as a reply.

        Raises:
            CallFailed: the provider's filter stopped the text, or there is none.
        """
        if not response.choices:
            sentence = f"{request.model} sent a response without an answer in it."
            raise CallFailed(sentence, kind=FailureKind.MALFORMED, seconds=seconds)
        choice = response.choices[0]
        usage = response.usage
        reply = Reply(
            text=choice.message.content or "",
            finish_reason=choice.finish_reason or "",
            tokens_in=usage.prompt_tokens or 0,
            tokens_out=usage.completion_tokens or 0,
            cost_usd=self._cost(response, request, usage),
            seconds=seconds,
        )
        if reply.finish_reason == FILTERED:
            sentence = f"{request.model}: the provider's content filter stopped the answer."
            raise CallFailed(sentence, kind=FailureKind.CONTENT_FILTER, seconds=seconds, reply=reply)
        return reply

    def _cost(self, response: Any, request: Request, usage: Any) -> float | None:
        known: float | None = getattr(response, "_hidden_params", {}).get("response_cost")
        price = self.price(request.model)
        if price is None:
            return None
        return (
            known
            if known is not None
            else price[0] * usage.prompt_tokens + price[1] * usage.completion_tokens
        )

    def failure(self, error: Exception, request: Request, *, seconds: float) -> CallFailed:
        """An exception of litellm as a failure of a kind, without anything secret in its sentence."""
        kind = _kind(self._litellm, error)
        if kind is FailureKind.AUTHENTICATION:
            return CallFailed(
                f"{request.model}: the provider does not accept the key that is set for {request.provider}.",
                kind=kind,
                seconds=seconds,
            )
        return CallFailed(
            f"{request.model}: {without_secrets(error)}",
            kind=kind,
            retry_after=_retry_after(error),
            seconds=seconds,
        )


def _log_switch(litellm: Any) -> Callable[[], object]:
    """What spares the calls of the task that it is called in litellm's own log, an eighth of what a call costs.

    Where somebody listens to that log, or this litellm has no such switch, it does nothing.
    """
    listeners = ("callbacks", "success_callback", "failure_callback", "_async_success_callback")
    if any(getattr(litellm, name, None) for name in listeners):
        return lambda: None
    try:
        from litellm._internal_context import is_internal_call
    except ImportError:
        return lambda: None
    return lambda: is_internal_call.set(True)


def _kind(litellm: Any, error: Exception) -> FailureKind:
    if isinstance(error, litellm.ContentPolicyViolationError):
        return FailureKind.CONTENT_FILTER
    if isinstance(error, litellm.Timeout | TimeoutError):
        return FailureKind.TIMEOUT
    if isinstance(error, litellm.APIResponseValidationError):
        return FailureKind.MALFORMED
    return kind_of(getattr(error, "status_code", None), str(error))


def kind_of(status: int | None, said: str) -> FailureKind:
    """The kind of a failure by its HTTP status and what the provider said about it."""
    said = said.lower()
    if status == 400 and any(words in said for words in _FILTER_WORDS):
        return FailureKind.CONTENT_FILTER
    if status == 408:
        return FailureKind.TIMEOUT
    if status in (401, 403):
        return FailureKind.AUTHENTICATION
    if status == 429:
        # No money left is sent as a rate limit too, and waiting does not help.
        return FailureKind.BAD_REQUEST if any(word in said for word in _NO_MONEY) else FailureKind.RATE_LIMIT
    if isinstance(status, int) and 400 <= status < 500:
        return FailureKind.BAD_REQUEST
    return FailureKind.SERVER


def without_secrets(said: object) -> str:
    """What a provider said, on one line, short, and without a key that it may have repeated."""
    return _SECRET.sub("(hidden)", " ".join(str(said).split()))[:300]


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return float(headers.get("retry-after", ""))
    except ValueError:
        return None


def _register_embedded(litellm: Any) -> None:
    if any(known["provider"] == embedded.PROVIDER for known in litellm.custom_provider_map):
        return

    class Embedded(litellm.CustomLLM):  # type: ignore[misc]
        async def acompletion(
            self, messages: Any, optional_params: Any, model_response: Any, **rest: Any
        ) -> Any:
            answer = await embedded.embedded_model().chat(messages, optional_params)
            if "error" in answer:
                status, said = int(answer["error"].get("code", 500)), str(answer["error"].get("message"))
                raise litellm.llms.custom_llm.CustomLLMError(status_code=status, message=said)
            (choice,) = answer["choices"]
            model_response.choices[0].message.content = choice["message"]["content"]
            model_response.choices[0].finish_reason = choice["finish_reason"]
            usage = answer["usage"]
            model_response.usage = litellm.Usage(
                prompt_tokens=usage["prompt_tokens"], completion_tokens=usage["completion_tokens"]
            )
            return model_response

    litellm.custom_provider_map.append({"provider": embedded.PROVIDER, "custom_handler": Embedded()})
    litellm.utils.custom_llm_setup()
