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
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.desk import lengthen
from impactbench.store.engine import connect
from tests.browser.cuts import rate_through_cuts
from tests.browser.desks import plain_turns, set_desks
from tests.browser.serving import Workbench
from tests.databases import migrated_sqlite_file, postgres_server

RATERS = ("kestrel", "wren", "heron")
LONGEST_WAIT = 0.3
"""Seconds from the first label that is kept after a start until the cut, at most; a save takes some milliseconds."""
ITEMS_A_CUT = 20
"""How many conversations each rater needs for a cut, and more: whoever has none left saves nothing more."""


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
    # A fork of a process that has imported everything is killed like any other, and there again in half a second.
    engine, bench = connect(url), Workbench(url, folder)
    desks = set_desks(engine, [plain_turns(1)], *RATERS, base_url=bench.address)
    for name in RATERS:
        lengthen(engine, name, 100 + cuts * ITEMS_A_CUT)
    began = time.monotonic()
    bench.start()

    def tell(done: int, acknowledged: int) -> None:
        print(
            f"cut {done} of {cuts}, {time.monotonic() - began:.0f} s: {acknowledged} labels acknowledged",
            flush=True,
        )

    try:
        seen = rate_through_cuts(
            bench,
            engine,
            {name: desks[name] for name in RATERS},
            cuts=cuts,
            longest_wait=LONGEST_WAIT,
            seed=seed,
            after_each=tell,
        )
    finally:
        bench.kill()
        engine.dispose()
    print(
        f"{seen.cuts} cuts in {time.monotonic() - began:.0f} s: {seen.acknowledged} labels acknowledged, {seen.stored} stored,"
        f" {seen.repeated} sent again; lost {seen.lost}, doubled {seen.doubled}, altered {seen.altered}"
    )
    return int(bool(seen.lost or seen.doubled or seen.altered or seen.cuts < cuts or not seen.acknowledged))


if __name__ == "__main__":
    raise SystemExit(main())
