"""What was rated, by how many, and what was not."""

import pandas as pd
import streamlit as st

from app import audit
from app.views.methodologist import nothing_asked, study_in_view
from app.wording import count
from reviews.blindness.visibility import Seen
from reviews.evidence import Coverage


def coverage() -> None:
    """How much of the study can show agreement at all."""
    study = study_in_view(Seen.OTHER_LABELS)
    st.title("Coverage")
    rows = audit.coverage(study)
    whole = rows[0]
    if not whole.items:
        nothing_asked(study)
        return
    none, one, two, more = whole.by_raters
    st.markdown(
        f"**{count(two + more, 'item')} of {whole.items:,} have two raters or more.** {count(one, 'item')} with one"
        f" rater can show no disagreement, and {count(none, 'item')} without any can show nothing."
    )
    st.caption("An item is one conversation under one metric.")
    histogram = pd.DataFrame(
        {"Raters with a label": ["none", "one", "two", "three or more"], "Items": whole.by_raters}
    )
    st.bar_chart(histogram, x="Raters with a label", y="Items", height=220, sort=False)
    st.dataframe(_table(rows), hide_index=True, width="stretch")
    if whole.components > 1:
        st.warning(
            f"The raters fall into {whole.components} groups that have no item in common: raters of different groups"
            " cannot be compared."
        )
    unassessed = [row.group for row in rows[1:] if not sum(row.by_raters[2:])]
    if unassessed:
        st.header("Not assessed")
        st.write(f"{count(len(unassessed), 'metric')} without any item that two experts rated:")
        for name in unassessed:
            st.text(name)
    _reasons(audit.tables(study).assignments)


def _table(rows: list[Coverage]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Metric": row.group,
                "Items": row.items,
                "no rater": row.by_raters[0],
                "one rater": row.by_raters[1],
                "two": row.by_raters[2],
                "three or more": row.by_raters[3],
                "Raters": row.raters,
                "Groups of raters": row.components,
                "Labels": row.labels,
                "can’t judge": row.cannot_judge,
                "skipped": row.skipped,
                "not yet rated": row.not_yet_rated,
            }
            for row in rows
        ]
    )


def _reasons(assignments: pd.DataFrame) -> None:
    withheld = assignments[assignments["no_verdict_because"].fillna("") != ""]
    if withheld.empty:
        return
    st.header("Why there is no verdict")
    table = withheld.groupby(["title", "status", "no_verdict_because"]).size().rename("Answers").reset_index()
    table.columns = ["Metric", "Status", "Reason", "Answers"]
    st.dataframe(table.assign(Reason=table["Reason"].str.replace("_", " ")), hide_index=True, width="stretch")
