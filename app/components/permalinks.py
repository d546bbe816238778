"""Choices that live in the address, so that a link shows what its sender saw."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

Option = TypeVar("Option")


def choose(
    label: str,
    options: Sequence[Option],
    *,
    name: str,
    spelled: Callable[[Option], str] = str,
    shown: Callable[[Option], str] | None = None,
) -> Option:
    """A select box whose choice is in the address as `name`; the first option where the address says nothing known.

    Args:
        label: of the box.
        options: one or more.
        name: of the parameter.
        spelled: how an option stands in the address.
        shown: how it stands in the box; as in the address by default.
    """
    words = [spelled(option) for option in options]
    asked = st.query_params.get(name)
    place = words.index(asked) if asked in words else 0
    if len(options) == 1:
        return options[0]
    names = dict(zip(words, map(shown or spelled, options), strict=True))
    chosen = st.selectbox(label, words, index=place, format_func=names.__getitem__, key=f"choice-{name}")
    st.query_params[name] = chosen
    return options[words.index(chosen)]


def switch(label: str, options: dict[str, str], *, name: str) -> str:
    """A segmented control whose choice is in the address as `name`; options by key, with their words."""
    keys = list(options)
    asked = st.query_params.get(name)
    default = asked if asked in keys else keys[0]
    chosen = st.segmented_control(
        label, keys, format_func=options.__getitem__, default=default, key=f"switch-{name}"
    )
    kept = str(chosen or default)
    st.query_params[name] = kept
    return kept
