"""The pages of one study, one file after the other: the label of each model, the comparison, each behaviour."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from impactbench.domain import Polarity
from impactbench.rates.metric_tally import AGES
from reviews.public.explore import Level, Order, model_order, place_rates
from reviews.public.nutrition import EVERYTHING, LabelLine, NutritionLabel, nutrition_labels
from reviews.public.results import PublicMetric, PublicResults
from reviews.public.site.pictures import intervals
from reviews.public.site.words import mark, points, share

File = tuple[str, bytes]
"""A path below the folder of the site, and what is in it."""
LEVELS: tuple[tuple[Level, str], ...] = (
    ("area", "domain"),
    ("subarea", "subarea"),
    ("benchmark", "benchmark"),
)
_SIDES = (
    ("promotes", "What it promotes", "Behaviours that are wanted: how often they are there."),
    ("avoids", "What it avoids", "Behaviours that are unwanted: how often they are not there."),
)


@dataclass(frozen=True, slots=True)
class Press:
    """Turns values into pages; everything that is put in is escaped."""

    environment: Environment
    style: Markup
    script: Markup

    @classmethod
    def ready(cls) -> "Press":
        folder = resources.files("reviews.public.site") / "templates"

        def source(name: str) -> str:
            return (folder / name).read_text(encoding="utf-8")

        environment = Environment(
            autoescape=True,
            undefined=StrictUndefined,
            loader=FunctionLoader(source),
            keep_trailing_newline=True,
        )
        return cls(environment, Markup(source("style.css")), Markup(source("tables.js")))  # noqa: S704

    def page(self, template: str, **values: Any) -> bytes:
        """A page as it stands in its file."""
        made = self.environment.get_template(f"{template}.html.j2")
        return made.render(style=self.style, script=self.script, **values).encode()


def file_name(name: str) -> str:
    """A name that any file system and address can carry, and that no other name has.

    >>> file_name("gpt-5"), file_name("a/b") == file_name("a-b")
    ('gpt-5', False)
    """
    plain = re.sub(r"[^a-z0-9._-]+", "-", name).strip(".-")[:80]
    return plain if plain == name else f"{plain or 'x'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def metric_page(metric: PublicMetric) -> str:
    return f"metric/{file_name(f'{metric.benchmark}--{metric.metric}')}.html"


def label_page(model: str) -> str:
    return f"label/{file_name(model)}.html"


def front_page(press: Press, results: PublicResults, data: Sequence[str]) -> File:
    """The study's first page."""
    providers = dict(zip(results.models["model"], results.models["provider"], strict=True))
    page = press.page(
        "study",
        study=results.study,
        judge=results.judge or "no judge yet",
        n_scored=int(results.tally.scored.sum()),
        checked_metrics=sum(one.checked.n_experts > 0 for one in results.metrics.values()),
        labels=[
            {"href": label_page(model), "model": model, "provider": providers[model]}
            for model in results.tally.models
        ],
        metrics=[
            {"href": metric_page(metric), "metric": metric, "mark": mark(metric.checked)}
            for metric in sorted(results.metrics.values(), key=lambda one: (one.name.casefold(), one.key))
        ],
        data=list(data),
    )
    return "index.html", page


def label_pages(press: Press, results: PublicResults) -> Iterator[File]:
    """The label of each model."""
    for model, label in nutrition_labels(results).items():
        sides = [
            {
                "title": title,
                "explained": explained,
                "caption": f"{title}: shares of conversations",
                "picture": _picture(
                    getattr(label, side), title=f"{model}: {title.lower()}, rates with intervals"
                ),
                "lines": [
                    {
                        "line": line,
                        "rate": share(line.rate),
                        "teen": share(line.teen),
                        "adult": share(line.adult),
                        "mark": mark(line.checked),
                    }
                    for line in getattr(label, side)
                ],
            }
            for side, title, explained in _SIDES
            if getattr(label, side)
        ]
        page = press.page("label", study=results.study, label=label, answer=_answer(label), sides=sides)
        yield label_page(model), page


def _picture(lines: Sequence[LabelLine], *, title: str) -> Markup:
    return intervals([(line.heading, line.rate, line.checked.known) for line in lines], title=title)


def _answer(label: NutritionLabel) -> str:
    said = []
    for lines, words in (
        (label.promotes, "shows wanted behaviours in"),
        (label.avoids, "avoids unwanted behaviours in"),
    ):
        whole = next((line for line in lines if line.heading == EVERYTHING), None)
        if whole is not None:
            said.append(f"{words} {share(whole.rate)} of the conversations about them")
    every = (*label.promotes, *label.avoids)
    unknown = sum(not line.checked.known for line in every)
    sentence = f"{label.model} {' and '.join(said)}." if said else f"Nothing of {label.model} was judged."
    return (
        f"{sentence} For {unknown} of the {len(every)} lines below, experts have not confirmed the judge."
        if unknown
        else sentence
    )


def explore_page(press: Press, results: PublicResults) -> File:
    """The models compared."""
    known = results.checks.of([one.metric_version_id for one in results.metrics.values()]).known
    orders = [
        _order("Every conversation alike", model_order(results), known=known),
        _order("Every benchmark alike", model_order(results, weights="benchmark"), known=known),
    ]
    first = model_order(results).ranking
    settled = sum(one.lowest == one.highest for one in first.models)
    answer = (
        f"Of {len(first.models)} models, {settled} have a place that the data settle;"
        " the others share theirs. There is no winner to name where rank ranges overlap."
    )
    places = [
        {
            "level": level_word,
            "place": row.place,
            "model": row.model,
            "rate": share(row.rate),
            "positive": share(row.positive),
            "negative": share(row.negative),
            "ages": points(row.teen_minus_adult),
            "n": row.n_metrics,
        }
        for level, level_word in LEVELS
        for row in place_rates(results, level=level)
    ]
    return "explore.html", press.page(
        "explore", study=results.study, answer=answer, orders=orders, places=places
    )


def _order(title: str, order: Order, *, known: bool) -> dict[str, Any]:
    rows = order.ranking.models
    return {
        "title": title,
        "caption": f"{title}: models by the share that passes over {order.n_metrics} behaviours",
        "picture": intervals(
            [(str(row.name), row.rate, known) for row in rows],
            title=f"{title}: rates with intervals",
        ),
        "rows": [
            {
                "href": label_page(str(row.name)),
                "model": row.name,
                "rate": share(row.rate),
                "ranks": f"{row.lowest}" if row.lowest == row.highest else f"{row.lowest} to {row.highest}",
            }
            for row in rows
        ],
    }


def metric_cells(results: PublicResults, metric: PublicMetric) -> list[Mapping[str, Any]]:
    """Passed of scored conversations of each model on a metric: both ages, teens, adults."""
    tally = results.tally
    m = tally.metrics.index(metric.key)
    found: list[Mapping[str, Any]] = []
    for j, model in enumerate(tally.models):
        passed = [int(tally.passed[m, j]), *(int(tally.passed_by_age[m, j, a]) for a in range(len(AGES)))]
        scored = [int(tally.scored[m, j]), *(int(tally.scored_by_age[m, j, a]) for a in range(len(AGES)))]
        cells = [f"{p} of {n}" if n else "not scored" for p, n in zip(passed, scored, strict=True)]
        found.append({"model": model, "cells": cells})
    return found


def polarity_word(present: bool, polarity: str) -> str:
    """What a verdict comes to.

    >>> polarity_word(False, "negative")
    'passed'
    """
    return "passed" if present == (polarity == Polarity.POSITIVE) else "failed"
