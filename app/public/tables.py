"""Tables as plain HTML: read aloud cell by cell, linked, and printed like the rest of the page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

_TABLE = Markup(
    '<div class="ib-scroll" tabindex="0" role="region" aria-label="{caption}"><table class="ib-table">'
    "<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
)
_HEAD = Markup('<th scope="col">{}</th>')
_ROW = Markup("<tr>{}</tr>")
_FIRST, _OTHER = Markup('<th scope="row"{}>{}</th>'), Markup("<td{}>{}</td>")
_LINK = Markup('<a href="{}">{}</a>')
_WHOLE, _LONG, _PLAIN = Markup(' class="ib-nowrap"'), Markup(' class="ib-long"'), Markup("")


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
    body = (_ROW.format(_joined(_cell(cell, n == 0) for n, cell in enumerate(row))) for row in rows)
    return _TABLE.format(caption=caption, heads=_joined(map(_HEAD.format, heads)), rows=_joined(body))


def _cell(cell: Cell | str, head: bool) -> Markup:
    frame = _FIRST if head else _OTHER
    if isinstance(cell, str):
        return frame.format(_PLAIN, cell)
    inside: str | Markup = cell.text
    if cell.links:
        inside = Markup(", ").join(_LINK.format(where, text) for text, where in cell.links)
    if cell.where is not None:
        inside = _LINK.format(cell.where, inside)
    return frame.format(_WHOLE if cell.whole else _LONG if cell.long else _PLAIN, inside)


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup("").join(parts)
