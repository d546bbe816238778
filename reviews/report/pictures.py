"""The pictures of a report: intervals wherever a point is drawn, in the colour of the text around them."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from reviews.report.document import Picture, Table
from reviews.report.spelling import spelled
from validation.multiverse import Multiverse
from validation.results import Estimate

INK = "#010203"
"""Stands for the colour of the surrounding text until the picture is drawn."""
ACCENT = "#3f87c9"
"""Stands out on white and on near-black alike."""
_WIDTH = 420


def forest(
    name: str,
    rows: Sequence[tuple[str, Estimate]],
    *,
    title: str,
    lowest: float = 0.0,
    highest: float = 1.0,
    cut_off: float | None = None,
    percent: bool = False,
) -> Picture:
    """One row a group with its interval, in the order given; a row without a number says why."""
    table = pd.DataFrame(
        [
            {
                "row": place,
                "group": group + ("" if estimate.defined else ": not estimable"),
                "value": estimate.value,
                "low": None if estimate.low is None else max(estimate.low, lowest),
                "high": None if estimate.high is None else min(estimate.high, highest),
            }
            for place, (group, estimate) in enumerate(rows)
        ]
    )
    order = alt.Y(
        "group:N",
        sort=alt.EncodingSortField("row"),
        title=None,
        axis=alt.Axis(labelLimit=330, labelColor=INK, ticks=False, domain=False),
    )
    value = alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(domain=[lowest, highest], nice=False, clamp=True),
        axis=_axis(percent),
    )
    base = alt.Chart(table).encode(y=order)
    layers = [
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2.5, color=ACCENT)
        .encode(x="low:Q", x2="high:Q"),
        base.mark_point(size=70, filled=True, opacity=1, color=ACCENT).encode(x=value),
    ]
    if cut_off is not None:
        line = alt.Chart(pd.DataFrame({"at": [cut_off]})).mark_rule(strokeDash=[5, 4], color=INK)
        layers.insert(0, line.encode(x="at:Q"))
    return Picture(
        name,
        f"Points with 95% intervals: {title}, one row each for {', '.join(group for group, _ in rows)}.",
        _specification(alt.layer(*layers).properties(width=_WIDTH, height=alt.Step(24))),
        Table(
            f"{title}, metric by metric",
            ("Metric", "With 95% interval"),
            tuple((group, spelled(estimate, percent=percent)) for group, estimate in rows),
        ),
    )


def curve(name: str, universe: Multiverse) -> Picture:
    """The judge's accuracy under every reading of the labels that counts, from the lowest to the highest."""
    cells = universe.curve("accuracy")
    table = pd.DataFrame(
        [
            {
                "place": place,
                "value": cell.accuracy.value,
                "low": cell.accuracy.low,
                "high": cell.accuracy.high,
            }
            for place, cell in enumerate(cells, start=1)
        ],
        columns=["place", "value", "low", "high"],
    )
    place = alt.X(
        "place:Q", title="readings of the labels, by accuracy", axis=_axis(percent=False, labels=False)
    )
    base = alt.Chart(table).encode(x=place)
    scale = alt.Scale(domain=[0, 1], nice=False)
    layers = [
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.5, opacity=0.5, color=ACCENT)
        .encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_point(size=30, filled=True, opacity=1, color=ACCENT).encode(
            y=alt.Y("value:Q", title="accuracy", scale=scale, axis=_axis(percent=True))
        ),
    ]
    rows = tuple((cell.policy.name, spelled(cell.accuracy, percent=True)) for cell in cells)
    return Picture(
        name,
        f"Accuracy with 95% intervals under {len(cells)} readings of the labels, ascending.",
        _specification(alt.layer(*layers).properties(width=_WIDTH, height=200)),
        Table("Accuracy under every reading that counts", ("Reading", "Accuracy"), rows),
    )


def pairs(
    name: str, rows: Sequence[tuple[str, Estimate, Estimate]], *, words: tuple[str, str], title: str
) -> Picture:
    """Two estimates a group, one above the other, told apart by shape as well as by colour."""
    long = pd.DataFrame(
        [
            {"row": place, "group": group, "who": who, "value": one.value, "low": one.low, "high": one.high}
            for place, (group, *both) in enumerate(rows)
            for who, one in zip(words, both, strict=True)
            if one.defined
        ],
        columns=["row", "group", "who", "value", "low", "high"],
    )
    base = alt.Chart(long).encode(
        y=alt.Y(
            "group:N",
            sort=alt.EncodingSortField("row"),
            title=None,
            axis=alt.Axis(labelLimit=330, labelColor=INK, ticks=False, domain=False),
        ),
        yOffset=alt.YOffset("who:N", sort=list(words)),
        color=alt.Color(
            "who:N",
            sort=list(words),
            scale=alt.Scale(domain=list(words), range=[ACCENT, "#d9822b"]),
            legend=alt.Legend(title=None, orient="top", labelColor=INK),
        ),
    )
    layers = [
        base.mark_rule(strokeWidth=2.5).encode(x="low:Q", x2="high:Q"),
        base.mark_point(size=70, filled=True, opacity=1).encode(
            x=alt.X(
                "value:Q", title=title, scale=alt.Scale(domain=[0, 1], nice=False), axis=_axis(percent=True)
            ),
            shape=alt.Shape("who:N", sort=list(words), legend=None),
        ),
    ]
    cells = tuple(
        (group, spelled(one, percent=True), spelled(other, percent=True)) for group, one, other in rows
    )
    return Picture(
        name,
        f"{title}: {words[0]} beside {words[1]}, with 95% intervals.",
        _specification(alt.layer(*layers).properties(width=_WIDTH, height=alt.Step(18))),
        Table(title, ("Model", *(f"{word[0].upper()}{word[1:]}" for word in words)), cells),
    )


def _axis(percent: bool, *, labels: bool = True) -> alt.Axis:
    return alt.Axis(
        format="%" if percent else ".1f",
        labels=labels,
        tickCount=6,
        labelColor=INK,
        titleColor=INK,
        domainColor=INK,
        tickColor=INK,
        gridColor=INK,
        gridOpacity=0.12,
    )


def _specification(chart: Any) -> dict[str, Any]:
    plain = chart.configure_view(stroke=None).configure(
        background="transparent", font="sans-serif", padding={"left": 48, "right": 12, "top": 6, "bottom": 6}
    )
    found: dict[str, Any] = plain.to_dict()
    return found
