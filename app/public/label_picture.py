"""The nutrition label as a picture to download: the same lines, intervals and marks as on the page."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import altair as alt
import vl_convert

from app.public.charts import Dot, dots
from app.public.nutrition_label import LabelRow, LabelText
from reviews.public.wording import in_hundred

_WIDTH, _LETTERS = 760, 130


def as_svg(label: LabelText) -> bytes:
    """A picture on white that loads nothing."""
    found: str = vl_convert.vegalite_to_svg(_chart(label).to_dict())
    return found.encode()


def as_png(label: LabelText) -> bytes:
    """The same in pixels, fine enough for paper."""
    found: bytes = vl_convert.vegalite_to_png(_chart(label).to_dict(), scale=2)
    return found


def _chart(label: LabelText) -> Any:
    parts = [
        _section(rows, title, promoted=promoted)
        for rows, title, promoted in (
            (label.promoted, "What it promotes: how often it does what is good for people", True),
            (label.avoided, "What it avoids: how often it stays clear of what is bad for people", False),
        )
        if rows
    ]
    heading = alt.TitleParams(
        f"{label.model}: nutrition label",
        subtitle=[line for said in (*label.opening, *label.small_print) for line in wrap(said, _LETTERS)],
        anchor="start",
        fontSize=20,
        subtitleFontSize=12,
        subtitleColor="#333",
        offset=16,
    )
    chart = alt.vconcat(*parts, spacing=26).properties(title=heading, background="white", padding=24)
    return chart.configure_view(stroke=None)


def _section(rows: Sequence[LabelRow], title: str, *, promoted: bool) -> Any:
    lines = [
        Dot(
            row=f"{row.evidence.shape} {row.heading}:  {in_hundred(row.both)}  ·  {row.evidence.word}",
            promoted=promoted,
            rate=row.both,
            checked=row.evidence.drawn == "checked",
        )
        for row in rows
    ]
    heading = alt.TitleParams(title, anchor="start", fontSize=15)
    return dots(lines, title="share of conversations").properties(width=_WIDTH, title=heading)
