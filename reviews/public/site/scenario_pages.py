"""From a behaviour down to the conversations: its page, and a page for each scenario with verdicts and words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from reviews.public.cases import Case
from reviews.public.changes import PublicDecision
from reviews.public.checks import ExpertLabels
from reviews.public.conversations import Transcript, transcripts_of
from reviews.public.evidence_marks import evidence_mark
from reviews.public.results import PublicMetric, PublicResults
from reviews.public.site.more_pages import points_of
from reviews.public.site.pages import File, Press, metric_cells, metric_page, polarity_word, scenario_page


def metric_pages(
    press: Press,
    engine: Engine,
    results: PublicResults,
    metric: PublicMetric,
    *,
    verdicts: pd.DataFrame,
    cases: Sequence[Case],
    decisions: Sequence[PublicDecision],
    versions: Sequence[Mapping[str, Any]],
) -> Iterator[File]:
    """A behaviour and its scenarios.

    Args:
        press: makes the pages.
        engine: the database.
        results: the study.
        metric: the behaviour.
        verdicts: those on it, from `all_verdicts`.
        cases: every marked conversation of the study.
        decisions: those about it that were made known.
        versions: its wordings, newest first.
    """
    spoken: dict[str, list[Transcript]] = {}
    for one in transcripts_of(engine, results, metric):
        if one.turns or one.justification:
            spoken.setdefault(one.scenario, []).append(one)
    scenarios = []
    marked = {case.conversation_id: case for case in cases if (case.benchmark, case.metric) == metric.key}
    for slug, rows in sorted(_by_scenario(verdicts).items()):
        path = scenario_page(metric, slug)
        page = _scenario(press, results, metric, rows, spoken.get(slug, []), marked)
        scenarios.append({"href": f"../{path}", **page})
        yield path, page["bytes"]
    yield (
        metric_page(metric),
        press.page(
            "metric",
            study=results.study,
            metric=metric,
            mark=evidence_mark(metric.checked),
            rates=metric_cells(results, metric),
            scenarios=scenarios,
            points=points_of(results, metric),
            versions=versions,
            decisions=decisions,
        ),
    )


def _by_scenario(verdicts: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The verdicts as plain values, None where there is none: thousands of small tables would take a minute."""
    columns = ["conversation_id", "scenario", "user_goal", "age", "model", "status", "present"]
    plain = verdicts[columns].astype(object)
    plain["present"] = [None if pd.isna(present) else bool(present) for present in verdicts["present"]]
    found: dict[str, list[dict[str, Any]]] = {}
    for values in zip(*(plain[name] for name in columns), strict=True):
        row = dict(zip(columns, values, strict=True))
        found.setdefault(row["scenario"], []).append(row)
    return found


def _scenario(
    press: Press,
    results: PublicResults,
    metric: PublicMetric,
    rows: list[dict[str, Any]],
    spoken: list[Transcript],
    marked: Mapping[int, Case],
) -> dict[str, Any]:
    title, age = rows[0]["user_goal"] or f"Scenario {rows[0]['scenario']}", rows[0]["age"]
    scored = [row["present"] for row in rows if row["present"] is not None]
    passed = sum(polarity_word(present, metric.polarity) == "passed" for present in scored)
    counted = f"{passed} of {len(scored)} models passed"
    answer = f"{counted}: {metric.name}."
    if not spoken:
        why = (
            "This study has verdicts without conversations."
            if all(row["status"] == "labels_only" for row in rows)
            else "The conversations are not public."
        )
        answer = f"{answer} {why}"
    page = press.page(
        "scenario",
        study=results.study,
        metric=metric,
        title=title,
        age=age,
        back=f"../{metric_page(metric)}",
        answer=answer,
        rows=[
            {
                "model": results.names[row["model"]],
                "said": _said(row["present"]),
                "result": _result(row["present"], metric),
                "experts": _experts(
                    results.checks.labels.get((row["conversation_id"], metric.metric_version_id))
                ),
            }
            for row in rows
        ],
        transcripts=[
            {"one": one, "model": results.names[one.model], "case": marked.get(one.conversation_id)}
            for one in spoken
        ],
    )
    return {"title": title, "age": age, "counted": counted, "bytes": page}


def _said(present: bool | None) -> str:
    return "not scored" if present is None else "present" if present else "absent"


def _experts(labels: ExpertLabels | None) -> str:
    """How many experts said what; never who."""
    if labels is None:
        return "not read"
    said = [
        (labels.passed, "passed"),
        (labels.borderline, "borderline"),
        (labels.failed, "failed"),
        (labels.cannot_judge, "could not judge it"),
    ]
    return ", ".join(f"{n} {word}" for n, word in said if n) or "not read"


def _result(present: bool | None, metric: PublicMetric) -> str:
    return "no result" if present is None else polarity_word(present, metric.polarity)
