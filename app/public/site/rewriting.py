"""Turns the addresses in a page into names of files beside it; what has no file is text and leads nowhere."""

import re
from html import escape, unescape
from posixpath import dirname, relpath
from urllib.parse import parse_qsl, quote, urlsplit

from app.public.site.published import Published

_LINK = re.compile(
    r'<a (?P<kind>class="[\w-]+" )?href="(?P<to>/[^"]*)"(?P<more>[^>]*)>(?P<words>.*?)</a>', re.DOTALL
)
_LOADED = re.compile(
    r'(?P<name>src|href)="/(?P<file>files/[\w.-]+)\?[0-9a-f]+"|href="/(?P<icon>files/[\w.-]+)"'
)


def to_files(page: str, file: str, published: Published) -> bytes:
    """A page as it stands in its file.

    Args:
        page: as a server would send it.
        file: where it is written, below the folder of the site.
        published: the files that there are.
    """
    here = dirname(file)

    def linked(found: re.Match[str]) -> str:
        target = _target(unescape(found["to"]), published)
        if target is None:
            return found["words"]
        return f'<a {found["kind"] or ""}href="{escape(_relative(target, here))}"{found["more"]}>{found["words"]}</a>'

    def loaded(found: re.Match[str]) -> str:
        return f'{found["name"] or "href"}="{_relative(found["file"] or found["icon"], here)}"'

    return _LINK.sub(linked, _LOADED.sub(loaded, page)).encode()


def _target(address: str, published: Published) -> str | None:
    parts = urlsplit(address)
    path = parts.path.lstrip("/")
    if path in published.pages:
        return path
    return published.find(path, dict(parse_qsl(parts.query)))


def _relative(file: str, here: str) -> str:
    name, hash_, place = file.partition("#")
    return quote(relpath(name, here or ".")) + hash_ + place
