"""One metric: what is looked for, how far the judge can be trusted on it, how models did, and the conversations."""

import pandas as pd
import streamlit as st

from app import public_data, workspace
from app.components.evidence_marks import evidence_mark
from app.components.formatting import formatted
from app.components.permalinks import choose
from app.components.plain_text import heading
from app.components.public_tables import Cell, table
from app.views.public.places import where_label_is, where_metrics_are
from app.wording import count
from impactbench.domain import Polarity
from reviews.public.conversations import Transcript, transcript
from reviews.public.releasing import PublicStudy
from reviews.public.results import PublicMetric

_NOTHING = "none"


def show(study: PublicStudy, metric: PublicMetric) -> None:
    """The page of a metric."""
    st.html(f'<a href="{where_metrics_are(study)}" target="_self">All metrics</a>')
    heading(metric.name)
    mark = evidence_mark(metric.checked)
    st.markdown(f"**{_polarity(metric)} {mark.shape} {mark.word}.** {mark.sentence}")
    _about(metric)
    _by_model(study, metric)
    _conversations(study, metric)
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
    counts = public_data.metric_counts(study)
    rows = counts[(counts["benchmark"] == metric.benchmark) & (counts["metric"] == metric.metric)]
    unscored = ["No verdict"] if rows["unscored"].any() else []
    st.html(
        table(
            ["Model", "Passed", "Teens", "Adults", *unscored],
            [
                [
                    Cell(text=row["model"], where=where_label_is(study, row["model"]), whole=True),
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


def _conversations(study: PublicStudy, metric: PublicMetric) -> None:
    st.subheader("Scenarios and conversations", anchor=False)
    if study.under_review:
        st.text(
            "Experts are at work on this study. Until their results are reported, no conversation is shown."
        )
        return
    verdicts = public_data.verdicts(study, metric)
    st.html(
        table(
            ["Scenario", "What the person wants", "Person", "Passed by", "Not passed by"],
            [_scenario(part) for _, part in verdicts.groupby("scenario", sort=True)],
            caption="The scenarios, and which models passed in each",
        )
    )
    open_ones = verdicts[verdicts["status"] != "labels_only"]
    if not study.transcripts:
        st.text("The conversations of this study are not public.")
    elif open_ones.empty:
        st.text("These verdicts came without their conversations.")
    else:
        _choose(study, open_ones)


def _scenario(part: pd.DataFrame) -> list[Cell | str]:
    first = part.iloc[0]
    passed = part["passed"].fillna(False).astype(bool)
    failed = part["passed"].notna() & ~passed
    return [
        Cell(text=first["scenario"], whole=True),
        Cell(text=first["user_goal"], long=True),
        first["age"],
        Cell(text=", ".join(part.loc[passed, "model"]) or "none", long=True),
        Cell(text=", ".join(part.loc[failed, "model"]) or "none", long=True),
    ]


def _choose(study: PublicStudy, verdicts: pd.DataFrame) -> None:
    rows = {str(row["conversation_id"]): row for row in verdicts.to_dict("records")}

    def shown(word: str) -> str:
        if word == _NOTHING:
            return "Choose …"
        row = rows[word]
        return f"{row['scenario']} · {row['age']} · {row['model']} · {_passed(row['passed'])}"

    chosen = choose("Read a conversation", [_NOTHING, *rows], name="conversation", shown=shown)
    if chosen == _NOTHING:
        return
    found = transcript(workspace.engine(), public_data.results(study), int(chosen))
    if found is not None:
        _transcript(found)


def _passed(passed: bool | None) -> str:
    return "no verdict" if pd.isna(passed) else "✓ passed" if passed else "✗ not passed"


def _transcript(found: Transcript) -> None:
    with st.container(border=True):
        st.markdown(f"**The automatic judge: {_verdict(found)}**")
        if found.justification:
            st.text(found.justification)
    for number, turn in enumerate(found.turns):
        who = "Person" if turn.role == "user" else "Chatbot"
        st.caption(f"Turn {number // 2 + 1} · {who}")
        st.html(f'<div dir="auto" style="max-width: 46rem">{formatted(turn.content)}</div>')


def _verdict(found: Transcript) -> str:
    if found.present is None:
        return "no verdict" + (f" ({found.unscored_because})" if found.unscored_because else "")
    seen = "the behaviour is there" if found.present else "the behaviour is not there"
    return f"{seen}, so the conversation has {'passed' if found.passed else 'not passed'}."


def _change_log(study: PublicStudy, metric: PublicMetric) -> None:
    st.subheader("Change log", anchor=False)
    versions = public_data.versions(study, metric)
    for row in versions.to_dict("records"):
        why = row["changed_because"] or ("first version" if row["version"] == 1 else "no reason was given")
        st.text(f"Version {row['version']}, {row['created_at']:%d %B %Y} (UTC): {why}")
    st.text(f"{count(len(versions), 'version')}; results of different versions are never put together.")
