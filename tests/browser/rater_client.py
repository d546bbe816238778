"""A rater without a browser: speaks the websocket protocol of the workbench, so that one process can be two hundred of them.

It sends what the rating desk sends and reads what the rating desk reads; nothing of the server is imported.
"""

import asyncio
import gzip
import http.client
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

COOKIE = "impactbench_person"
_EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
_PATIENCE = 60.0


class PageFailed(Exception):
    """The page showed an error, or no answer came."""


@dataclass(slots=True)
class Reply:
    """What one run of the page sent back."""

    seconds: float
    """From the first byte sent until the run had finished."""
    received: int = 0
    """Bytes."""
    item: dict[str, Any] | None = None
    """What the rating desk was given to show; None where the page shows something else."""
    headings: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)
    """All of it, as it came."""


def sign_in(link: str) -> str:
    """Use a personal link, as the button on its page does; gives the cookie.

    Raises:
        PageFailed: the link does not work.
    """
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=_PATIENCE)
    try:
        connection.request("POST", parts.path)
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    cookie = answer.getheader("set-cookie") or ""
    if not cookie.startswith(f"{COOKIE}="):
        raise PageFailed(f"{parts.path[:8]}… did not sign in: {answer.status}")
    return cookie.partition(";")[0]


class RaterClient:
    """One open page of one rater."""

    def __init__(
        self, address: str, cookie: str, *, origin: str | None = None, patience: float = _PATIENCE
    ) -> None:
        self._url = f"ws://{urlsplit(address).netloc}/_stcore/stream"
        self._headers = {"Origin": origin or address} | ({"Cookie": cookie} if cookie else {})
        self._patience = patience
        self._socket: ClientConnection | None = None
        self._query = ""
        self._page = ""
        self._path = ""
        self._desk = ""
        self._kept: dict[str, ForwardMsg] = {}
        self._short: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def open(self, query: str = "", *, page: str = "") -> Reply:
        """Open the page, or the one at another path; everything before it is shown counts."""
        self._query, self._path = query, page
        started = time.perf_counter()
        self._socket = await connect(
            self._url,
            additional_headers=self._headers,
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None,
            compression=None,
            open_timeout=self._patience,
            ping_interval=None,
        )
        return await self._run([], started=started)

    async def draft(self, item: dict[str, Any], content: dict[str, Any]) -> Reply:
        sent = {"code": item["code"], "base_revision": item["base_revision"], "content": content}
        return await self._run([{"event": "draft", "value": sent}])

    async def save(self, item: dict[str, Any], answer: dict[str, Any]) -> Reply:
        sent = {
            "code": item["code"],
            "base_revision": item["base_revision"],
            "answer": answer,
            "attempt": 1,
        }
        return await self._run([{"event": "save", "value": sent}])

    async def tell(self, kind: str, sent: dict[str, Any]) -> Reply:
        """Post what was done as the desk in a browser does, and go by the page where the answer says so."""
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._patience):
                status, answer, received = await self._post({"kind": kind, "formatted": False, **sent})
        except TimeoutError:
            raise PageFailed(f"no answer within {self._patience:g} s") from None
        if answer.get("by_page"):
            return await self._run([{"event": kind, "value": sent}], started=started)
        if status != 200 or answer.get("refused"):
            raise PageFailed(f"{kind}: {status} {answer.get('refused')}")
        return Reply(time.perf_counter() - started, received=received, item=answer.get("show"))

    async def _post(self, message: dict[str, Any]) -> tuple[int, dict[str, Any], int]:
        """(status, answer, bytes received), over one connection that is kept, as browsers keep it."""
        place = urlsplit(self._url)
        if self._short is None:
            self._short = await asyncio.open_connection(place.hostname, place.port)
        reader, writer = self._short
        body = json.dumps(message).encode()
        lines = [
            "POST /desk HTTP/1.1",
            f"Host: {place.netloc}",
            "Content-Type: application/json",
            "Accept-Encoding: gzip, deflate, br, zstd",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in self._headers.items()),
        ]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        content = await reader.readexactly(int(headers["content-length"]))
        plain = gzip.decompress(content) if headers.get("content-encoding") == "gzip" else content
        return int(head.split(" ", 2)[1]), json.loads(plain), len(head) + len(content)

    async def close(self) -> None:
        if self._short:
            self._short[1].close()
        if self._socket:
            await self._socket.close()

    async def _run(self, events: list[dict[str, Any]], *, started: float | None = None) -> Reply:
        if self._socket is None:
            raise PageFailed("the page was never opened")
        message = BackMsg()
        run = message.rerun_script
        run.query_string = self._query
        run.page_script_hash = self._page
        run.page_name = "" if self._page else self._path
        run.cached_message_hashes.extend(self._kept)
        if events:
            widget = run.widget_states.widgets.add()
            widget.id = _EVENTS.format(self._desk)
            widget.json_trigger_value = json.dumps(events)
        started = started or time.perf_counter()
        await self._socket.send(message.SerializeToString())
        try:
            async with asyncio.timeout(self._patience):
                return await self._read(started)
        except TimeoutError:
            raise PageFailed(f"no answer within {self._patience:g} s") from None

    async def _read(self, started: float) -> Reply:
        """Everything until the run has finished, and the run that it asked for."""
        reply = Reply(0.0)
        if self._socket is None:
            raise PageFailed("the page was never opened")
        while True:
            raw = await self._socket.recv()
            if isinstance(raw, str):
                raise PageFailed("the server sent text")
            reply.received += len(raw)
            reply.raw += raw
            message = ForwardMsg.FromString(raw)
            if message.WhichOneof("type") == "ref_hash":
                message = self._kept[message.ref_hash]
            elif message.metadata.cacheable:
                self._kept[message.hash] = message
                for stale in list(self._kept)[:-8]:
                    del self._kept[stale]
            match message.WhichOneof("type"):
                case "new_session":
                    self._page = message.new_session.page_script_hash
                    reply.item, reply.headings, reply.texts = None, [], []
                case "page_info_changed":
                    self._query = message.page_info_changed.query_string
                case "delta":
                    self._see(message, reply)
                case "script_finished":
                    status = message.script_finished
                    if status == ForwardMsg.FINISHED_SUCCESSFULLY:
                        reply.seconds = time.perf_counter() - started
                        return reply
                    if status != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                        raise PageFailed("the page does not compile")
                case _:
                    pass

    def _see(self, message: ForwardMsg, reply: Reply) -> None:
        if message.delta.WhichOneof("type") != "new_element":
            return
        element = message.delta.new_element
        match element.WhichOneof("type"):
            case "bidi_component":
                self._desk = element.bidi_component.id
                kind = element.bidi_component.WhichOneof("data")
                sent = element.bidi_component.mixed.json if kind == "mixed" else element.bidi_component.json
                reply.item = json.loads(sent)
            case "heading":
                reply.headings.append(element.heading.body)
            case "text" | "markdown":
                reply.texts.append(getattr(element, element.WhichOneof("type") or "text").body)
            case "exception":
                raise PageFailed(element.exception.message)
            case _:
                pass
