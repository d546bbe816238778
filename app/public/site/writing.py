"""Writes the site: beside its place first, then into it, so that nobody ever sees half of it."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from app.public.contents import whole_sheet
from app.public.document import document, file_of_pages
from app.public.pages.front import front
from app.public.site.data_files import data_files, data_names
from app.public.site.links import Links
from app.public.site.published import Published, add_study, file_name
from app.public.site.rewriting import to_files
from app.public.visit import Visit, choose_study
from impactbench.domain import ImpactBenchError
from reviews.public.conversations import all_verdicts
from reviews.public.releasing import public_studies
from reviews.public.results import PublicResults, kept_public

MARKER = "impactbench-site.json"
"""Says that a folder was written by this program, which may write it again."""
INDEX = "index.html"

Progress = Callable[[int, int], None]
File = tuple[str, bytes]
"""A path below the folder of the site, and what is in it."""


class PublishRefused(ImpactBenchError):
    """A site that cannot be written; the text says what comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written."""

    folder: Path
    studies: tuple[str, ...]
    pages: int
    bytes: int


def publish_site(
    engine: Engine, folder: Path, *, studies: Sequence[str] = (), on_progress: Progress | None = None
) -> Written:
    """Write the released studies as plain files. The same data give the same bytes.

    Args:
        engine: the database.
        folder: where; a site that was written there before is replaced, anything else is refused.
        studies: which of the released ones; all by default.
        on_progress: told how many of the pages are written, and how many there are.

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
    read = [kept_public(engine, slug) for slug in dict.fromkeys(slugs)]
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
    return Written(folder=folder, studies=tuple(one.study.slug for one in read), pages=pages, bytes=size)


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
    published, verdicts = Published(), {}
    published.also("about", {}, INDEX)
    for results in read:
        verdicts[results.study.slug] = all_verdicts(engine, results)
        add_study(published, results, verdicts[results.study.slug])
    for name in ("public.css", "tables.js", "favicon.svg"):
        yield f"files/{name}", file_of_pages(name)
        published.also(f"files/{name}", {}, f"files/{name}")
    studies = [results.study for results in read]
    yield INDEX, _front(engine, read, published)
    yield from _pages(engine, {results.study.slug: results for results in read}, published, progress)
    for results in read:
        folder = file_name(results.study.slug)
        for path, content in data_files(results, verdicts[results.study.slug]):
            yield f"{folder}/{path}", content
    marker = {"made_by": "impactbench publish", "studies": [study.slug for study in studies]}
    yield MARKER, (json.dumps(marker, indent=1) + "\n").encode()


def _front(engine: Engine, read: Sequence[PublicResults], published: Published) -> bytes:
    data = {
        results.study.slug: [f"/{file_name(results.study.slug)}/data/{name}" for name in data_names(results)]
        for results in read
    }
    for names in data.values():
        for name in names:
            published.also(name.lstrip("/"), {}, name.lstrip("/"))
    sheet = front(engine, [results.study for results in read], data=data)
    return to_files(document(sheet, on_file=True), INDEX, published)


def _pages(
    engine: Engine, read: Mapping[str, PublicResults], published: Published, progress: Progress
) -> Iterator[File]:
    studies, total = [results.study for results in read.values()], len(published.pages)
    progress(0, total)
    for done, (file, (path, asked)) in enumerate(published.pages.items(), start=1):
        choices = Links(asked, path=path, published=published)
        study = choose_study(studies, choices)
        visit = Visit(
            engine=engine,
            looking=None,
            study=study,
            results=read[study.slug],
            asked=asked,
            choices=choices,
            on_file=True,
        )
        page = document(whole_sheet(path, visit), path=path, study=study.slug, on_file=True)
        yield file, to_files(page, file, published)
        progress(done, total)
