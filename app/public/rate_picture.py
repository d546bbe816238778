"""Rates with their intervals drawn by the page itself: nothing has to load, and it is there with the words around it."""

from collections.abc import Sequence
from html import escape

from markupsafe import Markup

from app.public.charts import Dot
from reviews.public.wording import in_hundred
from validation.results import Estimate

_TICKS = 5


def rate_picture(rows: Sequence[Dot | str], *, title: str, alt: str, reach: float | None = None) -> Markup:
    """One line a row with its marks below; a circle is what was shown, a square what was avoided.

    What experts have not checked is hollow, grey and dashed. Pointing at a line shows its numbers, which the table beside
    the picture gives as well.

    Args:
        rows: what to draw; a text stands between rows, for what has changed there.
        title: of the axis.
        alt: what the picture shows, for whoever cannot see it.
        reach: of an axis of differences, to either side of 0; an axis of rates where there is none.
    """
    lines, before = [], None
    for one in rows:
        if isinstance(one, str):
            lines.append(f'<p class="ib-change">{escape(one)}</p>')
            before = None
            continue
        if one.row != before:
            lines.append(f"<p>{escape(one.row)}</p>")
            before = one.row
        lines.append(_track(one, reach))
    ticks = "".join(f"<span>{_tick(k / (_TICKS - 1), reach)}</span>" for k in range(_TICKS))
    return Markup(  # noqa: S704 (every text above is escaped)
        f'<div class="ib-picture" role="img" aria-label="{escape(alt)}">{"".join(lines)}'
        f'<div class="ib-ticks">{ticks}</div><p>{escape(title)}</p></div>'
    )


def _track(one: Dot, reach: float | None) -> str:
    kind = ("" if one.promoted else " ib-avoided") + ("" if one.checked else " ib-doubt")
    zero = "" if reach is None else '<span class="ib-zero"></span>'
    said = f"{one.row}: {in_hundred(one.rate)}, {one.rate.n:,} conversations"
    return f'<span class="ib-track{kind}" title="{escape(said)}">{zero}{_mark(one.rate, one.promoted, reach)}</span>'


def _mark(rate: Estimate, circle: bool, reach: float | None) -> str:
    if rate.value is None:
        return ""
    shape = "" if circle else ' class="ib-square"'
    spread = ""
    if rate.low is not None and rate.high is not None:
        spread = f'<i style="left:{_at(rate.low, reach)};right:calc(100% - {_at(rate.high, reach)})"></i>'
    return f'{spread}<b{shape} style="left:{_at(rate.value, reach)}"></b>'


def _at(value: float, reach: float | None) -> str:
    """Where a value stands on the axis."""
    share = value if reach is None else (value + reach) / (2 * reach)
    return f"{min(max(share, 0.0), 1.0):.1%}"


def _tick(share: float, reach: float | None) -> str:
    if reach is None:
        return f"{share:.0%}"
    point = round(100 * reach * (2 * share - 1))
    return f"{point:+}" if point else "0"
