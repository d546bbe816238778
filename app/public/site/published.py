"""Which addresses of the public view become files, and what these are called."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.public.pages.explore import VIEWS
from impactbench.domain import AgeVariant, Polarity
from impactbench.rates.metric_tally import MetricName
from reviews.public.conversations import PublicVerdict
from reviews.public.explore import members
from reviews.public.over_time import histories, over_time
from reviews.public.results import PublicResults
from validation.contested import Status

Query = Mapping[str, str]
Verdicts = Mapping[MetricName, Sequence[PublicVerdict]]
_Address = tuple[str, frozenset[tuple[str, str]]]


@dataclass(slots=True)
class Published:
    """The files of a site by the addresses that they stand for."""

    files: dict[_Address, str] = field(default_factory=dict)
    pages: dict[str, tuple[str, Query]] = field(default_factory=dict)
    """File -> the path and the choices that it is written from."""

    def add(self, path: str, query: Query, file: str) -> None:
        """A page and where it is written."""
        self.pages.setdefault(file, (path, query))
        self.also(path, query, file)

    def also(self, path: str, query: Query, file: str) -> None:
        """Another address for a file, or for a place in it."""
        self.files.setdefault((path, frozenset(query.items())), file)

    def find(self, path: str, query: Query) -> str | None:
        return self.files.get((path, frozenset(query.items())))


def file_name(name: str) -> str:
    """A name that any file system and address can carry, and that no other name has.

    >>> file_name("gpt-5"), file_name("a/b") == file_name("a-b")
    ('gpt-5', False)
    """
    plain = re.sub(r"[^a-z0-9._-]+", "-", name).strip(".-")[:80]
    return plain if plain == name else f"{plain or 'x'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def add_study(published: Published, results: PublicResults, verdicts: Verdicts) -> None:
    """Everything that is written of a study.

    Args:
        published: takes it.
        results: the study.
        verdicts: every one of them, from `all_verdicts`; none while experts are at work.
    """
    slug = results.study.slug
    folder = file_name(slug)
    for path in ("statistics", "cases", "change-log"):
        published.add(path, {"study": slug}, f"{folder}/{path}.html")
    for n, model in enumerate(results.tally.models):
        file = f"{folder}/label/{file_name(model)}.html"
        published.add("label", {"study": slug, "model": model}, file)
        if n == 0:
            published.also("label", {"study": slug}, file)
    if not results.tally.models:
        published.add("label", {"study": slug}, f"{folder}/label.html")
    for path, choices in (("explore", _explored(results)), ("metrics", _listed(results))):
        for query in choices:
            named = "--".join(file_name(f"{name}-{word}") for name, word in query.items())
            file = f"{folder}/{path}/{named}.html" if named else f"{folder}/{path}.html"
            published.add(path, {"study": slug, **query}, file)
    _add_metrics(published, results, verdicts, folder)
    _add_over_time(published, results, folder)


def _explored(results: PublicResults) -> Iterator[Query]:
    """Each question in the states that matter most: a server has the others."""
    ages = [{}, *({"age": age.value} for age in AgeVariant)]
    areas = [{}, *({"area": area} for area in members(results, "area"))]
    kinds = [{}, {"kind": Polarity.NEGATIVE.value}]
    for kind in kinds:
        for weights in ({}, {"weights": "benchmark"}):
            yield from ({**kind, **weights, **age} for age in ages)
    for age in ages:
        yield from ({"view": "both", **age, **area} for area in areas)
    for area in areas:
        yield {"view": "areas", **area}
        yield from ({"view": "areas", "model": model, **area} for model in results.tally.models[1:])
    for view in [one for one in (*VIEWS, "corrected") if one not in ("models", "both", "areas")]:
        yield from ({"view": view, **kind} for kind in kinds)


def _listed(results: PublicResults) -> Iterator[Query]:
    yield {}
    yield from ({"kind": polarity.value} for polarity in Polarity)
    seen = {one.checked.status for one in results.metrics.values()}
    if len(seen) > 1:
        yield from ({"state": status.value} for status in Status if status in seen)


def _add_metrics(published: Published, results: PublicResults, verdicts: Verdicts, folder: str) -> None:
    """Each metric with its scenarios behind it: what is asked for one page serves the next."""
    for key in results.metrics:
        at = {"study": results.study.slug, "metric": results.metrics[key].word}
        published.add("metrics", at, f"{folder}/metric/{file_name('--'.join(key))}.html")
        for one in verdicts[key]:
            file = f"{folder}/scenario/{file_name('--'.join((*key, one.scenario)))}.html"
            published.add("metrics", {**at, "scenario": one.scenario}, file)
            number = str(one.conversation_id)
            published.also("metrics", {**at, "conversation": number}, f"{file}#conversation-{number}")


def _add_over_time(published: Published, results: PublicResults, folder: str) -> None:
    slug, looks = results.study.slug, histories(results)
    changing: list[MetricName] = [key for key, look in looks.items() if look.changes]
    published.add("over-time", {"study": slug}, f"{folder}/over-time.html")
    for key in changing:
        at, named = {"study": slug, "metric": results.metrics[key].word}, file_name("--".join(key))
        models = list(dict.fromkeys(one.model for one in over_time(results, *key)))
        published.add("over-time", at, f"{folder}/over-time/{named}.html")
        for model in models[1:]:
            file = f"{folder}/over-time/{named}--{file_name(model)}.html"
            published.add("over-time", {**at, "model": model}, file)
