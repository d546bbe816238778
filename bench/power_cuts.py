"""python -m bench.power_cuts: the server is killed at random moments while labels are being saved, again and again.

python -m bench.power_cuts                  200 cuts on a SQLite file
python -m bench.power_cuts --cuts 20
python -m bench.power_cuts --postgres       on a PostgreSQL server that is started for it
python -m bench.power_cuts --database URL   on an empty, migrated database of yours

Several raters save as fast as they can. Whenever a save is in the air the server may be killed with SIGKILL; it is
started again and every rater sends again what was not acknowledged, as the page in the browser does. In the end every
label that was acknowledged must be there once, as it was sent, and nothing else.
"""

import argparse
import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from impactbench.store.engine import connect
from tests.browser.desks import labels_by_conversation, plain_turns, set_desks
from tests.browser.rater_client import PageFailed, RaterClient, sign_in
from tests.browser.serving import Workbench
from tests.databases import migrated_sqlite_file, postgres_server

RATERS = ("kestrel", "wren", "heron")
LONGEST_WAIT = 1.0
"""Seconds from the first save after a start until the cut, at most."""


@dataclass(slots=True)
class Sitting:
    """What one rater sent, and what was acknowledged."""

    sent: dict[int, tuple[str, str]] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    pending: dict[str, Any] | None = None
    """The item whose save was sent and not acknowledged yet."""
    repeated: int = 0
    saves: int = 0
    """How often anything was sent to be saved."""
    done: bool = False


async def rate(bench: Workbench, cookie: str, sitting: Sitting, draws: random.Random) -> None:
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
    sitting.saves += 1
    if number in sitting.sent:
        sitting.repeated += 1
    verdict, rationale = sitting.sent.setdefault(
        number, (draws.choice(("pass", "fail")), f"number {number}, {draws.random()}")
    )
    reply = await client.save(item, {"verdict": verdict, "rationale": rationale})
    if reply.item is not None and reply.item["position"] == number:
        raise PageFailed(str(reply.item.get("refused")))
    sitting.acknowledged.add(number)
    sitting.pending = None
    return reply.item


async def cut_and_restart(
    bench: Workbench, cuts: int, sittings: Sequence[Sitting], draws: random.Random
) -> int:
    """Kill the server this many times, or until everything is rated; gives how often."""
    for number in range(cuts):
        before = sum(sitting.saves for sitting in sittings)
        while sum(sitting.saves for sitting in sittings) == before:
            if all(sitting.done for sitting in sittings):
                return number
            await asyncio.sleep(0.005)
        await asyncio.sleep(draws.uniform(0.0, LONGEST_WAIT))
        bench.kill()
        await asyncio.to_thread(bench.start)
    return cuts


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.power_cuts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", default=None, help="an empty, migrated database")
    parser.add_argument("--postgres", action="store_true", help="start a PostgreSQL server and use that")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder, url = Path(stack.enter_context(tempfile.TemporaryDirectory())), options.database
        if options.postgres:
            server = stack.enter_context(postgres_server())
            url = server.url(server.make("cuts", migrated=True))
        return _measure(folder, url, cuts=options.cuts, seed=options.seed)


def _measure(folder: Path, database: str | None, *, cuts: int, seed: int) -> int:
    url = database or f"sqlite:///{shutil.copy(migrated_sqlite_file(folder), folder / 'cut.db')}"
    engine, bench = connect(url), Workbench(url, folder)
    items = [plain_turns(number) for number in range(1, max(100, cuts * 20))]
    desks = set_desks(engine, items, *RATERS, base_url=bench.address)
    sittings = {name: Sitting() for name in RATERS}
    began = time.monotonic()
    bench.start()

    async def all_of_it() -> int:
        raters = [
            asyncio.create_task(
                rate(bench, sign_in(desks[name].link), sitting, random.Random(f"{seed}{name}"))
            )
            for name, sitting in sittings.items()
        ]
        done = await cut_and_restart(bench, cuts, list(sittings.values()), random.Random(seed))
        for sitting in sittings.values():
            sitting.done = True
        for task in raters:
            task.cancel()
        await asyncio.gather(*raters, return_exceptions=True)
        return done

    try:
        done = asyncio.run(all_of_it())
    finally:
        bench.kill()
    lost = doubled = altered = 0
    acknowledged = sum(len(sitting.acknowledged) for sitting in sittings.values())
    stored = 0
    for name, sitting in sittings.items():
        kept = labels_by_conversation(engine, name)
        stored += sum(map(len, kept.values()))
        lost += len(sitting.acknowledged - set(kept))
        doubled += sum(len(revisions) != 1 for revisions in kept.values())
        altered += sum(sitting.sent.get(number) != revisions[0][1:] for number, revisions in kept.items())
    engine.dispose()
    print(
        f"{done} cuts in {time.monotonic() - began:.0f} s: {acknowledged} labels acknowledged, {stored} stored,"
        f" {sum(sitting.repeated for sitting in sittings.values())} sent again; lost {lost}, doubled {doubled}, altered {altered}"
    )
    return int(bool(lost or doubled or altered or done < cuts or not acknowledged))


if __name__ == "__main__":
    raise SystemExit(main())
