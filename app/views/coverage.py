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
        f"**{count(two + more, 'item')} of {whole.items:,} have two raters or more.**"
        + (f" {count(one, 'item')} with one rater can show no disagreement." if one else "")
        + (f" {count(none, 'item')} without any rater can show nothing." if none else "")
    )
    st.caption(
        "An item is one conversation under one metric. “All metrics” are the versions in force: a version that another"
        " has replaced stands in a row of its own."
    )
    raters = ["no rater", "one", "two", "three or more"]
    st.bar_chart(
        pd.DataFrame({"Raters with a label": raters, "Items": whole.by_raters}),
        x="Raters with a label",
        y="Items",
        height=220,
        sort=False,
        horizontal=True,
    )
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
                "0 raters": row.by_raters[0],
                "1": row.by_raters[1],
                "2": row.by_raters[2],
                "3+": row.by_raters[3],
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
    words = table["Status"].map(str).str.replace("_", " "), table["Reason"].str.replace("_", " ")
    st.dataframe(
        table.assign(Status=words[0], Reason=words[1]),
        hide_index=True,
        width="stretch",
    )
