"""The statistics that a paper on the study would report, each with its interval or why it has none."""

from collections.abc import Iterator

from markupsafe import Markup

from app.public.parts import Sheet, answer, heading, note, text
from app.public.tables import Cell, table
from app.public.visit import Visit
from reviews.public.paper import paper_statistics
from reviews.public.paper_tables import paper_answer, paper_tables

_SHORT = 24
"""Longer cells are prose and need room."""


def statistics(visit: Visit) -> Sheet:
    """One table after the other."""
    return Sheet("Statistics", _parts(visit))


def _parts(visit: Visit) -> Iterator[Markup]:
    yield visit.choices.form()
    results = visit.results
    if not results.tally.metrics:
        yield text("Nothing of this study has been judged yet, so there is nothing to compute.")
        return
    found = paper_statistics(results)
    yield answer(paper_answer(found))
    yield text(
        f"Behaviours are resampled within benchmark and kind, {found.draws:,} times (seed {found.seed})."
        " The verdicts are the automatic judge’s; the other pages say how far experts have checked it."
    )
    yield from map(note, found.rates.notes)
    for one in paper_tables(results, found):
        yield heading(one.title)
        yield text(one.caption)
        rows = [[Cell(text=cell, long=len(cell) > _SHORT) for cell in row] for row in one.rows]
        yield table(one.columns, rows, caption=f"{one.title}. {one.caption}")
