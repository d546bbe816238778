"""A table of sentences: its cells wrap, and on a phone each row stands as a block."""

from collections.abc import Sequence
from html import escape

import streamlit as st

_STYLE = """
.ib-wrapping { max-height: 44rem; overflow-y: auto; }
.ib-wrapping table { border-collapse: collapse; width: 100%; font-size: .9rem; line-height: 1.45; }
.ib-wrapping th, .ib-wrapping td { text-align: left; vertical-align: top; padding: .5rem 1rem .5rem 0; border-bottom: 1px solid #7d838c66; font-weight: 400; overflow-wrap: anywhere; }
.ib-wrapping :is(th, td):not(:last-child) { min-width: 6.5rem; }
@media (max-width: 640px) {
  .ib-wrapping thead { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }
  .ib-wrapping tbody tr { display: block; padding: .5rem 0; border-bottom: 1px solid #7d838c66; }
  .ib-wrapping tbody th, .ib-wrapping tbody td { display: block; padding: .1rem 0; border: 0; }
  .ib-wrapping tbody td:empty { display: none; }
  .ib-wrapping tbody th { font-weight: 600; }
}
"""


def wrapping_table(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Rows in the order given.

    Args:
        name: what the table holds, for those who cannot see it.
        columns: what stands above.
        rows: plain text, of which the first cell names the row.
    """
    st.html(as_html(name, columns, rows))


def as_html(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The table; its roles are said, for a table that is shown as blocks would lose them.

    >>> shown = as_html("Reasons", ["Label", "Reason"], [["fail", "<img src=x>"]])
    >>> "&lt;img src=x&gt;" in shown, "<img" in shown
    (True, False)
    """
    head = "".join(f'<th scope="col" role="columnheader">{escape(column)}</th>' for column in columns)
    return (
        f'<style>{_STYLE}</style><div class="ib-wrapping" tabindex="0" role="region" aria-label="{escape(name)}">'
        f'<table role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(map(_row, rows))}</tbody></table></div>'
    )


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    others = "".join(f'<td role="cell" dir="auto">{escape(cell)}</td>' for cell in rest)
    return f'<tr role="row"><th scope="row" role="rowheader" dir="auto">{escape(first)}</th>{others}</tr>'
