"""The picture of a page: drawn with the page, or with tools (values, zoom, download) for whoever asks for them."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from app.components.rate_picture import rate_picture
from app.public_charts import Dot, drawn

_TOOLS = "tools"


def picture(
    rows: Sequence[Dot | str],
    *,
    title: str,
    alt: str,
    reach: float | None = None,
    with_tools: Callable[[], dict[str, Any]] | None = None,
) -> None:
    """Rates with their intervals.

    Args:
        rows: what to draw; a text stands between rows.
        title: of the axis.
        alt: what it shows, for whoever cannot see it.
        reach: of an axis of differences; an axis of rates where there is none.
        with_tools: the picture with tools, where it is not the same lines.
    """
    asked = st.session_state.get(_TOOLS, st.query_params.get(_TOOLS) == "on")
    if asked:
        dots = tuple(one for one in rows if isinstance(one, Dot))
        spec = drawn(dots, title=title, reach=reach) if with_tools is None else with_tools()
        st.vega_lite_chart(spec, alt=alt)
    else:
        st.html(rate_picture(rows, title=title, alt=alt, reach=reach))
    if st.toggle("Picture with tools: values, full screen, download", value=asked, key=_TOOLS):
        st.query_params[_TOOLS] = "on"
    else:
        st.query_params.pop(_TOOLS, None)
