"""The calls of one unit: each reply is on disk before anything is built on it, and on a second try it is read from there.

A unit is a function of its replies. So after an interruption it runs again from its start, is handed the replies that
were paid for before, and asks a model only from where those end.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Engine, select

from impactbench.llm import FILTERED, CallFailed, Provider, Reply, Request
from impactbench.runs.recording import Recorder
from impactbench.runs.spending import Spending
from impactbench.runs.unit_keys import Stage
from impactbench.store.engine import reading
from impactbench.store.run_frames import call as call_columns
from impactbench.store.tables import now

_UNFIT = re.compile("[\x00\ud800-\udfff]")
"""What no database keeps as text."""


@dataclass(frozen=True, slots=True)
class KeptReply:
    """A reply that is on disk, and what it answered."""

    request_hash: str
    reply: Reply


class UnitCalls:
    """Asks models on behalf of one unit; an `Ask`.

    Args:
        provider: whoever answers.
        recorder: keeps each reply.
        spending: is told of each call, and refuses one that the budget does not allow.
        run_id: of the run.
        key: of the unit.
        stage: of the unit.
        restart: how often the unit began anew before; replies from before that are not used.
        kept: the replies since then that are on disk, in their order.
    """

    def __init__(
        self,
        provider: Provider,
        recorder: Recorder,
        spending: Spending,
        *,
        run_id: int,
        key: str,
        stage: Stage,
        restart: int = 0,
        kept: Sequence[KeptReply] = (),
    ) -> None:
        self._provider = provider
        self._recorder = recorder
        self._spending = spending
        self._place = {"run_id": run_id, "unit_key": key, "stage": str(stage), "restart": restart}
        self.key, self.stage, self.restart = key, stage, restart
        self._kept = deque(kept)
        self._ordinal = 0

    async def __call__(self, request: Request) -> Reply:
        """The reply to a request, from disk or from the model.

        Raises:
            CallFailed: the model gave none.
            BudgetReached: the call is not made.
        """
        request_hash = request.call_hash
        if self._kept and self._kept[0].request_hash == request_hash:
            self._ordinal += 1
            return self._kept.popleft().reply
        if self._kept:
            raise RuntimeError(
                f"unit {self.key[:12]} asks something else than before an interruption: its key does not"
                " hold everything that shapes it"
            )
        with self._spending.of_a_call() as spend:
            reply = fit_to_keep(await self._answer(request.model_copy(update={"place": self._here()})))
            reply = replace(reply, cost_usd=self._spending.price(request.model, reply))
            spend(reply)
        ordinal, self._ordinal = self._ordinal, self._ordinal + 1
        await self._recorder.log_call(
            {
                **self._place,
                "ordinal": ordinal,
                "purpose": request.purpose,
                "model": request.model,
                "request_hash": request_hash,
                "reply": reply.text,
                "finish_reason": reply.finish_reason,
                "tokens_in": reply.tokens_in,
                "tokens_out": reply.tokens_out,
                "cost_usd": reply.cost_usd,
                "seconds": reply.seconds,
                "retries": reply.retries,
                "created_at": now(),
            }
        )
        return reply

    def _here(self) -> str:
        return "/".join(map(str, (self._place["run_id"], self.key, self.restart, self._ordinal)))

    async def _answer(self, request: Request) -> Reply:
        """The model's reply; one that a filter stopped half way was paid for, and is kept like any other."""
        try:
            return await self._provider.complete(request)
        except CallFailed as failed:
            if failed.reply is None:
                raise
            return replace(failed.reply, finish_reason=FILTERED)


def kept_replies(engine: Engine, *, run_id: int, key: str, restart: int) -> list[KeptReply]:
    """The replies of a unit that are on disk, in their order."""
    query = (
        select(
            call_columns.request_hash,
            call_columns.reply,
            call_columns.finish_reason,
            call_columns.tokens_in,
            call_columns.tokens_out,
            call_columns.cost_usd,
            call_columns.seconds,
            call_columns.retries,
        )
        .where(call_columns.run_id == run_id, call_columns.unit_key == key, call_columns.restart == restart)
        .order_by(call_columns.ordinal)
    )
    with reading(engine) as session:
        return [
            KeptReply(request_hash=request_hash, reply=Reply(text=text, **more))
            for request_hash, text, more in (
                (row.pop("request_hash"), row.pop("reply"), row)
                for row in map(dict, session.connection().execute(query).mappings())
            )
        ]


def fit_to_keep(reply: Reply) -> Reply:
    """A reply whose text every database can keep: without NUL and halves of surrogate pairs."""
    if not _UNFIT.search(reply.text):
        return reply
    return replace(reply, text=_UNFIT.sub("\ufffd", reply.text))
