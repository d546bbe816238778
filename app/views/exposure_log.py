"""Who was sent what, and when: what blindness is proved with."""

import pandas as pd
import streamlit as st

from app import workspace
from app.views.methodologist import study_in_view
from app.wording import count
from impactbench.domain import Role
from reviews.blindness.exposures import exposures
from reviews.blindness.visibility import Seen

_ON_A_PAGE = 500
_COLUMNS = {
    "shown_at": "Sent (UTC)",
    "rater": "Rater",
    "panel": "Panel",
    "review_set": "Review set",
    "metric": "Metric",
    "version": "Version",
    "run": "Run",
    "conversation": "Conversation",
    "repeat": "Showing",
}


def exposure_log() -> None:
    """Every time that an item was sent to a rater, the newest first."""
    workspace.require_role(Role.MAINTAINER)
    study = study_in_view(Seen.EXPOSURE_LOG, Seen.RATER_NAMES, Seen.GOLD_MARKS, Seen.MODEL_NAME)
    st.title("Who was sent what")
    log = exposures(workspace.engine(), study)
    if log.empty:
        st.markdown("**Nobody has been sent anything yet.**")
        st.text("A line is added each time that a rater opens a conversation of a review set.")
        return
    times = count(len(log), "time")
    first, last = (f"{at:%d %b %Y}" for at in (log["shown_at"].min(), log["shown_at"].max()))
    when = f"on {first}" if first == last else f"between {first} and {last}"
    st.markdown(
        f"**A conversation was sent to a rater {times}, to {count(log['rater'].nunique(), 'rater')}, {when} (UTC).**"
    )
    st.caption(
        "Raters got the transcript with names hidden and the question, and nothing else, but where a rubric says so."
    )
    raters = [None, *sorted(log["rater"].unique())]
    chosen = st.selectbox("Rater", raters, format_func=lambda name: name or "everybody")
    shown = log if chosen is None else log[log["rater"] == chosen]
    st.dataframe(_table(shown.iloc[::-1].head(_ON_A_PAGE)), hide_index=True, width="stretch")
    if len(shown) > _ON_A_PAGE:
        st.caption(f"The newest {_ON_A_PAGE} of {len(shown):,}; the file has all.")
    st.download_button(
        "Download as CSV", shown.to_csv(index=False), file_name=f"{study}-exposures.csv", mime="text/csv"
    )


def _table(log: pd.DataFrame) -> pd.DataFrame:
    shown = log.assign(
        shown_at=[f"{at:%Y-%m-%d %H:%M:%S}" for at in log["shown_at"]],
        panel=log["panel"].map(lambda panel: str(panel) if panel else "none"),
        repeat=log["repeat"] + 1,
        metric=log["benchmark"] + "/" + log["metric"],
    )
    return shown[list(_COLUMNS)].rename(columns=_COLUMNS)
