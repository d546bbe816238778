"""Tables for everybody as plain HTML: read aloud cell by cell, linked, and printed like the rest of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

STYLE = """<style>
.ib-scroll { overflow-x: auto; }
.ib-table { border-collapse: collapse; font-size: .95rem; }
.ib-table th, .ib-table td { text-align: start; vertical-align: top; padding: .4rem .9rem .4rem 0;
  border-bottom: 1px solid rgba(127, 131, 140, .4); font-weight: 400; white-space: normal; }
.ib-table thead th { font-weight: 600; }
.ib-table td { min-width: 4.5rem; }
.ib-table .ib-nowrap { white-space: nowrap; }
.ib-table .ib-long { min-width: 12rem; }
.ib-table a { color: inherit; }
</style>"""


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


def table(heads: Sequence[str], rows: Sequence[Sequence[Cell | str]], *, caption: str) -> str:
    """A table whose first cell in a row names the row.

    Args:
        heads: of the columns.
        rows: the cells of each, as many as there are heads.
        caption: what the table shows, for whoever cannot see it.
    """
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "".join(f"<tr>{''.join(_cell(cell, n == 0) for n, cell in enumerate(row))}</tr>" for row in rows)
    return (
        f'{STYLE}<div class="ib-scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="ib-table"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cell(cell: Cell | str, head: bool) -> str:
    one = Cell(text=cell) if isinstance(cell, str) else cell
    inside = escape(one.text)
    if one.links:
        inside = ", ".join(
            f'<a href="{escape(where)}" target="_self">{escape(text)}</a>' for text, where in one.links
        )
    if one.where is not None:
        inside = f'<a href="{escape(one.where)}" target="_self">{inside}</a>'
    tag, scope = ("th", ' scope="row"') if head else ("td", "")
    kind = ' class="ib-nowrap"' if one.whole else ' class="ib-long"' if one.long else ""
    return f"<{tag}{scope}{kind}>{inside}</{tag}>"
