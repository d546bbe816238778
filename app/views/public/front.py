"""Where whoever has not signed in arrives: what this is, and what has been released."""

import streamlit as st

from app import workspace
from app.components.public_tables import Cell, table
from app.views.public.places import where_explore_is, where_metrics_are, where_page_is, where_study_is
from reviews.public.releasing import PublicStudy, public_studies


def front() -> None:
    """The released studies, each with the ways into it."""
    st.title("ImpactBench")
    st.markdown(
        "**What do chatbots promote, what do they avoid, and how well was that checked?** Chatbots were tried in"
        " conversations with simulated people, teens and adults. An automatic judge read each one, and beside every result"
        " stands how far experts have checked the judge."
    )
    studies = public_studies(workspace.engine())
    st.html(
        table(
            ["Study", "Nutrition label", "Explore", "Metrics", "More"],
            [_row(study) for study in studies],
            caption="The studies that have been released",
        )
    )


def _row(study: PublicStudy) -> list[Cell | str]:
    return [
        Cell(text=study.title or study.slug, long=True),
        Cell(text="One model at a time", where=where_study_is(study)),
        Cell(text="Models side by side", where=where_explore_is(study)),
        Cell(text="What was looked for", where=where_metrics_are(study)),
        Cell(text="Statistics of a paper", where=where_page_is("statistics", study)),
    ]
