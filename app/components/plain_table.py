"""Short tables that are part of the page: up to some dozen rows they take the browser a tenth of what one to sort and search takes."""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Literal

import streamlit as st

_STYLE = Path(__file__).with_suffix(".css")
Of = Literal["words", "figures"]
"""Words wrap, and on a phone each row of them stands as a block; so does one of many figures, each with its column's name."""
MANY = 4
"""Columns of figures that do not stand beside each other on a phone."""


def table_of_words(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows in the order given.

    Args:
        name: what the table holds, for those who cannot see it.
        columns: what stands above.
        rows: plain text, of which the first cell names the row.
    """
    st.html(as_html(name, columns, rows, of="words"))


def table_of_figures(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The same for figures; arguments as for words."""
    st.html(as_html(name, columns, rows, of="figures"))


def figures_of(name: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Figures in rows that name their columns; whole numbers of four digits and more are grouped."""
    table = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row.values()] for row in rows]
    table_of_figures(name, list(rows[0]) if rows else (), table)


def as_html(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, of: Of) -> str:
    """The table; its roles are said, for a table that is shown as blocks would lose them.

    >>> shown = as_html("Reasons", ["Label", "Reason"], [["fail", "<img src=x>"]], of="words")
    >>> "&lt;img src=x&gt;" in shown, "<img" in shown
    (True, False)
    """
    head = "".join(f'<th scope="col" role="columnheader">{escape(column)}</th>' for column in columns)
    many = of == "figures" and len(columns) >= MANY
    names = [f' data-of="{escape(column)}"' if many else "" for column in columns[1:]]
    kind = f"ib-{of} ib-many" if many else f"ib-{of}"
    return (
        f'<style>{_style()}</style><div class="ib-table {kind}" tabindex="0" role="region" aria-label="{escape(name)}">'
        f'<table role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(_row(row, names) for row in rows)}</tbody></table></div>'
    )


@cache
def _style() -> str:
    return _STYLE.read_text(encoding="utf-8")


def _row(cells: Sequence[str], names: Sequence[str]) -> str:
    first, *rest = cells
    others = "".join(
        f'<td role="cell" dir="auto"{name}>{escape(cell)}</td>'
        for cell, name in zip(rest, names, strict=True)
    )
    return f'<tr role="row"><th scope="row" role="rowheader" dir="auto">{escape(first)}</th>{others}</tr>'
