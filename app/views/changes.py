"""The change log: decisions about metrics that were made known."""

import pandas as pd
import streamlit as st

from app import workspace
from app.components.differences import shown_differences
from app.views.methodologist import study_in_view
from app.wording import count
from impactbench.domain import DispositionKind
from reviews.blindness.visibility import Seen
from reviews.contested.change_log import Entry, as_markdown, change_log, figure_rows


def changes() -> None:
    """What was decided, why, who dissented, what was reworded, and the figures before and after."""
    study = study_in_view(Seen.METRIC_QUESTION)
    st.title("Change log")
    entries = change_log(workspace.engine(), study)
    if not entries:
        st.write(
            "No decision about a metric has been published yet. Decide under Contested metrics, then publish it there."
        )
        return
    st.markdown(f"**{count(len(entries), 'decision')} about metrics published, the newest first.**")
    st.download_button(
        "The change log as a file",
        as_markdown(study, entries),
        file_name=f"changes-{study}.md",
        mime="text/markdown",
    )
    reworded = {
        (entry.metric, entry.version) for entry in entries if entry.decision == DispositionKind.REVISE
    }
    for entry in entries:
        told = entry.decision == DispositionKind.ADOPT and (entry.metric, entry.version) in reworded
        _entry(entry, told_below=told)


def _entry(entry: Entry, *, told_below: bool) -> None:
    """A decision; what was reworded stands with the revision, where that was made known as well."""
    st.header(f"{entry.published_at:%Y-%m-%d}: {entry.decision}", divider=True)
    st.text(
        f"{entry.name} ({entry.metric}, version {entry.version}); it stood at: {entry.status.replace('_', ' ')}"
    )
    st.text(entry.because)
    for text in entry.dissent:
        st.text(f"Dissent: {text}")
    for follower in entry.followers:
        if told_below:
            st.text(
                f"Now in force: {follower.name}, version {follower.version}. What was reworded stands below."
            )
            continue
        why = "" if follower.changed_because == entry.because else f": {follower.changed_because}"
        st.text(f"It becomes {follower.name}, version {follower.version}{why}")
        shown_differences(follower.differences)
    if entry.figures:
        st.markdown(f"**Before and after, on {entry.figures['items']} items rated under both versions**")
        st.text(entry.figures["sentence"])
        st.dataframe(
            pd.DataFrame(
                figure_rows(entry.figures), columns=["Figure", "Before", "After", "Change, on the same items"]
            ),
            hide_index=True,
            width="stretch",
        )
    if entry.note:
        st.text(entry.note)
