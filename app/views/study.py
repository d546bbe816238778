"""Where a study stands: what is in it, who has done what, and what to do next."""

import pandas as pd
import streamlit as st

from app import audit, workspace
from app.views.methodologist import study_in_view
from app.wording import count
from impactbench.store import frames
from reviews.blindness.visibility import Seen


def overview() -> None:
    """The state of a study on one page."""
    study = study_in_view(Seen.RATER_NAMES, Seen.POLARITY)
    engine = workspace.engine()
    about = next(row for row in frames.studies(engine).to_dict("records") if row["study"] == study)
    tables = audit.tables(study)
    st.title("Study")
    st.text(about["title"])
    st.markdown(
        f"**{count(int(about['conversations']), 'conversation')} under {count(len(tables.metrics), 'metric')}, from"
        f" {count(int(about['runs']), 'run')}.** {_next_step(tables.assignments)}"
    )
    if not tables.assignments.empty:
        st.header("Who has done what")
        st.dataframe(_progress(tables.assignments), hide_index=True, width="stretch")
    st.header("Metrics")
    shown = tables.metrics[["benchmark", "metric", "version", "title", "polarity", "definition"]]
    st.dataframe(shown.astype({"polarity": str}), hide_index=True, width="stretch")


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
    table.columns = ["Review set", "Rater", "Panel", "Asked", "Answered", "Last answer (UTC)"]
    return table
