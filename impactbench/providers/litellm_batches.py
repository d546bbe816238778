"""The batch endpoints of the providers that litellm drives, for `Batched`."""

import json
from dataclasses import replace
from typing import Any

from impactbench.llm import CallFailed, FailureKind, ModelsUnavailable, Reply, Request
from impactbench.providers.batches import OFFERED
from impactbench.providers.litellm_provider import LiteLLMProvider, import_litellm, kind_of, without_secrets

UNDER_WAY = {"validating", "in_progress", "finalizing", "cancelling"}
WINDOW = "24h"


class LiteLLMBatches:
    """One provider's batches.

    Raises:
        ModelsUnavailable: the provider has no batches that litellm drives.
    """

    def __init__(self, provider: LiteLLMProvider, name: str, *, endpoint: str = "") -> None:
        if name not in OFFERED:
            raise ModelsUnavailable(f"{name} has no batches that litellm drives; {', '.join(OFFERED)} have.")
        self._provider = provider
        self._litellm = import_litellm()
        self._name = name
        self._options: dict[str, Any] = {"custom_llm_provider": name}
        if endpoint:
            self._options |= {"api_base": endpoint, "api_key": "none"}

    async def send(self, requests: dict[str, Request]) -> str:
        lines = "\n".join(json.dumps(self._line(name, request)) for name, request in requests.items())
        try:
            file = await self._litellm.acreate_file(
                file=("calls.jsonl", lines.encode()), purpose="batch", **self._options
            )
            batch = await self._litellm.acreate_batch(
                completion_window=WINDOW,
                endpoint="/v1/chat/completions",
                input_file_id=file.id,
                **self._options,
            )
        except Exception as error:
            raise self._failure(error, requests) from None
        return str(batch.id)

    async def results(self, batch: str, requests: dict[str, Request]) -> dict[str, Reply | CallFailed] | None:
        try:
            state = await self._litellm.aretrieve_batch(batch_id=batch, **self._options)
            if state.status in UNDER_WAY:
                return None
            files = [name for name in (state.output_file_id, state.error_file_id) if name]
            contents = [await self._litellm.afile_content(file_id=name, **self._options) for name in files]
        except Exception as error:
            raise self._failure(error, requests) from None
        answers: dict[str, Reply | CallFailed] = {}
        for line in b"\n".join(content.content for content in contents).splitlines():
            row = json.loads(line) if line.strip() else {}
            request = requests.get(row.get("custom_id", ""))
            if request is not None:
                answers[row["custom_id"]] = self._answer(row, request)
        return answers

    def _line(self, name: str, request: Request) -> dict[str, Any]:
        body = {
            "model": request.model.partition("/")[2],
            "messages": [{"role": said.role, "content": said.content} for said in request.messages],
            **self._provider.shape(request),
            **request.parameters,
        }
        return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}

    def _answer(self, row: dict[str, Any], request: Request) -> Reply | CallFailed:
        response = row.get("response") or {}
        status, body = response.get("status_code"), response.get("body") or {}
        if status != 200:
            said = body.get("error") or row.get("error") or "no reason given"
            return CallFailed(f"{request.model}: {without_secrets(said)}", kind=kind_of(status, str(said)))
        try:
            reply = self._provider.reply(self._litellm.ModelResponse(**body), request, seconds=0.0)
        except CallFailed as failure:
            return failure
        return replace(reply, cost_usd=self._cost(request.model, reply))

    def _cost(self, model: str, reply: Reply) -> float | None:
        """What it costs in a batch, where litellm's list has a price for batches."""
        known = self._litellm.model_cost
        entry = known.get(model) or known.get(model.partition("/")[2]) or {}
        price_in, price_out = (entry.get(f"{way}_cost_per_token_batches") for way in ("input", "output"))
        if price_in is None or price_out is None:
            return None
        return float(price_in * reply.tokens_in + price_out * reply.tokens_out)

    def _failure(self, error: Exception, requests: dict[str, Request]) -> CallFailed:
        request = next(iter(requests.values()))
        failure = self._provider.failure(error, request, seconds=0.0)
        if failure.kind is FailureKind.AUTHENTICATION:
            return failure
        return CallFailed(f"The batch of {self._name} failed: {failure}", kind=failure.kind)
