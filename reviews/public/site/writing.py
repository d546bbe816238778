"""Writes the site: beside its place first, then into it, so that nobody ever sees half of it."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from impactbench.domain import ImpactBenchError
from impactbench.rates.metric_tally import MetricName
from impactbench.store import frames
from reviews.public.cases import Case, cases
from reviews.public.changes import PublicDecision, public_decisions
from reviews.public.conversations import all_verdicts
from reviews.public.releasing import public_studies
from reviews.public.results import PublicResults, read_public
from reviews.public.site.data_files import data_files, data_names
from reviews.public.site.explore_page import explore_page
from reviews.public.site.more_pages import more_pages, titles
from reviews.public.site.pages import File, Press, file_name, front_page, label_pages
from reviews.public.site.scenario_pages import metric_pages
from reviews.public.site.statistics_page import statistics_files

MARKER = "impactbench-site.json"
"""Says that a folder was written by this program, which may write it again."""

Progress = Callable[[int, int], None]


class PublishRefused(ImpactBenchError):
    """A site that cannot be written; the text says what comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What was written."""

    folder: Path
    studies: tuple[str, ...]
    pages: int
    bytes: int


def publish_site(
    engine: Engine, folder: Path, *, studies: Sequence[str] = (), on_progress: Progress | None = None
) -> Published:
    """Write the released studies as plain files. The same data give the same bytes.

    Args:
        engine: the database.
        folder: where; a site that was written there before is replaced, anything else is refused.
        studies: which of the released ones; all by default.
        on_progress: told how many of the behaviours are written, and how many there are.

    Raises:
        PublishRefused: nothing is released, or the folder holds something else.
        NotReleased: a study that is named is not public.
    """
    slugs = list(studies) or [study.slug for study in public_studies(engine)]
    if not slugs:
        raise PublishRefused(
            "no study is released: release one with `impactbench release-study STUDY`, then publish again"
        )
    _require_ours(folder)
    read = [read_public(engine, slug) for slug in dict.fromkeys(slugs)]
    half_done = folder.parent / f"{folder.name}.writing"
    shutil.rmtree(half_done, ignore_errors=True)
    half_done.mkdir(parents=True)
    pages = size = 0
    try:
        for path, content in _site(engine, read, on_progress or (lambda _done, _total: None)):
            place = half_done / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            pages, size = pages + path.endswith(".html"), size + len(content)
        _swap(half_done, folder)
    finally:
        shutil.rmtree(half_done, ignore_errors=True)
    return Published(folder=folder, studies=tuple(one.study.slug for one in read), pages=pages, bytes=size)


def _require_ours(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise PublishRefused(f"{folder} is a file; give the name of a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).exists():
        raise PublishRefused(
            f"{folder} holds files that are no site of this program ({MARKER} is missing): give another folder"
        )


def _swap(made: Path, folder: Path) -> None:
    if not folder.exists():
        made.rename(folder)
        return
    old = folder.parent / f"{folder.name}.old"
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    made.rename(folder)
    shutil.rmtree(old)


def _site(engine: Engine, read: Sequence[PublicResults], progress: Progress) -> Iterator[File]:
    press, done = Press.ready(), 0
    total = sum(len(results.metrics) for results in read)
    progress(0, total)
    for results in read:
        folder = file_name(results.study.slug)
        verdicts = all_verdicts(engine, results)
        marked, decided = cases(engine, results), public_decisions(engine, results)
        wordings = _wordings(engine)
        for path, content in _front(press, results, verdicts, marked, decided):
            yield f"{folder}/{path}", content
        of_metric = dict(iter(verdicts.groupby("metric_version_id")))
        for metric in results.metrics.values():
            own = of_metric.get(metric.metric_version_id, verdicts.iloc[:0])
            for path, content in metric_pages(
                press,
                engine,
                results,
                metric,
                verdicts=own,
                cases=marked,
                decisions=[one for one in decided if one.metric == "/".join(metric.key)],
                versions=wordings[metric.key],
            ):
                yield f"{folder}/{path}", content
            done += 1
            progress(done, total)
    yield "index.html", press.page("index", sites=[_card(results) for results in read])
    marker = {"made_by": "impactbench publish", "studies": [results.study.slug for results in read]}
    yield MARKER, (json.dumps(marker, indent=1) + "\n").encode()


def _wordings(engine: Engine) -> dict[MetricName, list[dict[str, Any]]]:
    """The wordings of each metric, newest first: version, day, why."""
    found: dict[MetricName, list[dict[str, Any]]] = {}
    for row in frames.metrics(engine).to_dict("records"):
        why = row["changed_because"] or ("first version" if row["version"] == 1 else "no reason was given")
        day = f"{row['created_at']:%d %B %Y}".lstrip("0")
        found.setdefault((row["benchmark"], row["metric"]), []).insert(
            0, {"version": row["version"], "day": day, "why": why}
        )
    return found


def _front(
    press: Press,
    results: PublicResults,
    verdicts: pd.DataFrame,
    marked: list[Case],
    decided: list[PublicDecision],
) -> Iterator[File]:
    more = titles(results, cases=marked, decisions=decided)
    yield front_page(press, results, data=data_names(results), more=more)
    yield from label_pages(press, results)
    yield explore_page(press, results)
    yield from statistics_files(press, results)
    yield from more_pages(press, results, cases=marked, decisions=decided)
    yield from data_files(results, verdicts)


def _card(results: PublicResults) -> dict[str, Any]:
    released = results.study.released_at
    return {
        "folder": file_name(results.study.slug),
        "study": results.study,
        "n_models": len(results.tally.models),
        "n_metrics": len(results.metrics),
        "n_scored": int(results.tally.scored.sum()),
        "released": f"{released:%d %B %Y}".lstrip("0") if released else "not released",
    }
