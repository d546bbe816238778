"""What is measured: the benchmarks of the suite, what they cover, how valid they are, and what is in the database."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from app import workspace
from app.wording import count
from impactbench.domain import ImpactBenchError, Polarity, Role
from impactbench.metrics import Suite, SuiteBenchmark, SuiteMetric, load_suite
from impactbench.store import frames
from impactbench.suite.check import Finding, check_suite
from impactbench.suite.coverage import SubareaCoverage, coverage
from impactbench.suite.importing import import_suite
from impactbench.suite.validity import QUESTIONS

WANTED = {Polarity.POSITIVE: "wanted", Polarity.NEGATIVE: "not wanted"}
_COLORS = ["#3f87c9", "#b8860b"]
_DIFFICULTY = {"low": "easy", "moderate": "moderate", "high": "hard"}
_SAID = "suite-said"


@cache
def suite_in_use() -> Suite:
    """The suite that comes with the program; it cannot change while the program runs."""
    return load_suite()


@cache
def _findings() -> tuple[Finding, ...]:
    return check_suite(suite_in_use())


def suite() -> None:
    """The suite at a glance, then one benchmark, then one metric."""
    looking = workspace.require_role(Role.METHODOLOGIST, Role.MAINTAINER)
    whole = suite_in_use()
    kept = _kept()
    rows = coverage(whole.metrics)
    st.title("Suite")
    st.markdown(f"**{_headline(whole, rows)}** {_kept_sentence(whole, kept)}")
    if said := st.session_state.pop(_SAID, None):
        st.text(said)
    if looking.role is Role.MAINTAINER and any(metric.key not in kept for metric in whole.metrics):
        st.button("Bring the suite into the database", on_click=_import)
    st.header("What it covers")
    st.caption("Metrics by subarea. One that stands in two subareas counts in both.")
    st.altair_chart(_picture(rows), width="stretch")
    st.dataframe(_coverage_table(rows), hide_index=True, width="stretch", height=35 * len(rows) + 38)
    st.header("One benchmark")
    slugs = [benchmark.slug for benchmark in whole.benchmarks]
    asked = st.query_params.get("benchmark")
    chosen = st.selectbox(
        "Benchmark",
        slugs,
        index=slugs.index(asked) if asked in slugs else 0,
        format_func={benchmark.slug: benchmark.name for benchmark in whole.benchmarks}.__getitem__,
    )
    st.query_params["benchmark"] = chosen
    _benchmark(next(one for one in whole.benchmarks if one.slug == chosen), kept)
    _others(whole, kept)


def _kept() -> dict[str, int]:
    """The newest version in the database of each metric, by benchmark/metric."""
    known = frames.metrics(workspace.engine())
    return {
        f"{benchmark}/{metric}": int(version)
        for benchmark, metric, version in zip(
            known["benchmark"], known["metric"], known["version"], strict=True
        )
    }


def _headline(whole: Suite, rows: Sequence[SubareaCoverage]) -> str:
    covered = sum(all(row.counts.values()) for row in rows)
    wanted = sum(metric.definition.polarity is Polarity.POSITIVE for metric in whole.metrics)
    return (
        f"{count(len(whole.metrics), 'metric')} in {count(len(whole.benchmarks), 'benchmark')} cover {covered} of"
        f" {len(rows)} subareas with both kinds of behaviour: {wanted} wanted, {len(whole.metrics) - wanted} not wanted."
    )


def _kept_sentence(whole: Suite, kept: dict[str, int]) -> str:
    there = sum(metric.key in kept for metric in whole.metrics)
    if there == len(whole.metrics):
        return "All of them are in the database."
    return f"{there} of them are in the database; a run adds what it needs."


def _picture(rows: Sequence[SubareaCoverage]) -> Any:
    table = pd.DataFrame(
        [
            {
                "Subarea": row.subarea,
                "Behaviour": WANTED[polarity],
                "Metrics": number,
                "row": place,
            }
            for place, row in enumerate(rows)
            for polarity, number in row.counts.items()
        ]
    )
    return (
        alt.Chart(table)
        .mark_bar()
        .encode(
            y=alt.Y(
                "Subarea:N",
                sort=alt.SortField("row"),
                title=None,
                axis=alt.Axis(labelLimit=220, labelOverlap=False),
            ),
            x=alt.X("Metrics:Q", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color(
                "Behaviour:N",
                scale=alt.Scale(domain=list(WANTED.values()), range=_COLORS),
                legend=alt.Legend(orient="top"),
            ),
            order=alt.Order("Behaviour:N", sort="descending"),
            tooltip=["Subarea", "Behaviour", "Metrics"],
        )
        .properties(height=26 * len(rows) + 50)
    )


def _coverage_table(rows: Sequence[SubareaCoverage]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Domain": row.domain,
                "Subarea": row.subarea,
                "Wanted": row.counts[Polarity.POSITIVE],
                "Not wanted": row.counts[Polarity.NEGATIVE],
            }
            for row in rows
        ]
    )


def _benchmark(benchmark: SuiteBenchmark, kept: dict[str, int]) -> None:
    st.text(benchmark.description)
    found = [finding for finding in _findings() if finding.file == benchmark.file]
    st.text("The rules of the suite find nothing to mend." if not found else "The rules of the suite find:")
    for finding in found:
        st.text(f"{finding.metric}: {finding.sentence}; {finding.remedy}.")
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Metric": metric.definition.name,
                    "Behaviour": WANTED[metric.definition.polarity],
                    "Agreement is expected to be": _DIFFICULTY[metric.difficulty],
                    "In the database": f"version {kept[metric.key]}" if metric.key in kept else "not yet",
                }
                for metric in benchmark.metrics
            ]
        ),
        hide_index=True,
        width="stretch",
    )
    for metric in benchmark.metrics:
        with st.expander(f"Metric: {_plain(metric.definition.name)}"):
            show_metric(metric)
    st.subheader("How valid is it? Eight questions")
    st.caption(
        "After Bean, Kearns, Romanou and others (2025), Measuring what matters: construct validity in large language model"
        " benchmarks; the questions are in our words."
    )
    for recommendation, question in QUESTIONS.items():
        with st.expander(question):
            st.text(benchmark.validity.get(recommendation, "There is no answer yet."))


def show_metric(metric: SuiteMetric) -> None:
    """All that a metric says, as text."""
    said = metric.definition
    for title, paragraphs in (
        ("Definition", [said.definition]),
        ("What experts are asked", [said.question]),
        ("When the evidence conflicts", [said.interpretive_clause]),
        ("Present in", [f"“{example}”" for example in said.examples_present]),
        ("Absent from", [f"“{example}”" for example in said.examples_absent]),
        ("Why it matters", [metric.matters, *metric.sources]),
        ("Stands in", [", ".join(metric.subareas)]),
    ):
        st.caption(title)
        for paragraph in paragraphs:
            st.text(paragraph or "Nothing is said.")


def _others(whole: Suite, kept: dict[str, int]) -> None:
    others = sorted(set(kept) - {metric.key for metric in whole.metrics})
    if not others:
        return
    st.header("In the database only")
    st.caption("Metrics of imported runs, and suggestions that were accepted.")
    table = [
        {"Metric": key.partition("/")[2], "Benchmark": key.partition("/")[0], "Newest version": kept[key]}
        for key in others
    ]
    st.dataframe(pd.DataFrame(table), hide_index=True, width="stretch")


def _plain(label: str) -> str:
    """A name as the label of a widget, which would read marks in it as formatting."""
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>()#+-.!|~:$" else letter for letter in label)


def _import() -> None:
    """One click; the role of whoever clicks is looked up once more."""
    workspace.require_role(Role.MAINTAINER)
    try:
        imported = import_suite(workspace.engine(), suite_in_use())
        st.session_state[_SAID] = (
            f"{count(imported.added['metrics'], 'metric')} added; nothing was overwritten."
        )
    except ImpactBenchError as refused:
        st.session_state[_SAID] = f"Nothing was changed: {refused}"
