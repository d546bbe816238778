"""Two wordings side by side in one text: what is gone is struck out, what is new underlined, both with a word for readers."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from reviews.contested.revisions import Difference, Piece

_STYLE = "line-height:1.6;white-space:pre-wrap;max-width:75ch"


def shown_differences(found: Sequence[Difference]) -> None:
    """Every part that is worded differently."""
    if not found:
        st.write("The wording is the same.")
        return
    for one in found:
        st.caption(f"{one.part.replace('_', ' ').capitalize()}: gone is struck out, new is underlined")
        st.html(as_html(one))


def as_html(one: Difference) -> str:
    """A difference as markup that shows every character of both wordings.

    >>> as_html(Difference(part="name", pieces=(Piece(text="<b>", change="gone"), Piece(text="c", change="new"))))
    '<p dir="auto" style="line-height:1.6;white-space:pre-wrap;max-width:75ch"><del>&lt;b&gt;</del><ins>c</ins></p>'
    """
    return f'<p dir="auto" style="{_STYLE}">{"".join(map(_piece, one.pieces))}</p>'


def _piece(piece: Piece) -> str:
    text = escape(piece.text)
    return {"gone": f"<del>{text}</del>", "new": f"<ins>{text}</ins>"}.get(piece.change, text)
