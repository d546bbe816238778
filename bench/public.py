"""How long the public view takes: every page in a browser, what the pages ask for, and the two long commands.

python -m bench.public                      every page on 48,540 synthetic conversations, then the functions behind them
python -m bench.public --platform DIR       every page on the published platform's data, its import and the site before
python -m bench.public --only explore       the pages whose names begin so
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine

from bench.public_browser import Place, measure, places
from bench.public_study import CONVERSATIONS, STUDY, fill
from impactbench.domain import Role
from impactbench.store import frames
from impactbench.store import tables as t
from impactbench.store.engine import connect, upgrade, writing
from reviews.public.cases import mark_case
from reviews.public.conversations import transcript, verdicts_of
from reviews.public.explore import metric_rates, model_order, place_rates
from reviews.public.nutrition import nutrition_labels
from reviews.public.over_time import over_time
from reviews.public.paper import paper_statistics
from reviews.public.releasing import release_study
from reviews.public.results import kept_public
from tests.browser.serving import Workbench

PLATFORM = "platform"
Result = TypeVar("Result")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.public",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--platform", type=Path, help="the folder with the published platform's data")
    parser.add_argument("--only", default="", help="pages whose names begin so")
    parser.add_argument("--times", type=int, default=1, help="visits of each kind; their median is shown")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'study.db'}"
        engine = connect(url)
        upgrade(engine)
        if options.platform is not None:
            study, seen = _platform(engine, url, options.platform, folder, commands=not options.only)
        else:
            study, seen = _large(engine, functions=not options.only)
        engine.dispose()
        seen = [place for place in seen if place.name.startswith(options.only)]
        workbench = Workbench(url, folder)
        workbench.start()
        try:
            met = measure(workbench.address, study, seen, times=options.times)
        finally:
            workbench.kill()
    return 0 if met else 1


def _platform(
    engine: Engine, url: str, data: Path, folder: Path, *, commands: bool
) -> tuple[str, Sequence[Place]]:
    command(url, "import", "platform", data, "--study", PLATFORM)
    release_study(engine, PLATFORM, transcripts=True)
    if commands:
        command(url, "publish", folder / "site")
    results = kept_public(engine, PLATFORM)
    print(f"{int(results.tally.scored.sum()):,} verdicts of the published platform; seconds")
    first = next(iter(results.metrics))
    return PLATFORM, places(model=results.tally.models[0], metric="__".join(first), conversation=None)


def _large(engine: Engine, *, functions: bool) -> tuple[str, Sequence[Place]]:
    fill(engine)
    release_study(engine, STUDY, transcripts=True)
    with writing(engine) as session:
        maintainer = t.Rater(pseudonym="Maintainer", role=Role.MAINTAINER)
        session.add(maintainer)
        session.flush()
        number = maintainer.id or 0
    judged = frames.metrics(engine).iloc[0]
    mark_case(
        engine,
        STUDY,
        conversation_id=1,
        metric_version_id=int(judged["metric_version_id"]),
        marked_by=number,
        first_turn=2,
    )
    if functions:
        print(f"{CONVERSATIONS:,} conversations; seconds by the clock, seconds of the processor")
        for again in ("cold", "warm"):
            ask(engine, again)
    key = f"{judged['benchmark']}__{judged['metric']}"
    print(f"{CONVERSATIONS:,} conversations; seconds")
    return STUDY, places(model="model-0", metric=key, conversation="1")


def ask(engine: Engine, again: str) -> None:
    results = timed(f"results, {again}", lambda: kept_public(engine, STUDY))
    first = next(iter(results.metrics.values()))
    timed(f"label by subarea, {again}", lambda: nutrition_labels(results))
    timed(f"rates of every metric, {again}", lambda: metric_rates(results))
    timed(f"rates by subarea, {again}", lambda: place_rates(results, level="subarea"))
    timed(f"order of the models, {again}", lambda: model_order(results, weights="benchmark"))
    timed(f"statistics of a paper, {again}", lambda: paper_statistics(results))
    verdicts = timed(f"verdicts on a metric, {again}", lambda: verdicts_of(engine, results, first))
    one = verdicts[0].conversation_id
    timed(f"a transcript, {again}", lambda: transcript(engine, results, first, one))
    timed(f"a metric over time, {again}", lambda: over_time(results, first.benchmark, first.metric))


def timed(what: str, ask: Callable[[], Result]) -> Result:
    clock, processor = time.perf_counter(), time.process_time()
    result = ask()
    print(f"{what:35} {time.perf_counter() - clock:7.3f} {time.process_time() - processor:7.3f}")
    return result


def command(url: str, *arguments: object) -> None:
    """Run a command of the program and print how long it took."""
    clock, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "app.cli", *map(str, arguments)],
        env={**os.environ, "IMPACTBENCH_DATABASE_URL": url},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    name = " ".join(map(str, arguments[:2])) if arguments[0] == "import" else str(arguments[0])
    print(
        f"impactbench {name}: {time.perf_counter() - clock:.1f} s, of the processor {spent:.1f} s", flush=True
    )


if __name__ == "__main__":
    raise SystemExit(main())
