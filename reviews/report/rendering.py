"""A document as one self-contained HTML file, as Markdown, and its pictures as SVG. The same document, the same bytes."""

import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import vl_convert
from jinja2 import Environment, StrictUndefined

from reviews.report.document import Document, Picture, Quotation, Section, Table
from reviews.report.pictures import INK

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|$~&!])")


def draw(picture: Picture) -> str:
    """A picture as SVG that takes the colour of the text around it."""
    svg = str(vl_convert.vegalite_to_svg(picture.chart))
    return svg.replace(INK, "currentColor")


def drawings(document: Document) -> dict[str, str]:
    """Every picture of a document by name."""
    return {picture.name: draw(picture) for section in document.sections for picture in section.pictures}


def as_json(card: Mapping[str, Any]) -> str:
    """A card as JSON for people and machines."""
    return json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def embedded(card: Mapping[str, Any]) -> str:
    r"""JSON that may stand within a script element, whatever it quotes.

    >>> embedded({"said": "</script>"})
    '{"said": "\\u003c/script\\u003e"}'
    """
    text = json.dumps(card, ensure_ascii=False, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def as_html(document: Document, drawn: Mapping[str, str]) -> str:
    """One file that opens offline and loads nothing."""
    source = (resources.files("reviews.report") / "report.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(source).render(
        document=document,
        drawings=drawn,  # made by Vega, which escapes what it writes
        embedded=embedded(document.card),
    )


def as_markdown(document: Document) -> str:
    """The same report for a text editor; pictures are links into figures/."""
    lines = [f"# {_plain(document.title)}", "", _plain(document.subtitle), ""]
    if document.notice:
        lines += [f"> {_plain(document.notice)}", ""]
    for section in document.sections:
        lines += _section(section)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(section: Section) -> Iterator[str]:
    yield from (f"## {_plain(section.title)}", "", f"**{_plain(section.answer)}**", "")
    for paragraph in section.paragraphs:
        yield from (_plain(paragraph), "")
    for picture in section.pictures:
        yield from (f"![{_plain(picture.says)}](figures/{picture.name}.svg)", "")
        yield from _table(picture.table)
    for table in section.tables:
        yield from _table(table)
    for quotation in section.quotations:
        yield from _quotation(quotation)


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        return
    yield from (_plain(table.caption), "")
    yield _row(table.columns)
    yield _row(("---",) * len(table.columns), plain=False)
    yield from (_row(row) for row in table.rows)
    yield ""


def _row(cells: tuple[str, ...], *, plain: bool = True) -> str:
    return "| " + " | ".join(_plain(cell) if plain else cell for cell in cells) + " |"


def _quotation(quotation: Quotation) -> Iterator[str]:
    yield from (f"### {_plain(quotation.title)}", "")
    yield from _table(quotation.said)
    for who, message in quotation.turns:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", message)), default=0))
        yield from (f"{_plain(who)}:", "", fence, message, fence, "")


def _plain(text: str) -> str:
    r"""Text that Markdown shows as it stands, on one line.

    >>> print(_plain("a|b *c*"))
    a\|b \*c\*
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
