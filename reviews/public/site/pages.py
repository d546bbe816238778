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
from reviews.public.evidence_marks import evidence_mark
from reviews.public.nutrition import EVERYTHING, LabelLine, NutritionLabel, nutrition_labels
from reviews.public.results import PublicMetric, PublicResults
from reviews.public.site.pictures import intervals
from reviews.public.wording import in_hundred

File = tuple[str, bytes]
"""A path below the folder of the site, and what is in it."""
_SIDES = (
    ("promotes", "What it promotes: helpful behaviour", "Helpful behaviour: how often it is there."),
    ("avoids", "What it avoids: harmful behaviour", "Harmful behaviour: how often it is not there."),
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


def scenario_page(metric: PublicMetric, scenario: str) -> str:
    return f"scenario/{file_name(f'{metric.benchmark}--{metric.metric}--{scenario}')}.html"


def label_page(model: str) -> str:
    return f"label/{file_name(model)}.html"


def front_page(
    press: Press, results: PublicResults, *, data: Sequence[str], more: Sequence[tuple[str, str]]
) -> File:
    """The study's first page, with the names of its data files and the addresses and titles of its other pages."""
    providers = dict(zip(results.models["model"], results.models["provider"], strict=True))
    page = press.page(
        "study",
        study=results.study,
        judge=results.judge or "no judge yet",
        n_scored=int(results.tally.scored.sum()),
        checked_metrics=sum(one.checked.n_experts > 0 for one in results.metrics.values()),
        labels=[
            {"href": label_page(model), "model": results.names[model], "provider": providers[model]}
            for model in results.tally.models
        ],
        metrics=[
            {"href": metric_page(metric), "metric": metric, "mark": evidence_mark(metric.checked)}
            for metric in sorted(results.metrics.values(), key=lambda one: (one.name.casefold(), one.key))
        ],
        data=list(data),
        more=list(more),
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
                    getattr(label, side),
                    title=f"{results.names[model]}: {title.lower()}, rates with intervals",
                ),
                "lines": [
                    {
                        "line": line,
                        "rate": in_hundred(line.rate),
                        "teen": in_hundred(line.teen),
                        "adult": in_hundred(line.adult),
                        "mark": evidence_mark(line.checked),
                    }
                    for line in getattr(label, side)
                ],
            }
            for side, title, explained in _SIDES
            if getattr(label, side)
        ]
        page = press.page(
            "label",
            study=results.study,
            label=label,
            name=results.names[model],
            answer=_answer(label, results.names[model]),
            sides=sides,
        )
        yield label_page(model), page


def _picture(lines: Sequence[LabelLine], *, title: str) -> Markup:
    return intervals([(line.heading, line.rate, line.checked.known) for line in lines], title=title)


def _answer(label: NutritionLabel, name: str) -> str:
    said = []
    for lines, words in (
        (label.promotes, "shows helpful behaviour in"),
        (label.avoids, "avoids harmful behaviour in"),
    ):
        whole = next((line for line in lines if line.heading == EVERYTHING), None)
        if whole is not None:
            said.append(f"{words} {in_hundred(whole.rate)} of the conversations about it")
    every = (*label.promotes, *label.avoids)
    unknown = sum(not line.checked.known for line in every)
    sentence = f"{name} {' and '.join(said)}." if said else f"Nothing of {name} was judged."
    return (
        f"{sentence} For {unknown} of the {len(every)} lines below, experts have not confirmed the judge."
        if unknown
        else sentence
    )


def metric_cells(results: PublicResults, metric: PublicMetric) -> list[Mapping[str, Any]]:
    """Passed of scored conversations of each model on a metric: both ages, teens, adults."""
    tally = results.tally
    m = tally.metrics.index(metric.key)
    found: list[Mapping[str, Any]] = []
    for j, model in enumerate(tally.models):
        passed = [int(tally.passed[m, j]), *(int(tally.passed_by_age[m, j, a]) for a in range(len(AGES)))]
        scored = [int(tally.scored[m, j]), *(int(tally.scored_by_age[m, j, a]) for a in range(len(AGES)))]
        cells = [f"{p} of {n}" if n else "not scored" for p, n in zip(passed, scored, strict=True)]
        found.append({"model": results.names[model], "cells": cells})
    return found


def polarity_word(present: bool, polarity: str) -> str:
    """What a verdict comes to.

    >>> polarity_word(False, "negative")
    'passed'
    """
    return "passed" if present == (polarity == Polarity.POSITIVE) else "failed"
