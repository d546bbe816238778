"""Pictures of results. Wherever a point is drawn its interval is drawn, and what is not known keeps its row."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from app.wording import because, spell
from validation.results import Estimate


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
                "group": f"{name}  ·  n {estimate.n}",
                "value": estimate.value,
                "low": lowest if estimate.low is None else max(estimate.low, lowest),
                "high": estimate.high,
                "drawn": estimate.low is not None,
                "n": estimate.n,
                "shown": spell(estimate),
                "why": because(estimate.undefined_because) if estimate.value is None else "",
            }
            for name, estimate in known + unknown
        ]
    )
    groups = alt.Y("group:N", sort=table["group"].tolist(), title=None, axis=alt.Axis(labelLimit=320))
    scale = alt.Scale(domain=[lowest, 1], clamp=True)
    hover = [
        alt.Tooltip("group", title="Group"),
        alt.Tooltip("shown", title="Estimate"),
        alt.Tooltip("n", title="Items"),
    ]
    base = alt.Chart(table).encode(y=groups, tooltip=hover)
    layers = [
        base.transform_filter("datum.drawn")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=scale, title=title), x2="high:Q"),
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=90, filled=True)
        .encode(x=alt.X("value:Q", scale=scale, title=title)),
        base.transform_filter("!isValid(datum.value)")
        .mark_text(align="left", fontStyle="italic", fontSize=12)
        .encode(x=alt.datum(lowest, scale=scale), text="why:N"),
    ]
    if cut_off is not None:
        line = alt.Chart(pd.DataFrame({"at": [cut_off]})).mark_rule(strokeDash=[5, 4])
        layers.insert(0, line.encode(x=alt.X("at:Q", scale=scale, title=title)))
    return alt.layer(*layers).properties(height=alt.Step(30))
