"""The files that the workbench's pages are made of: served from memory, and told where their server is.

A page consists of some seventy small scripts. Served one by one from the disk they take longer than everything else on it.
And a page that is not told where its server is asks below its own address first, is refused, and waits a tenth of a second
before it asks again.
"""

import mimetypes
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import file_util

_NAMED_BY_CONTENT = re.compile(r"/static/(?:js|css|media)/[\w-]+(?:\.[\w-]+)+")
_FOR_GOOD = "public, immutable, max-age=31536000"
_WHERE_THE_SERVER_IS = "<script>window.__streamlit = { BACKEND_BASE_URL: `${location.origin}/` }</script>"


class PageFiles:
    """Answers for files whose names say what is in them, and for the document with which every page begins."""

    def __init__(self, app: ASGIApp, *, pages: Callable[[], frozenset[str]]) -> None:
        """Takes what gives the addresses of the pages."""
        self.app, self.pages = app, pages
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
        if path in self.pages():
            document = HTMLResponse(first_document(self.folder), headers={"cache-control": "no-cache"})
            await document(scope, receive, send)
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


@cache
def first_document(folder: Path) -> str:
    """What a page begins with: Streamlit's own first document, told where the server is."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    return text.replace("<head>", f"<head>{_WHERE_THE_SERVER_IS}", 1)
