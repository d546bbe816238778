"""Speed comparisons (all of them by default), or coverage simulations by name.

python -m bench                       every speed comparison, one table
python -m bench alpha_bootstrap       one of them
python -m bench coverage              every coverage simulation beside the specification, two minutes on two cores
python -m bench coverage --reps 400   with fewer repetitions, twenty seconds
python -m bench coverage_prevalence   one group of them
python -m bench --list                the names
"""

import argparse
from collections.abc import Sequence

from bench import coverage
from bench.comparison import main as compare
from bench.simulation import REPS, run
from bench.speed import COMPARISONS

SCRIPTS = {"agreement": [name for name in COMPARISONS if name != "metric_bootstrap"]}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--reps", type=int, default=REPS, help="repetitions of a simulation")
    parser.add_argument("--seed", type=int, default=1, help="of the simulations")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    options = parser.parse_args(arguments)
    known = [*COMPARISONS, *SCRIPTS, *coverage.GROUPS]
    unknown = [name for name in options.names if name not in known]
    if options.list or unknown:
        if unknown:
            parser.error(f"{', '.join(unknown)}: choose from {', '.join(known)}")
        print("\n".join(known))
        return 0
    timed = [
        name for wanted in options.names for name in SCRIPTS.get(wanted, [wanted]) if name in COMPARISONS
    ]
    simulated = [name for name in options.names if name in coverage.GROUPS]
    status = 0
    if timed or not simulated:
        status = compare(COMPARISONS, timed)
    for name in simulated:
        status |= run(coverage.GROUPS[name], reps=options.reps, seed=options.seed)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
