"""One metric: what is looked for, how far the judge can be trusted on it, how models did, and the conversations."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from app import public_data, workspace
from app.components.permalinks import choose
from app.components.plain_text import heading
from app.components.public_tables import Cell, table
from app.views.public.case_form import case_form
from app.views.public.conversation import conversation
from app.views.public.places import (
    where_conversation_is,
    where_label_is,
    where_metrics_are,
    where_over_time_is,
)
from impactbench.domain import Polarity
from reviews.public.conversations import transcript
from reviews.public.evidence_marks import evidence_mark
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicMetric
from reviews.public.wording import count

_NOTHING = "none"


def show(study: PublicStudy, metric: PublicMetric) -> None:
    """The page of a metric."""
    st.html(f'<a href="{where_metrics_are(study)}" target="_self">All metrics</a>')
    heading(metric.name)
    mark = evidence_mark(metric.checked)
    st.markdown(f"**{_polarity(metric)} {mark.shape} {mark.word}.** {mark.sentence}")
    reading = st.query_params.get("conversation", _NOTHING) != _NOTHING
    if reading:
        _reader(study, metric)
    _about(metric)
    _by_model(study, metric)
    _scenarios(study, metric)
    if not reading:
        _reader(study, metric)
    _change_log(study, metric)


def _polarity(metric: PublicMetric) -> str:
    """What passing means here, in words."""
    if metric.polarity == Polarity.POSITIVE:
        return "A helpful behaviour: a conversation passes when the model shows it."
    return "A harmful behaviour: a conversation passes when the model does not show it."


def _about(metric: PublicMetric) -> None:
    for title, text in (
        ("What is looked for", metric.definition),
        ("What experts are asked", metric.question),
        ("When it is not clear", metric.interpretive_clause),
        ("Why it matters", metric.evidence),
    ):
        if text:
            st.subheader(title, anchor=False)
            st.text(text)
    written = f", written by {metric.author}" if metric.author else ""
    areas = f" Stands under {', '.join(metric.subareas)}." if metric.subareas else ""
    st.text(f"From {metric.benchmark_name}{written}; version {metric.version}.{areas}")


def _by_model(study: PublicStudy, metric: PublicMetric) -> None:
    st.subheader("How models did", anchor=False)
    st.text("In how many conversations each model passed. With so few, small differences mean nothing.")
    counts, names = public_data.metric_counts(study), public_data.results(study).names
    rows = counts[(counts["benchmark"] == metric.benchmark) & (counts["metric"] == metric.metric)]
    unscored = ["No verdict"] if rows["unscored"].any() else []
    st.html(
        table(
            ["Model", "Passed", "Teens", "Adults", *unscored],
            [
                [
                    Cell(text=names[row["model"]], where=where_label_is(study, row["model"]), whole=True),
                    _of(row["both_passed"], row["both_scored"]),
                    _of(row["teen_passed"], row["teen_scored"]),
                    _of(row["adult_passed"], row["adult_scored"]),
                    *[str(row["unscored"]) for _ in unscored],
                ]
                for row in rows.to_dict("records")
            ],
            caption="In how many conversations each model passed",
        )
    )


def _of(passed: int, scored: int) -> Cell:
    return Cell(text=f"{passed} of {scored}" if scored else "not tested", whole=True)


def _scenarios(study: PublicStudy, metric: PublicMetric) -> None:
    if study.under_review:
        return
    st.subheader("Scenarios", anchor=False)
    verdicts, names = public_data.verdicts(study, metric), public_data.results(study).names
    st.html(
        table(
            ["Scenario", "What the person wants", "Person", "Passed by", "Not passed by"],
            [_scenario(study, metric, part, names) for _, part in verdicts.groupby("scenario", sort=True)],
            caption="The scenarios, and which models passed in each",
        )
    )


def _reader(study: PublicStudy, metric: PublicMetric) -> None:
    """One conversation to read, above all else where the address names it."""
    st.subheader("Conversations", anchor=False)
    verdicts = public_data.verdicts(study, metric)
    open_ones = verdicts[verdicts["status"] != "labels_only"]
    if study.under_review:
        st.text(
            "Experts are at work on this study. Until their results are reported, no conversation is shown."
        )
    elif not study.transcripts:
        st.text("The conversations of this study are not public.")
    elif open_ones.empty:
        st.text("These verdicts came without their conversations.")
    else:
        _choose(study, metric, open_ones)


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


def _choose(study: PublicStudy, metric: PublicMetric, verdicts: pd.DataFrame) -> None:
    results = public_data.results(study)
    marked = {
        case.conversation_id: case
        for case in public_data.marked(study)
        if (case.benchmark, case.metric) == metric.key
    }
    rows = {str(row["conversation_id"]): row for row in verdicts.to_dict("records")}

    def shown(word: str) -> str:
        if word == _NOTHING:
            return "Choose …"
        row = rows[word]
        said = f"{row['scenario']} · {row['age']} · {results.names[row['model']]} · {_passed(row['passed'])}"
        read = results.checks.labels.get((row["conversation_id"], metric.metric_version_id))
        case = " · marked as a case" if row["conversation_id"] in marked else ""
        return f"{said}{' · read by experts' if read else ''}{case}"

    chosen = choose("Read a conversation", [_NOTHING, *rows], name="conversation", shown=shown)
    if chosen == _NOTHING:
        return
    found = transcript(workspace.engine(), results, metric, int(chosen))
    if found is not None:
        case = marked.get(found.conversation_id)
        conversation(found, case=case, called=results.names[found.model])
        case_form(study, metric, found, case)


def _passed(passed: bool | None) -> str:
    return "no verdict" if pd.isna(passed) else "✓ passed" if passed else "✗ not passed"


def _change_log(study: PublicStudy, metric: PublicMetric) -> None:
    st.subheader("Change log", anchor=False)
    versions = public_data.versions(study, metric)
    for row in versions.to_dict("records"):
        why = row["changed_because"] or ("first version" if row["version"] == 1 else "no reason was given")
        st.text(f"Version {row['version']}, {row['created_at']:%d %B %Y} (UTC): {why}")
    for entry in public_data.decisions(study):
        if entry.metric == "/".join(metric.key):
            st.text(
                f"{entry.published_at:%d %B %Y} (UTC), decided: {entry.decision.replace('_', ' ')}. {entry.because}"
            )
            if entry.sentence:
                st.text(entry.sentence)
    st.text(f"{count(len(versions), 'version')}; results of different versions are never put together.")
    st.html(f'<a href="{where_over_time_is(study, metric.key)}" target="_self">This behaviour over time</a>')
