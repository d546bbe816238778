"""Pictures for everybody: wherever a point is drawn its interval is drawn, and shapes say what colours say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from app.wording import in_hundred
from validation.results import Estimate

_TEXT = "#7d838c"
_PROMOTED, _AVOIDED = "promoted", "avoided"
_COLOURS = {_PROMOTED: "#3f87c9", _AVOIDED: "#c2742e"}
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


def dots(rows: Sequence[Dot], *, title: str, lowest: float = 0.0) -> Any:
    """One line a row in the order given; what is promoted and what is avoided stand apart within it.

    Args:
        rows: what to draw; a rate without a number keeps its row.
        title: of the horizontal axis.
        lowest: the left end of the axis: 0 for rates, -1 for differences.
    """
    order = list(dict.fromkeys(dot.row for dot in rows))
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
                "checked": dot.checked,
                "left": lowest,
            }
            for dot in rows
        ]
    )
    kind = {"domain": [_PROMOTED, _AVOIDED], "range": [_COLOURS[_PROMOTED], _COLOURS[_AVOIDED]]}
    shapes = {"domain": [_PROMOTED, _AVOIDED], "range": [_SHAPES[_PROMOTED], _SHAPES[_AVOIDED]]}
    colour = alt.Color("kind:N", scale=alt.Scale(**kind), legend=None)
    apart = alt.YOffset("kind:N", scale=alt.Scale(domain=[_PROMOTED, _AVOIDED], paddingOuter=0.9))
    base = alt.Chart(table).encode(
        y=alt.Y("row:N", sort=order, axis=None, scale=alt.Scale(paddingInner=0.0)),
        tooltip=[
            alt.Tooltip("row", title="About"),
            alt.Tooltip("kind", title="Kind"),
            alt.Tooltip("shown", title="Result"),
            alt.Tooltip("n", title="Conversations"),
        ],
    )
    x = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[lowest, 1], clamp=True, nice=False),
        title=title,
        axis=alt.Axis(format="+%" if lowest < 0 else "%", tickCount=5),
    )
    layers = [
        alt.Chart(table.drop_duplicates("row"))
        .mark_text(align="left", baseline="bottom", dy=-10, fontSize=13, color=_TEXT)
        .encode(y=alt.Y("row:N", sort=order, axis=None), x="left:Q", text="row:N"),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2.5, opacity=0.75)
        .encode(x="low:Q", x2="high:Q", yOffset=apart, color=colour),
        base.transform_filter("isValid(datum.value) && datum.checked")
        .mark_point(size=90, filled=True, opacity=1)
        .encode(
            x=x, yOffset=apart, color=colour, shape=alt.Shape("kind:N", scale=alt.Scale(**shapes), title=None)
        ),
        base.transform_filter("isValid(datum.value) && !datum.checked")
        .mark_point(size=90, filled=False, opacity=1, strokeWidth=2)
        .encode(
            x=x, yOffset=apart, color=colour, shape=alt.Shape("kind:N", scale=alt.Scale(**shapes), title=None)
        ),
    ]
    return alt.layer(*layers).properties(height=58 * max(len(order), 1))
