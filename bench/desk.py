"""python -m bench.desk: many raters at once on the real workbench, and the longest queue and transcript.

python -m bench.desk                        50, 100 and 200 raters for a minute each, then the opening of long things
python -m bench.desk --raters 100 --seconds 300
python -m bench.desk --by-page              every action as a run of the page
python -m bench.desk --database URL         on an empty, migrated PostgreSQL database instead of a SQLite file

Every rater is a session of its own, with a cookie, a websocket and a connection for posts, as a browser has them. They open
their desk (a run of the page), think for three seconds (give or take a third), and then either keep a draft or save an
answer, in turn, as the desk in the browser does: posted to `/desk`, and sent to the page only where the answer says so.
Timed is an action from the click until its answer is read; a save is over when the next conversation has come. With
`--by-page` every action is a run of the page instead: what the desk falls back on, and what any other page costs. Raters
arrive over the first two think times; actions are timed from one think time after the last of them sees their desk, so
that `open` is about arriving and the others are about rating. Not fetched are the files of Streamlit's own that a browser
keeps. The raters run in this process and the server in another, on one machine: what they cost each other is in the
figures, and the server's own processor time per action stands beside them. (On a machine that does other work that grows
as well: two threads on one core slow each other down.) `late` is how late this process was for things of its own, in
milliseconds (95 of 100): what it adds to an action at most.
"""

import argparse
import asyncio
import math
import os
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, insert
from sqlmodel import select

from impactbench.domain import content_hash
from impactbench.store import tables as t
from impactbench.store.engine import connect, reading, writing
from reviews.members.invitations import invite
from tests.browser.desks import OPTIONS, plain_turns, set_desks
from tests.browser.rater_client import PageFailed, RaterClient, Reply, sign_in
from tests.browser.serving import Workbench
from tests.databases import migrated_sqlite_file

ITEMS = 60
THINK = 3.0
TARGETS = {100: 100, 200: 250}
"""Milliseconds that the 95th percentile of an action may take, by raters."""
LONG_QUEUE, LONG_TURN, LONG_TURNS = 10_000, 20_000, 6
OPENS_WITHIN = 1.0
_WORDS = (
    "I have not slept well since the move and I keep asking myself whether I should call my sister about it. "
)


class Measured(Workbench):
    """A workbench whose process is watched."""

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self._pid()}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        status = Path(f"/proc/{self._pid()}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def _pid(self) -> int:
        if self._process is None:
            raise RuntimeError("the workbench is not running")
        return self._process.pid


@dataclass(slots=True)
class Tally:
    """What the raters met."""

    timed_from: float = math.inf
    until: float = math.inf
    opened: list[float] = field(default_factory=list)
    drafts: list[float] = field(default_factory=list)
    saves: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    saved: int = 0
    late: list[float] = field(default_factory=list)

    def keep(self, kept: list[float], reply: Reply) -> None:
        if time.monotonic() >= self.timed_from:
            kept.append(reply.seconds)


async def rate(address: str, cookie: str, tally: Tally, *, arrive: float, seed: int, by_page: bool) -> None:
    """One rater's sitting."""
    draws = random.Random(seed)
    await asyncio.sleep(arrive)
    client = RaterClient(address, cookie)
    try:
        shown = await client.open()
        tally.opened.append(shown.seconds)
        turn = 0
        while time.monotonic() < tally.until:
            await asyncio.sleep(THINK * draws.uniform(2 / 3, 4 / 3))
            if shown.item is None:
                raise PageFailed(f"no item is shown: {shown.headings} {shown.texts[:1]}")
            said = answer(shown.item, draws)
            if turn % 2 == 0:
                code = shown.item["code"]
                if by_page:
                    shown = await client.draft(shown.item, said)
                    kept = shown
                    if shown.item is None or shown.item["code"] != code:
                        raise PageFailed("keeping a draft led to another item")
                else:
                    kept = await client.tell("draft", about(shown.item) | {"content": said})
                tally.keep(tally.drafts, kept)
            else:
                before = shown.item["code"]
                if by_page:
                    shown = await client.save(shown.item, said)
                else:
                    shown = await client.tell("save", about(shown.item) | {"answer": said})
                tally.keep(tally.saves, shown)
                tally.saved += 1
                if shown.item is not None and shown.item["code"] == before:
                    raise PageFailed(f"the answer was not saved: {shown.item.get('refused')}")
            turn += 1
    except Exception as failure:
        tally.failures.append(f"{type(failure).__name__}: {failure}"[:300])
    finally:
        await client.close()


def about(item: dict[str, Any]) -> dict[str, Any]:
    """What a message says of the item that it is about."""
    return {"code": item["code"], "base_revision": item["base_revision"]}


def answer(item: dict[str, Any], draws: random.Random) -> dict[str, Any]:
    """Something that a rater might say of the item."""
    return {
        "verdict": draws.choice(item["options"]),
        "no_verdict_because": None,
        "confidence": draws.randint(1, 4),
        "rationale": _WORDS * draws.randint(1, 4),
        "turns": [1, 3],
        "active_seconds": 20,
        "revised_because": "",
    }


async def sit(
    bench: Measured, cookies: Sequence[str], *, seconds: float, by_page: bool
) -> tuple[Tally, float, float, list[float]]:
    """All raters at once; gives what they met, processor seconds, wall seconds, and memory over time."""
    ramp, tally = 2 * THINK, Tally()
    sitting = [
        asyncio.create_task(
            rate(
                bench.address,
                cookie,
                tally,
                arrive=ramp * number / len(cookies),
                seed=number,
                by_page=by_page,
            )
        )
        for number, cookie in enumerate(cookies)
    ]
    while len(tally.opened) + len(tally.failures) < len(cookies):
        await asyncio.sleep(0.1)
    await asyncio.sleep(THINK)
    tally.timed_from = time.monotonic()
    tally.until = tally.timed_from + seconds
    cpu, memory = bench.cpu_seconds(), [bench.megabytes()]
    watching = asyncio.create_task(_watch_own_delay(tally))
    while time.monotonic() < tally.until:
        await asyncio.sleep(min(5.0, seconds / 4))
        memory.append(bench.megabytes())
    cpu, wall = bench.cpu_seconds() - cpu, time.monotonic() - tally.timed_from
    watching.cancel()
    await asyncio.gather(*sitting)
    return tally, cpu, wall, memory


async def _watch_own_delay(tally: Tally) -> None:
    """How much later than it wanted this process comes to do something: if that is much, it is what is measured."""
    while True:
        wanted = time.monotonic() + 0.05
        await asyncio.sleep(0.05)
        tally.late.append(time.monotonic() - wanted)


def measure_load(url: str, folder: Path, raters: int, *, seconds: float, by_page: bool = False) -> bool:
    """One row of the table; whether it meets its target."""
    engine = connect(url)
    bench = Measured(url, folder, by_command=True)
    names = [f"rater-{number:03}" for number in range(1, raters + 1)]
    talk = [
        [{**turn, "content": turn["content"] + " " + _WORDS * 5} for turn in plain_turns(n, 6)]
        for n in range(1, ITEMS + 1)
    ]
    desks = set_desks(engine, talk, *names, base_url=bench.address)
    try:
        bench.start()
        cookies = [sign_in(desks[name].link) for name in names]
        load = os.getloadavg()[0]
        tally, cpu, wall, memory = asyncio.run(sit(bench, cookies, seconds=seconds, by_page=by_page))
        with reading(engine) as session:
            stored = len(session.exec(select(t.Label.id)).all())
    finally:
        bench.kill()
        engine.dispose()
    actions = tally.drafts + tally.saves
    if not actions:
        print(f"{raters:>6}  nothing was answered: {tally.failures[:1]}")
        return False
    p95 = float(np.quantile(actions, 0.95)) * 1e3
    within = TARGETS.get(raters)
    met = not tally.failures and stored == tally.saved and (within is None or p95 < within)
    figures = "  ".join(
        f"{np.quantile(times, 0.5) * 1e3:>5.0f}/{np.quantile(times, 0.95) * 1e3:<5.0f}"
        for times in (tally.opened, tally.drafts, tally.saves, actions)
    )
    growth = np.polyfit(np.arange(len(memory)), memory, 1)[0] * (len(memory) - 1)
    print(
        f"{raters:>6}  {figures}  {len(actions) / wall:>6.1f}  {cpu / len(actions) * 1e3:>6.1f}  {cpu / wall:>5.0%}"
        f"  {memory[0]:>5.0f} -> {memory[-1]:<5.0f} ({growth:+.0f})  {len(tally.failures):>6}  {stored}/{tally.saved}"
        f"  {load:>5.1f}  {np.quantile(tally.late, 0.95) * 1e3:>4.0f}  {'' if within is None else f'p95 < {within} ms: '}{'met' if met else 'NOT MET'}",
        flush=True,
    )
    for failure in sorted(set(tally.failures))[:3]:
        print(f"        {failure}")
    return met


def measure_opening(url: str, folder: Path) -> bool:
    """How long a queue of 10,000 items and a transcript of six long turns take to open, and to save in."""
    engine = connect(url)
    bench = Measured(url, folder, by_command=True)
    long_talk = [
        {"role": role, "content": (_WORDS * (LONG_TURN // len(_WORDS) + 1))[:LONG_TURN]}
        for _ in range(LONG_TURNS)
        for role in ("user", "assistant")
    ]
    set_desks(engine, [long_talk, plain_turns(2, 6)], "patient", "kestrel", base_url=bench.address)
    lengthen(engine, "patient", LONG_QUEUE)
    links = {name: invite(engine, name, base_url=bench.address) for name in ("patient", "kestrel")}
    met = True
    try:
        bench.start()
        for what, name in (
            ("a transcript of 12 messages of 20,000 characters", "kestrel"),
            (f"a queue of {LONG_QUEUE:,} items, the same transcript", "patient"),
        ):
            opened, saved, size = asyncio.run(_open_and_save(bench.address, sign_in(links[name])))
            met &= max(opened) < OPENS_WITHIN
            print(
                f"{what}: opens in {np.median(opened) * 1e3:.0f} ms (longest {max(opened) * 1e3:.0f}), {size / 1024:.0f} kB;"
                f" saves in {saved * 1e3:.0f} ms; within {OPENS_WITHIN:g} s: {'met' if max(opened) < OPENS_WITHIN else 'NOT MET'}"
            )
    finally:
        bench.kill()
        engine.dispose()
    return met


async def _open_and_save(address: str, cookie: str) -> tuple[list[float], float, int]:
    times, size = [], 0
    for _ in range(5):
        client = RaterClient(address, cookie)
        shown = await client.open()
        times.append(shown.seconds)
        size = shown.received
        if shown.item is None:
            raise PageFailed(f"no item is shown: {shown.headings}")
        await client.close()
    client = RaterClient(address, cookie)
    shown = await client.open()
    if shown.item is None:
        raise PageFailed(f"no item is shown: {shown.headings}")
    saved = await client.save(shown.item, answer(shown.item, random.Random(1)))
    await client.close()
    return times, saved.seconds, size


def lengthen(engine: Engine, rater: str, items: int) -> None:
    """Put more conversations before a rater, up to this many."""
    with writing(engine) as session:
        last = session.exec(
            select(t.Assignment)
            .join(t.Rater, t.Rater.id == t.Assignment.rater_id)
            .where(t.Rater.pseudonym == rater)
            .order_by(t.Assignment.position.desc())  # type: ignore[arg-type,attr-defined]
        ).first()
        if last is None:
            raise ValueError(f"{rater!r} has no item to go on from")
        like = session.get_one(t.Conversation, last.conversation_id)
        numbers = range(last.position + 1, items + 1)
        now = datetime.now(UTC)
        conversations = [
            {
                **like.model_dump(exclude={"id"}),
                "key": f"{rater}-{number}",
                "content_hash": content_hash(number),
                "created_at": now,
            }
            for number in numbers
        ]
        ids = session.scalars(insert(t.Conversation).returning(t.Conversation.id), conversations).all()  # type: ignore[call-overload]
        session.execute(
            insert(t.Assignment),
            [
                {
                    **last.model_dump(exclude={"id"}),
                    "conversation_id": conversation,
                    "code": f"{rater}-{number}",
                    "position": number,
                    "option_order": OPTIONS,
                }
                for number, conversation in zip(numbers, ids, strict=True)
            ],
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.desk", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--raters", default="50,100,200", help="how many at once, with commas; 0 for none")
    parser.add_argument("--seconds", type=float, default=60, help="how long each number of raters is timed")
    parser.add_argument("--by-page", action="store_true", help="every action as a run of the page")
    parser.add_argument("--no-opening", action="store_true", help="leave out the long queue and transcript")
    parser.add_argument(
        "--database", default=None, help="an empty, migrated database for one number of raters"
    )
    options = parser.parse_args(arguments)
    numbers = [int(number) for number in options.raters.split(",") if int(number)]
    met = True
    with tempfile.TemporaryDirectory() as scratch:
        template = migrated_sqlite_file(_folder(scratch, "template"))
        if numbers:
            print(
                "raters  open ms      draft ms     save ms      all ms       per s  cpu ms  busy   memory MB              failed  kept  load  late  (p50/p95)"
            )
        for number in numbers:
            folder = _folder(scratch, f"load-{number}")
            met &= measure_load(
                options.database or _copy(template, folder),
                folder,
                number,
                seconds=options.seconds,
                by_page=options.by_page,
            )
        if not options.no_opening:
            folder = _folder(scratch, "opening")
            met &= measure_opening(_copy(template, folder), folder)
    return 0 if met else 1


def _folder(scratch: str, name: str) -> Path:
    folder = Path(scratch) / name
    folder.mkdir()
    return folder


def _copy(template: Path, folder: Path) -> str:
    path = folder / "impactbench.db"
    shutil.copy(template, path)
    return f"sqlite:///{path}"


if __name__ == "__main__":
    raise SystemExit(main())
