"""The statistics that a paper on the study would report, each with its interval or why it has none."""

from html import escape

import streamlit as st

from app import public_data
from app.components.plain_text import answer
from app.components.public_tables import Cell, table
from app.views.public.in_view import study_in_view
from app.views.public.places import where_page_is
from reviews.public.paper import paper_statistics
from reviews.public.paper_tables import PaperTable, paper_answer, paper_tables
from reviews.public.releasing import PublicStudy
from reviews.public.wording import count

_SHORT = 24
"""Longer cells are prose and need room."""
_AT_FIRST = 60
"""Rows of a table that are shown before somebody asks for all: a browser draws long tables slowly."""
_ROWS = "rows"


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
    whole = st.query_params.get(_ROWS) == "all"
    for one in paper_tables(results, found):
        st.html(_with_heading(study, one, whole=whole))


def _with_heading(study: PublicStudy, one: PaperTable, *, whole: bool) -> str:
    """A table below its title, in one piece: every piece costs a browser time."""
    kept = one.rows if whole else one.rows[:_AT_FIRST]
    rows = [[Cell(text=cell, long=len(cell) > _SHORT) for cell in row] for row in kept]
    said = f"<h2>{escape(one.title)}</h2><p>{escape(one.caption)}</p>"
    shown = table(one.columns, rows, caption=f"{one.title}. {one.caption}")
    if len(kept) == len(one.rows):
        return said + shown
    where = f"{where_page_is('statistics', study)}&{_ROWS}=all"
    return (
        f"{said}{shown}<p>The first {len(kept)} of {count(len(one.rows), 'row')}."
        f' <a href="{escape(where)}" target="_self">Show every row</a></p>'
    )
