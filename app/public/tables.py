"""Tables as plain HTML: read aloud cell by cell, linked, and printed like the rest of the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

_TABLE = Markup(
    '<div class="ib-scroll" tabindex="0" role="region" aria-label="{caption}"><table class="ib-table">'
    "<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What stands in a cell; `where` makes it a link."""

    text: str
    where: str | None = None
    whole: bool = False
    """Whether it must not be broken over lines."""
    long: bool = False
    """Whether it is prose, which needs room on a narrow screen."""
    links: Sequence[tuple[str, str]] = ()
    """Several texts with their addresses, instead of one text."""


def table(heads: Sequence[str], rows: Sequence[Sequence[Cell | str]], *, caption: str) -> Markup:
    """A table whose first cell in a row names the row.

    Args:
        heads: of the columns.
        rows: the cells of each, as many as there are heads.
        caption: what the table shows, for whoever cannot see it.
    """
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "".join(f"<tr>{''.join(_cell(cell, n == 0) for n, cell in enumerate(row))}</tr>" for row in rows)
    return _TABLE.format(caption=caption, heads=Markup(top), rows=Markup(body))  # noqa: S704 (escaped cell by cell)


def _cell(cell: Cell | str, head: bool) -> str:
    """A site has some hundred thousand of them, so that they are put together by hand."""
    tag = 'th scope="row"' if head else "td"
    if isinstance(cell, str):
        return f"<{tag}>{escape(cell)}</{tag[:2]}>"
    inside = str(escape(cell.text))
    if cell.links:
        inside = ", ".join(_link(where, escape(text)) for text, where in cell.links)
    if cell.where is not None:
        inside = _link(cell.where, inside)
    kind = ' class="ib-nowrap"' if cell.whole else ' class="ib-long"' if cell.long else ""
    return f"<{tag}{kind}>{inside}</{tag[:2]}>"


def _link(where: str, inside: str) -> str:
    return f'<a href="{escape(where)}">{inside}</a>'
