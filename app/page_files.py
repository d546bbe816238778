"""The files that Streamlit's pages are made of: served from memory, and announced before the page asks for them.

A page consists of some seventy small scripts. Served one by one from the disk they take longer than everything else on it;
and the scripts of what stands on a page are asked for only once the server has sent what stands there. A public page
names them in a header instead, so that a browser fetches them with the rest. It also says where the server is: a page
that is not told asks below its own address first, is refused, and waits a tenth of a second before it asks again.
"""

import mimetypes
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import file_util

_NAMED_BY_CONTENT = re.compile(r"/static/(?:js|css|media)/[\w-]+(?:\.[\w-]+)+")
_IMPORTED = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")
_SCRIPT = re.compile(r"static/js/([\w.-]+\.js)")
_FOR_GOOD = "public, immutable, max-age=31536000"
_TABLES, _CHOICES = ("Html", "Text"), ("Selectbox", "ButtonGroup")
STANDS_ON: Mapping[str, tuple[str, ...]] = {
    "/": _TABLES,
    "/about": _TABLES,
    "/label": (*_TABLES, "Selectbox", "DownloadButton"),
    "/explore": (*_TABLES, *_CHOICES, "Checkbox"),
    "/metrics": (*_TABLES, *_CHOICES, "TextInput"),
    "/statistics": _TABLES,
    "/over-time": (*_TABLES, "Selectbox", "Checkbox"),
    "/cases": _TABLES,
}
"""What each public page is made of, by its path: the first part of the names of Streamlit's scripts."""
STANDS_THERE_BESIDES: Mapping[tuple[str, str], tuple[str, ...]] = {("weights", "own"): ("Slider",)}
"""What a choice in the address adds."""
_WHERE_THE_SERVER_IS = "<script>window.__streamlit = { BACKEND_BASE_URL: `${location.origin}/` }</script>"


class PageFiles:
    """Answers for files whose names say what is in them; adds to a public page what it will need."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.folder = Path(file_util.get_static_dir())
        self.kept: dict[str, tuple[bytes, bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        if (found := self._file(path)) is not None:
            kind, content = found
            headers = [
                (b"content-type", kind),
                (b"content-length", str(len(content)).encode()),
                (b"cache-control", _FOR_GOOD.encode()),
            ]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": content})
            return

        if path in STANDS_ON:
            asked = parse_qs(scope["query_string"].decode("latin-1"))
            headers_of_page = {
                "cache-control": "no-cache",
                "link": announced(self.folder, _parts(path, asked)),
            }
            await HTMLResponse(first_document(self.folder), headers=headers_of_page)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _file(self, path: str) -> tuple[bytes, bytes] | None:
        """Kind and content of a file of Streamlit's; None for every other path."""
        if path not in self.kept:
            if not _NAMED_BY_CONTENT.fullmatch(path):
                return None
            place = self.folder / path.removeprefix("/")
            if not place.is_file():
                return None
            kind = mimetypes.guess_type(place.name)[0] or "application/octet-stream"
            self.kept[path] = kind.encode(), place.read_bytes()
        return self.kept[path]


def _parts(path: str, asked: Mapping[str, list[str]]) -> tuple[str, ...]:
    besides = [
        part
        for (name, value), parts in STANDS_THERE_BESIDES.items()
        if value in asked.get(name, ())
        for part in parts
    ]
    return (*STANDS_ON[path], *besides)


@cache
def first_document(folder: Path) -> str:
    """What a public page begins with: Streamlit's own first document, told where the server is."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    return text.replace("<head>", f"<head>{_WHERE_THE_SERVER_IS}", 1)


@cache
def announced(folder: Path, parts: tuple[str, ...]) -> str:
    """The header that names the scripts of a public page which its first document does not name itself."""
    scripts = folder / "static" / "js"
    at_once = set(_SCRIPT.findall((folder / "index.html").read_text(encoding="utf-8")))
    wanted: dict[str, None] = {}
    for part in parts:
        for found in sorted(scripts.glob(f"{part}.*.js")):
            wanted.update(dict.fromkeys(_with_imports(scripts, found.name, at_once)))
    return ", ".join(f"</static/js/{name}>; rel=modulepreload" for name in wanted)


def _with_imports(scripts: Path, name: str, known: set[str]) -> Iterator[str]:
    if name in known:
        return
    known.add(name)
    yield name
    for imported in _IMPORTED.findall((scripts / name).read_text(encoding="utf-8")):
        yield from _with_imports(scripts, imported, known)
