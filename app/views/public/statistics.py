"""The statistics that a paper on the study would report, each with its interval or why it has none."""

import streamlit as st

from app import public_data
from app.components.plain_text import answer
from app.components.public_tables import Cell, table
from app.views.public.in_view import study_in_view
from reviews.public.paper import paper_statistics
from reviews.public.paper_tables import paper_answer, paper_tables

_SHORT = 24
"""Longer cells are prose and need room."""


def statistics() -> None:
    """One table after the other."""
    study = study_in_view("Statistics")
    results = public_data.results(study)
    if not results.tally.metrics:
        st.write("Nothing of this study has been judged yet, so there is nothing to compute.")
        return
    found = paper_statistics(results)
    answer(paper_answer(found))
    st.text(
        f"Behaviours are resampled within benchmark and kind, {found.draws:,} times (seed {found.seed})."
        " The verdicts are the automatic judge’s; the other pages say how far experts have checked it."
    )
    for note in found.rates.notes:
        st.caption(note)
    for one in paper_tables(results, found):
        st.header(one.title, anchor=False)
        st.caption(one.caption)
        rows = [[Cell(text=cell, long=len(cell) > _SHORT) for cell in row] for row in one.rows]
        st.html(table(one.columns, rows, caption=f"{one.title}. {one.caption}"))
