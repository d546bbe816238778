"""The registered analysis plan, and what departs from it."""

import pandas as pd
import streamlit as st

from app import audit, workspace
from app.components.plain_table import table_of_words
from app.views.methodologist import study_in_view
from app.wording import count
from reviews.blindness.visibility import Seen
from reviews.registration import Registered, deviations, in_words, registrations


def registered() -> None:
    """What was fixed before looking, and what is not as it says."""
    study = study_in_view(Seen.METRIC_QUESTION)
    st.title("Registered plan")
    plans = registrations(workspace.engine(), study)
    if not plans:
        st.write(
            "No analysis plan is registered. Fix it before the first label comes in; without a file it says what the"
            " audit does by itself:"
        )
        st.code(f"impactbench review register {study} --plan plan.yaml", language=None, wrap_lines=True)
        return
    departs = deviations(plans, audit.tables(study))
    first = plans[0]
    when = "before any label" if first.before_labels else f"with {count(first.labels_then, 'label')} in"
    st.markdown(
        f"**The plan was registered {when}, on {first.created_at:%Y-%m-%d}; {count(len(departs), 'deviation')} from it.**"
    )
    if departs:
        rows = [{"What": one.what, "Planned": one.planned, "Found": one.found} for one in departs]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch")
    for one in plans:
        _plan(one)


def _plan(one: Registered) -> None:
    title = "The plan" if one.revision == 1 else f"Amendment {one.revision - 1}"
    st.header(title)
    if one.because:
        st.text(f"Amended because: {one.because}")
    st.text(f"SHA-256 {one.plan_hash}")
    table_of_words(title, ("Part", "Says"), in_words(one.plan))
