"""The one writer of a run: takes what was made, and commits it in the order it came, group by group.

Whoever hands something in goes on when it is on disk. What arrived while a commit was under way is the next group; in a
run that has many units under way a group waits a moment for company, for a commit costs as much as ten rows. An idle run
commits each unit by itself, and a unit is always whole within one commit.
"""

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

from sqlalchemy import Engine, insert
from sqlmodel import Session

from impactbench.store import tables as t
from impactbench.store.engine import writing

Made = TypeVar("Made")
Change = Callable[[Session], Any]
_MOST_AT_ONCE = 500
CROWD = 32
"""So many units under way, and a group waits for company."""
LINGER = 0.02
"""Seconds that it waits: little beside what a model takes to answer."""
_CALLS = insert(t.Call)
"""For the connection itself: the session would take as long as all the rest, and there is a row a call."""


class Recorder:
    """Writes for a whole run; use it as `async with`. It ends when everything handed in is on disk.

    Args:
        engine: the database.
        under_way: how many units are under way right now.
    """

    def __init__(self, engine: Engine, *, under_way: Callable[[], int] = lambda: 0) -> None:
        self._engine = engine
        self._under_way = under_way
        self._waiting: asyncio.Queue[tuple[Change | dict[str, Any], asyncio.Future[Any]] | None] = (
            asyncio.Queue()
        )
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Recorder":
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._waiting.put(None)
        if self._task is not None:
            await self._task

    async def change(self, change: Callable[[Session], Made]) -> Made:
        """Apply a change; gives what it returns once that is on disk."""
        return await self._hand_in(change)  # type: ignore[no-any-return]

    async def log_call(self, row: dict[str, Any]) -> None:
        """Keep a call; returns once it is on disk."""
        await self._hand_in(row)

    async def _hand_in(self, what: Change | dict[str, Any]) -> Any:
        written: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        await self._waiting.put((what, written))
        # A task that is cancelled while it waits must not take the group's other members with it.
        return await asyncio.shield(written)

    async def _write(self) -> None:
        closing = False
        while not closing:
            group = [await self._waiting.get()]
            if group[0] is not None and self._under_way() >= CROWD:
                await asyncio.sleep(LINGER)
            while not self._waiting.empty() and len(group) < _MOST_AT_ONCE:
                group.append(self._waiting.get_nowait())
            closing = None in group
            handed_in = [one for one in group if one is not None]
            if handed_in:
                await self._commit(handed_in)

    async def _commit(self, group: Sequence[tuple[Change | dict[str, Any], asyncio.Future[Any]]]) -> None:
        try:
            results = await asyncio.to_thread(self._apply, [what for what, _ in group])
        except Exception as error:
            if len(group) > 1:
                for one in group:
                    await self._commit([one])
                return
            _settle(group[0][1], error=error)
            return
        for (_, written), result in zip(group, results, strict=True):
            _settle(written, result=result)

    def _apply(self, group: Sequence[Change | dict[str, Any]]) -> list[Any]:
        with writing(self._engine) as session:
            calls = [what for what in group if isinstance(what, dict)]
            if calls:
                session.connection().execute(_CALLS, calls)
            return [None if isinstance(what, dict) else what(session) for what in group]


def _settle(written: "asyncio.Future[Any]", *, result: Any = None, error: Exception | None = None) -> None:
    if written.cancelled():
        return
    if error is not None:
        written.set_exception(error)
    else:
        written.set_result(result)
