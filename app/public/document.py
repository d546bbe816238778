"""The frame of every public page: its head, the way to the other pages, and who is looking."""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib import resources
from urllib.parse import urlencode

from markupsafe import Markup

from app.landing import SIGN_IN
from app.public.contents import PAGES
from app.public.parts import Sheet
from impactbench.store.tables import Rater

_STYLES = ("document.css", "choices.css", "rate_picture.css", "nutrition_label.css")
_DOCUMENT = Markup(
    """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="/files/favicon.svg"><link rel="stylesheet" href="{style}">
{scripts}</head>
<body><a class="ib-skip" href="#content">To the content</a>
<header><a class="ib-home" href="/about">ImpactBench</a><nav aria-label="Pages">{pages}</nav><p class="ib-who">{who}</p></header>
<main id="content" tabindex="-1"><h1>{heading}</h1>
{parts}
</main></body></html>
"""
)
_TABLES = Markup('<script defer src="{}"></script>')
_FOLLOWS = Markup('<script type="module" src="{}"></script>')
_PLACE = Markup('<a href="{}"{}>{}</a> ')
_HERE = Markup(' aria-current="page"')
_SIGN_IN = Markup('<a href="{}">Sign in</a>').format(SIGN_IN)
_MEMBER = Markup('{} · <a href="/">Workbench</a>')


def document(
    sheet: Sheet, *, path: str = "", study: str = "", looking: Rater | None = None, on_file: bool = False
) -> str:
    """A page as a browser gets it.

    Args:
        sheet: what stands on it.
        path: where it is, which its own entry among the pages says.
        study: the study that it shows, which the other pages show then too.
        looking: who has signed in.
        on_file: whether it is written to a file, where nothing answers and nobody signs in.
    """
    query = f"?{urlencode({'study': study})}" if study else ""
    places = [
        _PLACE.format(f"/{where}{query}", _HERE if where == path else "", page.title)
        for where, page in PAGES.items()
    ]
    return _DOCUMENT.format(
        title="ImpactBench" if sheet.title == "ImpactBench" else f"{sheet.title} · ImpactBench",
        heading=sheet.title,
        style=where_file_is("public.css"),
        scripts=_TABLES.format(where_file_is("tables.js"))
        + ("" if on_file else _FOLLOWS.format(where_file_is("page.js"))),
        pages=Markup("").join(places),
        who="" if on_file else _SIGN_IN if looking is None else _MEMBER.format(looking.pseudonym),
        parts=Markup("\n").join(sheet.parts),
    )


def where_file_is(name: str) -> str:
    """The address of a file that pages load; it changes with what is in it, so that a browser may keep it for good."""
    return f"/files/{name}?{sha256(file_of_pages(name)).hexdigest()[:12]}"


@cache
def file_of_pages(name: str) -> bytes:
    """A file that pages load.

    Raises:
        KeyError: there is none of this name.
    """
    return b"".join(_source(part) for part in FILES[name][0])


FILES: dict[str, tuple[Sequence[str], str]] = {
    "public.css": (_STYLES, "text/css"),
    "page.js": (("page.js",), "text/javascript"),
    "tables.js": (("tables.js",), "text/javascript"),
    "favicon.svg": (("../favicon.svg",), "image/svg+xml"),
}
"""Name -> what it is made of, and its kind."""


def _source(name: str) -> bytes:
    return (resources.files("app.public") / name).read_bytes()
