"""The picture of a page: drawn with the page, or with tools (values, zoom, download) for whoever asks for them."""

import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from app.public.charts import Dot, drawn
from app.public.parts import link, text
from app.public.rate_picture import rate_picture
from app.public.visit import TOOLS, Visit

_DRAWN_BY = f"/files/pictures.js?{version('vl-convert-python')}"
_WITH_TOOLS = Markup(
    '<div class="ib-tools" role="img" aria-label="{alt}" data-picture="{spec}" data-drawn-by="{by}"></div>'
    "<noscript><p>The picture with tools needs a browser that runs scripts.</p></noscript>"
)


def picture(
    visit: Visit,
    rows: Sequence[Dot | str],
    *,
    title: str,
    alt: str,
    reach: float | None = None,
    with_tools: Callable[[], dict[str, Any]] | None = None,
) -> Markup:
    """Rates with their intervals.

    Args:
        visit: whose address says whether the picture has tools.
        rows: what to draw; a text stands between rows.
        title: of the axis.
        alt: what it shows, for whoever cannot see it.
        reach: of an axis of differences; an axis of rates where there is none.
        with_tools: the picture with tools, where it is not the same lines.
    """
    if visit.on_file:
        return rate_picture(rows, title=title, alt=alt, reach=reach)
    others = {name: value for name, value in visit.asked.items() if name != TOOLS}
    if visit.asked.get(TOOLS) != "on":
        where = f"?{urlencode({**others, TOOLS: 'on'})}"
        said = text(link("Picture with tools: values, download", where))
        return rate_picture(rows, title=title, alt=alt, reach=reach) + said
    dots = tuple(one for one in rows if isinstance(one, Dot))
    spec = drawn(dots, title=title, reach=reach) if with_tools is None else with_tools()
    shown = _WITH_TOOLS.format(alt=alt, spec=json.dumps({**spec, "width": "container"}), by=_DRAWN_BY)
    return shown + text(link("Plain picture", f"?{urlencode(others)}"))
