"""Results of one model on one metric over time, drawn so that no line crosses a change of wording or judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt
import pandas as pd

from reviews.public.over_time import Point
from reviews.public.wording import in_hundred

_TEXT, _POINT = "#7d838c", "#3f87c9"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A result and what it is called on the axis."""

    name: str
    point: Point


@lru_cache(maxsize=256)
def drawn(looks: tuple[Look, ...]) -> dict[str, Any]:
    """The picture of `looks_chart` as a page sends it."""
    found: dict[str, Any] = looks_chart(looks).to_dict(validate=False)
    return found


def looks_chart(looks: Sequence[Look]) -> Any:
    """Points with intervals from left to right; a mark and words where something has changed."""
    frame = pd.DataFrame(
        [
            {
                "name": one.name,
                "value": one.point.rate.value,
                "low": one.point.rate.low,
                "high": one.point.rate.high,
                "segment": one.point.segment,
                "shown": in_hundred(one.point.rate),
                "judge": one.point.judge,
                "version": one.point.version,
                "changed": " ".join(f"▼ {what}" for what in one.point.changed),
            }
            for one in looks
        ]
    )
    x = alt.X("name:N", sort=None, title=None, axis=alt.Axis(labelAngle=0, labelLimit=140))
    share = alt.Scale(domain=[0, 1.12], nice=False)
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    base = alt.Chart(frame).encode(
        x=x,
        tooltip=[
            alt.Tooltip("name", title="When"),
            alt.Tooltip("shown", title="Passed"),
            alt.Tooltip("version", title="Version"),
            alt.Tooltip("judge", title="Judge"),
        ],
    )
    rate = alt.Y("value:Q", title="passed", scale=share, axis=axis)
    return alt.layer(
        base.mark_line(color=_POINT, aria=False).encode(y=rate, detail="segment:N"),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(color=_POINT, strokeWidth=2, aria=False)
        .encode(y=alt.Y("low:Q", scale=share, axis=axis), y2="high:Q"),
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=90, filled=True, color=_POINT, opacity=1, aria=False)
        .encode(y=rate),
        base.transform_filter("datum.changed").mark_rule(
            color=_TEXT, strokeDash=[4, 3], xOffset=-24, aria=False
        ),
        base.transform_filter("datum.changed")
        .mark_text(color=_TEXT, fontSize=12, aria=False)
        .encode(y=alt.datum(1.07, scale=share), text="changed:N"),
    ).properties(height=300)
