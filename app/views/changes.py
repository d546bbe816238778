"""The change log: decisions about metrics that were made known."""

import streamlit as st

from app import workspace
from app.components.differences import shown_differences
from app.views.methodologist import study_in_view
from app.wording import count
from reviews.blindness.visibility import Seen
from reviews.contested.change_log import Entry, as_markdown, change_log


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
    for entry in entries:
        _entry(entry)


def _entry(entry: Entry) -> None:
    st.header(f"{entry.published_at:%Y-%m-%d}: {entry.decision}", divider=True)
    st.text(
        f"{entry.name} ({entry.metric}, version {entry.version}); it stood at: {entry.status.replace('_', ' ')}"
    )
    st.text(entry.because)
    for text in entry.dissent:
        st.text(f"Dissent: {text}")
    for follower in entry.followers:
        st.text(f"It becomes {follower.name}, version {follower.version}: {follower.changed_because}")
        shown_differences(follower.differences)
    if entry.figures:
        st.text(f"{entry.figures['sentence']} {entry.figures['items']} items were rated under both versions.")
    if entry.note:
        st.text(entry.note)
