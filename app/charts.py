"""Pictures of results. Wherever a point is drawn its interval is drawn, and what is not known keeps its row."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from app.wording import spell
from validation.results import Estimate

_INK, _TEXT = "#3f87c9", "#7d838c"
"""Two tones that stand out on white and on near-black alike."""


def forest(
    rows: Sequence[tuple[str, Estimate]], *, title: str, cut_off: float | None = None, lowest: float = -0.5
) -> Any:
    """A forest plot: one row a group, in the order given, rows without a number last and in words.

    Args:
        rows: the name of each group and its estimate.
        title: of the horizontal axis.
        cut_off: where a line is drawn, such as the agreement that was set beforehand.
        lowest: the left end of the axis; intervals that reach further are cut there.
    """
    known = [(name, estimate) for name, estimate in rows if estimate.value is not None]
    unknown = [(name, estimate) for name, estimate in rows if estimate.value is None]
    table = pd.DataFrame(
        [
            {
                "row": place,
                "group": f"{name}  ·  n {estimate.n}" + _without_number(estimate),
                "value": estimate.value,
                "low": None if estimate.low is None else max(estimate.low, lowest),
                "high": estimate.high,
                "left": lowest,
                "n": estimate.n,
                "shown": spell(estimate),
            }
            for place, (name, estimate) in enumerate(known + unknown)
        ]
    )
    value = alt.X(
        "value:Q",
        scale=alt.Scale(domain=[lowest, 1], clamp=True, nice=False),
        title=title,
        axis=alt.Axis(tickCount=6),
    )
    base = alt.Chart(table).encode(
        y=alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=0.2)),
        tooltip=[
            alt.Tooltip("group", title="Group"),
            alt.Tooltip("shown", title="Estimate"),
            alt.Tooltip("n", title="Items"),
        ],
    )
    layers = [
        base.mark_text(align="left", baseline="bottom", dy=-7, fontSize=13, color=_TEXT).encode(
            x=alt.X("left:Q"), text="group:N"
        ),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2.5, color=_INK, yOffset=6)
        .encode(x="low:Q", x2="high:Q"),
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=110, filled=True, opacity=1, color=_INK, yOffset=6)
        .encode(x=value),
    ]
    if cut_off is not None:
        line = alt.Chart(pd.DataFrame({"at": [cut_off]})).mark_rule(
            strokeDash=[5, 4], strokeWidth=1.5, color=_TEXT
        )
        layers.insert(0, line.encode(x="at:Q"))
    return alt.layer(*layers).properties(height=alt.Step(46))


def _without_number(estimate: Estimate) -> str:
    return f"  ·  {spell(estimate)}" if estimate.value is None else ""
