"""A short table of figures that is part of the page; where the screen is too narrow for it, it scrolls by itself."""

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

_STYLE = """
.ib-figures { overflow-x: auto; }
.ib-figures table { border-collapse: collapse; font-size: .9rem; line-height: 1.4; }
.ib-figures th, .ib-figures td { text-align: left; vertical-align: top; padding: .4rem 1.2rem .4rem 0; border-bottom: 1px solid #7d838c66; font-weight: 400; }
.ib-figures :is(th, td) { min-width: 4.5rem; max-width: 24rem; }
"""


def figures_table(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows in the order given. Up to some dozen rows it takes the browser a tenth of what a table to sort and search takes.

    Args:
        name: what the table holds, for those who cannot see it.
        columns: what stands above.
        rows: plain text, of which the first cell names the row.
    """
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    st.html(
        f'<style>{_STYLE}</style><div class="ib-figures" tabindex="0" role="region" aria-label="{escape(name)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def figures_of(name: str, rows: Sequence[Mapping[str, object]]) -> None:
    """The same for rows that name their columns; whole numbers of four digits and more are grouped."""
    table = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row.values()] for row in rows]
    figures_table(name, list(rows[0]) if rows else (), table)
