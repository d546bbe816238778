"""A forest plot that is part of the page: no program has to load and draw it, and it is there with the words around it."""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from app.wording import spell
from validation.results import Estimate

_STYLE = Path(__file__).with_suffix(".css")
MOST = 60
"""Rows that are drawn; the table beside the picture has all of them."""


def show_forest(
    rows: Sequence[tuple[str, Estimate]], *, title: str, cut_off: float | None = None, lowest: float = -0.5
) -> None:
    """One row a group, in the order given, rows without a number last and in words.

    Args:
        rows: the name of each group and its estimate.
        title: of the horizontal axis.
        cut_off: where a line is drawn, such as the agreement that was set beforehand.
        lowest: the left end of the axis, of which the right end is 1; intervals that reach further are cut there.
    """
    st.html(as_html(rows, title=title, cut_off=cut_off, lowest=lowest))


def as_html(
    rows: Sequence[tuple[str, Estimate]], *, title: str, cut_off: float | None = None, lowest: float = -0.5
) -> str:
    """The picture. Pointing at a line shows its numbers, which the table beside the picture gives as well."""
    step = 0.25 if lowest >= 0 else 0.5
    marks = [lowest + step * k for k in range(round((1 - lowest) / step) + 1)]
    known = [row for row in rows if row[1].value is not None]
    unknown = [row for row in rows if row[1].value is None]
    left = len(rows) - MOST
    known, unknown = known[:MOST], unknown[: max(MOST - len(known), 0)]
    drawn = "".join(
        f"<p>{escape(name)}  ·  n {one.n:,}</p>"
        f'<span style="{_place(one, lowest)}" title="{escape(spell(one))}"></span>'
        for name, one in known
    )
    said = "".join(f"<p>{escape(name)}  ·  n {one.n:,}  ·  {escape(spell(one))}</p>" for name, one in unknown)
    if left > 0:
        said += f"<p>… and {left:,} more, which the table has.</p>"
    axis = "".join(
        f'<span style="left:{_share(mark - lowest, 1 - lowest)}">{_number(mark)}</span>' for mark in marks
    )
    about = f"{title}: {len(known)} estimates, each with its interval. The table gives them in figures."
    grid = f"--step:{_share(step, 1 - lowest)}" + (
        "" if cut_off is None else f";--cut:{_share(cut_off - lowest, 1 - lowest)}"
    )
    cut = "" if cut_off is None else " ib-cut"
    return (
        f'<style>{_style()}</style><div class="ib-forest{cut}" style="{grid}" role="img" aria-label="{escape(about)}">'
        f"{drawn}<div>{axis}</div><p>{escape(title)}</p>{said}</div>"
    )


@cache
def _style() -> str:
    return _STYLE.read_text(encoding="utf-8")


def _place(one: Estimate, lowest: float) -> str:
    """Where the point and the ends of the interval stand: one element a row, for what is sent is read by the browser twice."""
    length, value = 1 - lowest, one.value or 0.0
    low, high = (value, value) if one.low is None or one.high is None else (one.low, one.high)
    ends = (_share(low - lowest, length), _share(1 - high, length), _share(value - lowest, length))
    return "--low:{};--high:{};--value:{}".format(*ends)


def _share(part: float, whole: float) -> str:
    return f"{min(max(part / whole, 0.0), 1.0):.2%}"


def _number(mark: float) -> str:
    return f"{mark:g}".replace("-", "−")
