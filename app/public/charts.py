"""Pictures for everybody: wherever a point is drawn its interval is drawn, and shapes say what colours say."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from reviews.public.wording import in_hundred
from validation.results import Estimate

_TEXT = "#7d838c"
_PROMOTED, _AVOIDED = "promoted", "avoided"
_COLOURS = {True: "#3f87c9", False: "#c2742e"}
_HEADING, _FIRST, _SECOND = 0.2, 0.52, 0.76
"""Where the words, the first mark and the second stand within a row."""
_TALL, _LOW = 64, 46
"""Pixels of a row with both kinds, and with one."""
_SHAPES = {_PROMOTED: "circle", _AVOIDED: "square"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One rate in a picture."""

    row: str
    promoted: bool
    """Whether it is about what a model promotes; else about what it avoids."""
    rate: Estimate
    checked: bool
    """Whether experts have checked it: what they have not is drawn hollow."""


@lru_cache(maxsize=512)
def drawn(rows: tuple[Dot, ...], *, title: str, reach: float | None = None) -> dict[str, Any]:
    """The picture of `dots` as a page sends it; the same for everybody who asks for the same.

    It is not checked against the grammar of pictures, which takes ten times as long as making it: a test does that.
    """
    found: dict[str, Any] = dots(rows, title=title, reach=reach).to_dict(validate=False)
    return found


def dots(rows: Sequence[Dot], *, title: str, reach: float | None = None) -> Any:
    """One line a row in the order given; what is promoted and what is avoided stand apart within it.

    What experts have not checked is hollow, grey and dashed.

    Args:
        rows: what to draw; a rate without a number keeps its row.
        title: of the horizontal axis.
        reach: of an axis of differences, to either side of 0; an axis of rates where there is none.
    """
    lowest, highest = (0.0, 1.0) if reach is None else (-reach, reach)
    places = {name: place for place, name in enumerate(dict.fromkeys(dot.row for dot in rows))}
    first = {dot.row: dot for dot in reversed(rows)}
    both = len({dot.promoted for dot in rows}) > 1
    table = pd.DataFrame(
        [
            {
                "row": dot.row,
                "kind": _PROMOTED if dot.promoted else _AVOIDED,
                "value": dot.rate.value,
                "low": dot.rate.low,
                "high": dot.rate.high,
                "shown": in_hundred(dot.rate),
                "n": dot.rate.n,
                "colour": _COLOURS[dot.promoted] if dot.checked else _TEXT,
                "words": dot.row if first[dot.row] is dot else "",
                "shape": _SHAPES[_PROMOTED if dot.promoted else _AVOIDED],
                "checked": dot.checked,
                "left": lowest,
                "top": places[dot.row] + _HEADING,
                "place": places[dot.row] + (_SECOND if both and not dot.promoted else _FIRST),
            }
            for dot in rows
        ]
    )
    down = alt.Scale(domain=[0, len(places)], reverse=True, nice=False)
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[lowest, highest], clamp=True, nice=False),
        title=title,
        axis=alt.Axis(format="%" if reach is None else "+.0%", tickCount=5),
    )
    base = alt.Chart(table).encode(
        y=alt.Y("place:Q", axis=None, scale=down), color=alt.Color("colour:N", scale=None)
    )
    layers = [
        alt.Chart(table)
        .mark_text(align="left", baseline="middle", fontSize=13, color=_TEXT, aria=False)
        .encode(y=alt.Y("top:Q", axis=None, scale=down), x="left:Q", text="words:N"),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2.5, aria=False)
        .encode(
            x="low:Q",
            x2="high:Q",
            strokeDash=alt.condition("datum.checked", alt.value([1, 0]), alt.value([3, 3])),
        ),
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=90, filled=True, opacity=1, strokeWidth=2, aria=False)
        .encode(
            x=x,
            shape=alt.Shape("shape:N", scale=None),
            fillOpacity=alt.condition("datum.checked", alt.value(1), alt.value(0)),
            stroke=alt.Stroke("colour:N", scale=None),
            tooltip=[
                alt.Tooltip("row", title="About"),
                alt.Tooltip("kind", title="Kind"),
                alt.Tooltip("shown", title="Result"),
                alt.Tooltip("n", title="Conversations"),
            ],
        ),
    ]
    if reach is not None:
        layers.insert(
            0, alt.Chart(pd.DataFrame({"at": [0.0]})).mark_rule(color=_TEXT, aria=False).encode(x="at:Q")
        )
    return alt.layer(*layers).properties(height=(_TALL if both else _LOW) * max(len(places), 1))
