"""One metric: what is looked for, how far the judge can be trusted on it, how models did, and the conversations."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from app.public import data
from app.public.pages.case_form import case_form
from app.public.pages.conversation import conversation, passed_in_words
from app.public.pages.scenarios import scenarios
from app.public.parts import answer, heading, link, text
from app.public.places import (
    where_label_is,
    where_metrics_are,
    where_over_time_is,
)
from app.public.tables import Cell, table
from app.public.visit import Visit
from impactbench.domain import Polarity
from reviews.public.conversations import PublicVerdict, transcript
from reviews.public.evidence_marks import evidence_mark
from reviews.public.over_time import histories
from reviews.public.results import PublicMetric
from reviews.public.wording import count

_NOTHING = "none"


def show(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    """The page of a metric; a conversation that the address names stands above all else."""
    read = list(_reader(visit, metric))
    reading = visit.asked.get("conversation", _NOTHING) != _NOTHING
    yield text(link("All metrics", where_metrics_are(visit.study)))
    mark = evidence_mark(metric.checked)
    yield answer(f"{_polarity(metric)} {mark.short}.", mark.sentence)
    if reading:
        yield from read
    yield from _about(metric)
    yield from _by_model(visit, metric)
    yield from scenarios(visit, metric)
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
    rows, names = data.counts_of(visit, metric), visit.results.names
    unscored = ["No verdict"] if any(row["unscored"] for row in rows) else []
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
            for row in rows
        ],
        caption="In how many conversations each model passed",
    )


def _of(passed: int, scored: int) -> Cell:
    return Cell(text=f"{passed} of {scored}" if scored else "not tested", whole=True)


def _reader(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    """One conversation to read."""
    verdicts = data.verdicts(visit, metric)
    with_words = [one for one in verdicts if one.has_words]
    if visit.study.under_review:
        why_not = (
            "Experts are at work on this study. Until their results are reported, no conversation is shown."
        )
    elif not visit.study.transcripts:
        why_not = "The conversations of this study are not public."
    elif not with_words:
        why_not = "These verdicts came without their conversations."
    else:
        why_not = ""
    found = "" if why_not else _chosen(visit, metric, with_words)
    visit.choices.keep("metric", metric.word)
    yield visit.choices.form()
    yield heading("Conversations")
    if why_not:
        yield text(why_not)
    elif found:
        yield from _conversation(visit, metric, int(found))


def _chosen(visit: Visit, metric: PublicMetric, verdicts: Sequence[PublicVerdict]) -> str:
    """The conversation to read; empty where none was chosen."""
    results, marked = visit.results, data.cases_of(visit, metric)

    def shown(one: PublicVerdict) -> str:
        said = f"{one.scenario} · {one.age} · {results.names[one.model]} · {passed_in_words(one.passed)}"
        read = results.checks.labels.get((one.conversation_id, metric.metric_version_id))
        case = " · marked as a case" if one.conversation_id in marked else ""
        return f"{said}{' · read by experts' if read else ''}{case}"

    options = {_NOTHING: "Choose …", **{str(one.conversation_id): shown(one) for one in verdicts}}
    chosen = visit.choices.one("Read a conversation", options, name="conversation")
    return "" if chosen == _NOTHING else chosen


def _conversation(visit: Visit, metric: PublicMetric, number: int) -> Iterator[Markup]:
    results = visit.results
    found = transcript(visit.engine, results, metric, number)
    if found is not None:
        case = data.cases_of(visit, metric).get(found.conversation_id)
        yield from conversation(found, case=case, called=results.names[found.model])
        if visit.maintains:
            yield case_form(visit, metric, found, case)


def _change_log(visit: Visit, metric: PublicMetric) -> Iterator[Markup]:
    yield heading("Change log")
    versions = data.versions_of(visit, metric)
    for row in versions:
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
    if histories(visit.results)[metric.key].changes:
        yield text(link("This behaviour over time", where_over_time_is(visit.study, metric.key)))
