"""The calls of one unit: each reply is on disk before anything is built on it, and on a second try it is read from there.

A unit is a function of its replies. So after an interruption it runs again from its start, is handed the replies that
were paid for before, and asks a model only from where those end.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Engine, select

from impactbench.llm import FILTERED, CallFailed, FailureKind, Provider, Reply, Request
from impactbench.runs.recording import Recorder
from impactbench.runs.spending import Spending
from impactbench.runs.unit_keys import Stage
from impactbench.store.engine import reading
from impactbench.store.run_frames import call as call_columns
from impactbench.store.tables import Attempt, now

_UNFIT = re.compile("[\x00\ud800-\udfff]")
"""What no database keeps as text."""
LOST = "The process that made a call died; the call was made again, and may have been paid for twice."


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
        subject: what the unit is about, for whoever looks for it.
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
        subject: str = "",
    ) -> None:
        self._provider = provider
        self._recorder = recorder
        self._spending = spending
        self._place = {"run_id": run_id, "unit_key": key, "stage": str(stage), "restart": restart}
        self.key, self.stage, self.restart = key, stage, restart
        self.lost = 0
        """Tries that were put on record since their process died."""
        self._subject = subject
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
            try:
                reply = fit_to_keep(await self._answer(request.model_copy(update={"place": self._here()})))
            except CallFailed as failed:
                await self._note_lost(request.model, failed.lost - (failed.kind is FailureKind.LOST))
                raise
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
        await self._note_lost(request.model, reply.lost)
        return reply

    async def _note_lost(self, model: str, times: int) -> None:
        """Put on record tries whose process died under them: the provider may have been paid for each."""
        if times <= 0:
            return
        self.lost += times
        row = self._place | {
            "subject": self._subject,
            "model": model,
            "kind": str(FailureKind.LOST),
            "because": LOST,
        }
        await self._recorder.change(
            lambda session: session.add_all(Attempt.model_validate(row) for _ in range(times))
        )

    def _here(self) -> str:
        return "/".join(map(str, (self._place["run_id"], self.key, self.restart, self._ordinal)))

    async def _answer(self, request: Request) -> Reply:
        """The model's reply; one that a filter stopped half way was paid for, and is kept like any other."""
        try:
            return await self._provider.complete(request)
        except CallFailed as failed:
            if failed.reply is None:
                raise
            return replace(failed.reply, finish_reason=FILTERED, lost=failed.lost)


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
