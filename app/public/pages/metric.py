"""One metric: what is looked for, how far the judge can be trusted on it, how models did, and the conversations."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from app.public import data
from app.public.pages.case_form import case_form
from app.public.pages.conversation import conversation
from app.public.parts import answer, heading, link, text
from app.public.places import (
    where_conversation_is,
    where_label_is,
    where_metrics_are,
    where_over_time_is,
)
from app.public.tables import Cell, table
from app.public.visit import Visit
from impactbench.domain import Polarity
from reviews.public.cases import Case
from reviews.public.conversations import transcript
from reviews.public.evidence_marks import evidence_mark
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicMetric
from reviews.public.wording import count

_NOTHING = "none"


def show(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    """The page of a metric; a conversation that the address names stands above all else."""
    read = list(_reader(visit, metric))
    reading = visit.asked.get("conversation", _NOTHING) != _NOTHING
    yield text(link("All metrics", where_metrics_are(visit.study)))
    mark = evidence_mark(metric.checked)
    yield answer(f"{_polarity(metric)} {mark.shape} {mark.word}.", mark.sentence)
    if reading:
        yield from read
    yield from _about(metric)
    yield from _by_model(visit, metric)
    yield from _scenarios(visit, metric)
    if not reading:
        yield from read
    yield from _change_log(visit, metric)


def _polarity(metric: PublicMetric) -> str:
    """What passing means here, in words."""
    if metric.polarity == Polarity.POSITIVE:
        return "A helpful behaviour: a conversation passes when the model shows it."
    return "A harmful behaviour: a conversation passes when the model does not show it."


def _about(metric: PublicMetric) -> Iterator[Markup]:
    for title, words in (
        ("What is looked for", metric.definition),
        ("What experts are asked", metric.question),
        ("When it is not clear", metric.interpretive_clause),
        ("Why it matters", metric.evidence),
    ):
        if words:
            yield heading(title)
            yield text(words)
    written = f", written by {metric.author}" if metric.author else ""
    areas = f" Stands under {', '.join(metric.subareas)}." if metric.subareas else ""
    yield text(f"From {metric.benchmark_name}{written}; version {metric.version}.{areas}")


def _by_model(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    yield heading("How models did")
    yield text("In how many conversations each model passed. With so few, small differences mean nothing.")
    counts, names = data.metric_counts(visit), data.results(visit).names
    rows = counts[(counts["benchmark"] == metric.benchmark) & (counts["metric"] == metric.metric)]
    unscored = ["No verdict"] if rows["unscored"].any() else []
    yield table(
        ["Model", "Passed", "Teens", "Adults", *unscored],
        [
            [
                Cell(text=names[row["model"]], where=where_label_is(visit.study, row["model"]), whole=True),
                _of(row["both_passed"], row["both_scored"]),
                _of(row["teen_passed"], row["teen_scored"]),
                _of(row["adult_passed"], row["adult_scored"]),
                *[str(row["unscored"]) for _ in unscored],
            ]
            for row in rows.to_dict("records")
        ],
        caption="In how many conversations each model passed",
    )


def _of(passed: int, scored: int) -> Cell:
    return Cell(text=f"{passed} of {scored}" if scored else "not tested", whole=True)


def _scenarios(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    if visit.study.under_review:
        return
    yield heading("Scenarios")
    verdicts, names = data.verdicts(visit, metric), data.results(visit).names
    yield table(
        ["Scenario", "What the person wants", "Person", "Passed by", "Not passed by"],
        [_scenario(visit.study, metric, part, names) for _, part in verdicts.groupby("scenario", sort=True)],
        caption="The scenarios, and which models passed in each",
    )


def _reader(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    """One conversation to read."""
    verdicts = data.verdicts(visit, metric)
    open_ones = verdicts[verdicts["status"] != "labels_only"]
    if visit.study.under_review:
        why_not = (
            "Experts are at work on this study. Until their results are reported, no conversation is shown."
        )
    elif not visit.study.transcripts:
        why_not = "The conversations of this study are not public."
    elif open_ones.empty:
        why_not = "These verdicts came without their conversations."
    else:
        why_not = ""
    found = "" if why_not else _chosen(visit, metric, open_ones)
    visit.choices.keep("metric", "__".join(metric.key))
    yield visit.choices.form()
    yield heading("Conversations")
    if why_not:
        yield text(why_not)
    elif found:
        yield from _conversation(visit, metric, int(found))


def _scenario(
    study: PublicStudy, metric: PublicMetric, part: pd.DataFrame, names: Mapping[str, str]
) -> list[Cell | str]:
    first = part.iloc[0]
    by_result: dict[bool, list[tuple[str, str]]] = {True: [], False: []}
    for row in part.to_dict("records"):
        if not pd.isna(row["passed"]):
            where = where_conversation_is(study, metric.key, row["conversation_id"])
            by_result[bool(row["passed"])].append((names[row["model"]], where))
    readable = study.transcripts and first["status"] != "labels_only"
    return [
        Cell(text=first["scenario"], whole=True),
        Cell(text=first["user_goal"], long=True),
        first["age"],
        *(
            Cell(
                text=", ".join(name for name, _ in by_result[passed]) or "none",
                long=True,
                links=by_result[passed] if readable else (),
            )
            for passed in (True, False)
        ),
    ]


def _chosen(visit: Visit, metric: PublicMetric, verdicts: pd.DataFrame) -> str:
    """The conversation to read; empty where none was chosen."""
    results, marked = data.results(visit), _marked(visit, metric)

    def shown(row: Mapping[Any, Any]) -> str:
        said = f"{row['scenario']} · {row['age']} · {results.names[row['model']]} · {_passed(row['passed'])}"
        read = results.checks.labels.get((row["conversation_id"], metric.metric_version_id))
        case = " · marked as a case" if row["conversation_id"] in marked else ""
        return f"{said}{' · read by experts' if read else ''}{case}"

    options = {str(row["conversation_id"]): shown(row) for row in verdicts.to_dict("records")}
    chosen = visit.choices.one("Read a conversation", {_NOTHING: "Choose …", **options}, name="conversation")
    return "" if chosen == _NOTHING else chosen


def _conversation(visit: Visit, metric: PublicMetric, number: int) -> Iterator[Markup]:
    results = data.results(visit)
    found = transcript(visit.engine, results, metric, number)
    if found is not None:
        case = _marked(visit, metric).get(found.conversation_id)
        yield from conversation(found, case=case, called=results.names[found.model])
        if visit.maintains:
            yield case_form(visit, metric, found, case)


def _marked(visit: Visit, metric: PublicMetric) -> dict[int, Case]:
    """The cases of a metric by conversation."""
    return {
        case.conversation_id: case
        for case in data.marked(visit)
        if (case.benchmark, case.metric) == metric.key
    }


def _passed(passed: bool | None) -> str:
    return "no verdict" if pd.isna(passed) else "✓ passed" if passed else "✗ not passed"


def _change_log(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    yield heading("Change log")
    versions = data.versions(visit, metric)
    for row in versions.to_dict("records"):
        why = row["changed_because"] or ("first version" if row["version"] == 1 else "no reason was given")
        yield text(f"Version {row['version']}, {row['created_at']:%d %B %Y} (UTC): {why}")
    for entry in data.decisions(visit):
        if entry.metric == "/".join(metric.key):
            yield text(
                f"{entry.published_at:%d %B %Y} (UTC), decided: {entry.decision.replace('_', ' ')}. {entry.because}"
            )
            if entry.sentence:
                yield text(entry.sentence)
    yield text(f"{count(len(versions), 'version')}; results of different versions are never put together.")
    yield text(link("This behaviour over time", where_over_time_is(visit.study, metric.key)))
