"""Pictures of results. Wherever a point is drawn its interval is drawn, and what is not known keeps its row."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from app.wording import spell
from validation.results import Estimate

_INK, _TEXT = "#3f87c9", "#7d838c"
"""Two tones that stand out on white and on near-black alike."""


def curve(rows: Sequence[tuple[str, Estimate]], *, title: str, line: float | None = None) -> Any:
    """A specification curve: one point a choice, in ascending order, each with its interval.

    Args:
        rows: the name of each choice and its estimate, all with a value.
        title: of the vertical axis.
        line: where a line is drawn, such as what is claimed.
    """
    table = pd.DataFrame(
        [
            {
                "place": place,
                "choice": name,
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "n": one.n,
                "shown": spell(one),
            }
            for place, (name, one) in enumerate(rows, start=1)
        ]
    )
    base = alt.Chart(table).encode(
        x=alt.X("place:Q", title="Choices, from the lowest value to the highest", axis=alt.Axis(format="d")),
        tooltip=[
            alt.Tooltip("choice", title="Choice"),
            alt.Tooltip("shown", title="Estimate"),
            alt.Tooltip("n", title="Items"),
        ],
    )
    layers = [
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2, color=_INK, opacity=0.55)
        .encode(y=alt.Y("low:Q", title=title, scale=alt.Scale(domain=[0, 1])), y2="high:Q"),
        base.mark_point(size=45, filled=True, opacity=1, color=_INK).encode(y="value:Q"),
    ]
    if line is not None:
        layers.insert(0, _level(line))
    return alt.layer(*layers).properties(height=260)


def thresholds(
    taus: Sequence[float],
    series: Sequence[tuple[str, Sequence[Estimate]]],
    *,
    title: str,
    lowest: float = 0.0,
) -> Any:
    """Curves over thresholds, each point with its interval.

    Args:
        taus: the thresholds.
        series: the name of each curve and its estimates, one a threshold.
        title: of the vertical axis.
        lowest: the lower end of it.
    """
    table = pd.DataFrame(
        [
            {
                "threshold": tau,
                "of": name,
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "shown": spell(one),
            }
            for name, estimates in series
            for tau, one in zip(taus, estimates, strict=True)
        ]
    )
    base = alt.Chart(table).encode(
        x=alt.X(
            "threshold:Q", title="Share of experts that a decision asks for", scale=alt.Scale(domain=[0, 1])
        ),
        tooltip=[
            alt.Tooltip("of", title="Judge"),
            alt.Tooltip("threshold"),
            alt.Tooltip("shown", title="Estimate"),
        ],
    )
    return alt.layer(
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2, color=_INK, opacity=0.55)
        .encode(y=alt.Y("low:Q", title=title, scale=alt.Scale(domain=[lowest, 1])), y2="high:Q"),
        base.mark_line(color=_INK, strokeWidth=1.5).encode(
            y="value:Q", strokeDash=alt.StrokeDash("of:N", legend=None)
        ),
        base.mark_point(size=70, filled=True, opacity=1, color=_INK).encode(
            y="value:Q", shape=alt.Shape("of:N", legend=alt.Legend(title=None, orient="top"))
        ),
    ).properties(height=260)


def _level(at: float) -> Any:
    return (
        alt.Chart(pd.DataFrame({"at": [at]}))
        .mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=_TEXT)
        .encode(y="at:Q")
    )
