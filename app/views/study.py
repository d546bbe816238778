"""Where a study stands: what is in it, who has done what, and what to do next."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import audit, workspace
from app.views.methodologist import study_in_view
from app.wording import count
from impactbench.store import frames
from reviews.blindness import visibility
from reviews.blindness.visibility import Seen, Stage
from reviews.registration import Registered, registrations


def overview() -> None:
    """The state of a study on one page."""
    study = study_in_view(Seen.RATER_NAMES, Seen.POLARITY)
    engine = workspace.engine()
    about = next(row for row in frames.studies(engine).to_dict("records") if row["study"] == study)
    tables = audit.tables(study)
    st.title("Study")
    st.text(about["title"])
    st.markdown(
        f"**{count(int(about['conversations']), 'conversation')} under {_metrics(tables.metrics)}, from"
        f" {count(int(about['runs']), 'run')}.** {_next_step(tables.assignments)}"
    )
    st.markdown(f"{_stages(visibility.stage_of_study(engine, study))} {_plan(registrations(engine, study))}")
    if not tables.assignments.empty:
        st.header("Who has done what")
        st.dataframe(_progress(tables.assignments), hide_index=True, width="stretch")
    st.header("Metrics")
    shown = tables.metrics[["title", "polarity", "benchmark", "metric", "version", "definition"]].astype(
        {"polarity": str}
    )
    shown.columns = ["Metric", "Polarity", "Benchmark", "Short name", "Version", "Definition"]
    st.dataframe(shown, hide_index=True, width="stretch")


def _metrics(metrics: pd.DataFrame) -> str:
    """How many metrics there are, and in how many versions where some have been revised."""
    number = len(metrics.drop_duplicates(["benchmark", "metric"]))
    versions = "" if number == len(metrics) else f" in {count(len(metrics), 'version')}"
    return f"{count(number, 'metric')}{versions}"


def _stages(now: Stage) -> str:
    """The stages a study goes through, with the one it is at."""
    names = (f"**{stage.name.lower()}**" if stage is now else stage.name.lower() for stage in Stage)
    return f"Stage of the least advanced review set: {' → '.join(names)}."


def _plan(registered: Sequence[Registered]) -> str:
    if not registered:
        return "No analysis plan is registered."
    first = registered[0]
    when = "before any label" if first.before_labels else f"with {count(first.labels_then, 'label')} in"
    return f"The analysis plan was registered {when}."


def _next_step(assignments: pd.DataFrame) -> str:
    if assignments.empty:
        return "Nobody has been asked to rate anything yet: see Coverage for how to begin."
    waiting = int(((assignments["status"] == "not_yet_rated") & assignments["released_at"].isna()).sum())
    if waiting:
        return f"Experts still have {count(waiting, 'answer')} to give."
    return "All that was asked has been answered: see Agreement and Judge."


def _progress(assignments: pd.DataFrame) -> pd.DataFrame:
    groups = assignments.assign(
        answered=assignments["status"] != "not_yet_rated", panel=assignments["panel"].map(str)
    ).groupby(["review_set", "rater", "panel"])
    table = groups.agg(asked=("answered", "size"), answered=("answered", "sum"), last=("labelled_at", "max"))
    table = table.reset_index()
    table["last"] = [f"{stamp:%Y-%m-%d %H:%M}" if pd.notna(stamp) else "none yet" for stamp in table["last"]]
    table.columns = ["Review set", "Rater", "Panel", "Asked", "Answered", "Last answer (UTC)"]
    return table
