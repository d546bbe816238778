"""Cutting the power while raters save: who sent what, what was acknowledged, and what is stored in the end."""

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine

from tests.browser.desks import Desk, labels_by_conversation
from tests.browser.rater_client import PageFailed, RaterClient, sign_in
from tests.browser.serving import Workbench


@dataclass(slots=True)
class Sitting:
    """What one rater sent, and what was acknowledged."""

    sent: dict[int, tuple[str, str]] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    pending: dict[str, Any] | None = None
    """The item whose save was sent and not acknowledged yet."""
    repeated: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many cuts there were, and how many labels of each kind at the end of it."""

    cuts: int
    acknowledged: int
    stored: int
    repeated: int
    lost: int
    doubled: int
    altered: int


def rate_through_cuts(
    bench: Workbench,
    engine: Engine,
    desks: dict[str, Desk],
    *,
    cuts: int,
    longest_wait: float,
    seed: int,
    after_each: Callable[[int, int], None] = lambda _cuts, _acknowledged: None,
) -> Outcome:
    """Have everybody at the desks save as fast as they can while the server is killed and started again.

    `after_each` is told after each cut how many there were and how many labels had been acknowledged by then.
    """
    sittings = {name: Sitting() for name in desks}

    async def all_of_it() -> int:
        raters = [
            asyncio.create_task(
                _rate(bench, sign_in(desks[name].link), sitting, random.Random(f"{seed}{name}"))
            )
            for name, sitting in sittings.items()
        ]
        waits = [random.Random(seed).uniform(0.0, longest_wait) for _ in range(cuts)]
        done = await _cut_and_restart(bench, waits, list(sittings.values()), after_each)
        for sitting in sittings.values():
            sitting.done = True
        for task in raters:
            task.cancel()
        await asyncio.gather(*raters, return_exceptions=True)
        return done

    done = asyncio.run(all_of_it())
    bench.kill()
    return _compare(engine, sittings, cuts=done)


async def _rate(bench: Workbench, cookie: str, sitting: Sitting, draws: random.Random) -> None:
    """Save item after item, over every cut."""
    while not sitting.done:
        client = RaterClient(bench.address, cookie, patience=10.0)
        try:
            item = (await client.open()).item
            if sitting.pending is not None:
                item = await _save(client, sitting.pending, sitting, draws)
            while item is not None:
                item = await _save(client, item, sitting, draws)
            sitting.done = True
        except (OSError, PageFailed, asyncio.IncompleteReadError, EOFError):
            await asyncio.sleep(0.05)
        except Exception as failure:
            if type(failure).__module__.split(".")[0] != "websockets":
                raise
            await asyncio.sleep(0.05)
        finally:
            await client.close()


async def _save(
    client: RaterClient, item: dict[str, Any], sitting: Sitting, draws: random.Random
) -> dict[str, Any] | None:
    """Send the answer to an item, the same one again where it was sent before; gives the next item."""
    number, sitting.pending = int(item["position"]), item
    if number in sitting.sent:
        sitting.repeated += 1
    verdict, rationale = sitting.sent.setdefault(
        number, (draws.choice(("pass", "fail")), f"number {number}, {draws.random()}")
    )
    answer = {"verdict": verdict, "rationale": rationale}
    if draws.random() < 0.5:
        reply = await client.save(item, answer)
    else:  # past the page, as the desk in a browser does
        told = {"code": item["code"], "base_revision": item["base_revision"], "answer": answer}
        reply = await client.tell("save", {**told, "attempt": 1})
    if reply.item is not None and reply.item["position"] == number:
        raise PageFailed(str(reply.item.get("refused")))
    sitting.acknowledged.add(number)
    sitting.pending = None
    return reply.item


async def _cut_and_restart(
    bench: Workbench,
    waits: Sequence[float],
    sittings: Sequence[Sitting],
    after_each: Callable[[int, int], None],
) -> int:
    """Kill the server so long after the first label of each start, or until everything is rated; gives how often."""
    for number, wait in enumerate(waits):
        before = _acknowledged(sittings)
        while _acknowledged(sittings) == before:
            if all(sitting.done for sitting in sittings):
                return number
            await asyncio.sleep(0.005)
        await asyncio.sleep(wait)
        bench.kill()
        after_each(number + 1, _acknowledged(sittings))
        await asyncio.to_thread(bench.start)
    return len(waits)


def _acknowledged(sittings: Iterable[Sitting]) -> int:
    return sum(len(sitting.acknowledged) for sitting in sittings)


def _compare(engine: Engine, sittings: dict[str, Sitting], *, cuts: int) -> Outcome:
    stored = lost = doubled = altered = 0
    for name, sitting in sittings.items():
        kept = labels_by_conversation(engine, name)
        stored += sum(map(len, kept.values()))
        lost += len(sitting.acknowledged - set(kept))
        doubled += sum(len(revisions) != 1 for revisions in kept.values())
        altered += sum(sitting.sent.get(number) != revisions[0][1:] for number, revisions in kept.items())
    return Outcome(
        cuts=cuts,
        acknowledged=_acknowledged(sittings.values()),
        stored=stored,
        repeated=sum(sitting.repeated for sitting in sittings.values()),
        lost=lost,
        doubled=doubled,
        altered=altered,
    )
