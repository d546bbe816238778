"""Words that hold names from outside (models, metrics, areas), in bold or as a heading, and read as nothing but words."""

from html import escape

import streamlit as st


def answer(sentence: str, *more: str) -> None:
    """The sentence that answers the question of a page, and what follows it."""
    rest = "".join(f" {escape(one)}" for one in more)
    st.html(f"<p><strong>{escape(sentence)}</strong>{rest}</p>")


def heading(words: str) -> None:
    """A heading below the title of the page."""
    st.html(f"<h2>{escape(words)}</h2>")
