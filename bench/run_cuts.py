"""python -m bench.run_cuts: a run is killed at random moments, again and again, and then finished.

python -m bench.run_cuts                 50 cuts on a SQLite file and 50 on a PostgreSQL server that is started for it
python -m bench.run_cuts --cuts 10 --sqlite
python -m bench.run_cuts --seed 4

In the end the study must equal that of a run which nobody interrupted, and no reply that was on disk may have been paid
for again. What a cut can cost are replies on their way: given by the provider, and not yet on disk.
"""

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from impactbench.store.engine import connect
from tests.databases import migrated_sqlite_file, postgres_server
from tests.impactbench.runs.cuts import (
    AT_ONCE,
    on_disk,
    paid,
    run_with_cuts,
    study_of,
    time_uninterrupted,
)

CUTS_A_STUDY = 10
"""More would find most studies finished."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.run_cuts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sqlite", action="store_true", help="leave PostgreSQL out")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="impactbench-cuts-")))
        template = migrated_sqlite_file(folder)
        shutil.copy(template, folder / "whole.db")
        whole = f"sqlite:///{folder / 'whole.db'}"
        duration = time_uninterrupted(whole, folder / "whole.ledger")
        kinds = ["sqlite"]
        if not options.sqlite:
            server = stack.enter_context(postgres_server())
            server.make("migrated", migrated=True)
            kinds.append("postgresql")
        print(f"an uninterrupted run takes {duration:.2f} s, {AT_ONCE} calls at once")
        print(
            f"{'database':<12}{'studies':>9}{'cuts':>6}{'in time':>9}{'equal':>7}{'lost replies':>14}{'paid again':>12}"
        )
        status = 0
        for kind in kinds:
            equal = cuts = before_the_end = again = 0
            lost: list[int] = []
            studies = -(-options.cuts // CUTS_A_STUDY)
            for number in range(studies):
                ledger = folder / f"{kind}-{number}.ledger"
                kills = min(CUTS_A_STUDY, options.cuts - cuts)
                with ExitStack() as one:
                    if kind == "sqlite":
                        shutil.copy(template, folder / f"{number}.db")
                        url = f"sqlite:///{folder / f'{number}.db'}"
                    else:
                        url = one.enter_context(server.database(template="migrated"))
                    done = run_with_cuts(
                        url, ledger, kills=kills, longest=duration / 4, seed=options.seed * 1000 + number
                    )
                    equal += study_of(url) == study_of(whole)
                    engine = connect(url)
                    kept = on_disk(engine)
                    engine.dispose()
                cuts += done.kills
                before_the_end += done.before_the_end
                lost += done.lost
                again += sum((paid(ledger) - kept).values()) - sum(done.lost)
            print(
                f"{kind:<12}{studies:>9}{cuts:>6}{before_the_end:>9}{equal:>7}"
                f"{f'{sum(lost)}, most {max(lost)}':>14}{again:>12}"
            )
            status |= equal != studies or again != 0 or max(lost) > AT_ONCE
        return status


if __name__ == "__main__":
    raise SystemExit(main())
