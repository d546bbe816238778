"""Serving the workbench: Streamlit as an ASGI app, with sign-in, a health check and a content security policy."""

import gc
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import streamlit as st
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette import starlette_server

from app import desk_route, members, sign_in, workspace
from app.front_door import FrontDoor
from app.landing import SIGN_IN
from app.page_files import PageFiles
from app.public import data, routes
from impactbench.domain import ImpactBenchError
from impactbench.settings import Settings
from impactbench.store.engine import require_current
from reviews.rating.visit import make_ready

_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


_LOOKS = {
    "theme.light.primaryColor": "#0b5fa5",
    "theme.light.linkColor": "#0b5fa5",
    "theme.dark.primaryColor": "#8cc2f5",
    "theme.dark.linkColor": "#7db8f0",
    "theme.light.textColor": "#14161c",
    "theme.linkUnderline": True,
    "theme.baseFontSize": 16,
    "theme.headingFontSizes": ["1.9rem", "1.35rem", "1.15rem", "1rem", "1rem", "1rem"],
}


class SecureHeaders:
    """Puts the security headers on every response that has no stricter ones of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def create_app(settings: Settings) -> st.App:
    """The ASGI app of the workbench on the database that the settings name."""
    workspace.use(settings)
    engine = workspace.engine()

    def healthz(_request: Request) -> Response:
        try:
            require_current(engine)
        except (ImpactBenchError, SQLAlchemyError) as error:
            return JSONResponse({"status": "failing", "because": str(error)}, status_code=503)
        return JSONResponse({"status": "ok"})

    return st.App(
        Path(__file__).with_name("main.py"),
        routes=[
            Route("/healthz", healthz),
            *sign_in.routes(engine, settings),
            *desk_route.routes(engine, settings),
            *routes.routes(engine, settings),
        ],
        middleware=[
            Middleware(SecureHeaders),
            Middleware(FrontDoor, engine=engine, settings=settings),
            Middleware(PageFiles, pages=_addresses),
        ],
        lifespan=_prepare,
    )


def _addresses() -> frozenset[str]:
    """Where Streamlit's pages are; they are imported once its runtime is there, which they ask for."""
    from app.navigation import ADDRESSES

    return ADDRESSES | {"/", SIGN_IN}


@asynccontextmanager
async def _prepare(_app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Import every page before the first visitor, and keep all of it out of the collections after every run of a page."""
    _addresses()
    import_module("streamlit.emojis")  # which the first button of a page would wait for
    make_ready()
    gc.collect()
    gc.freeze()
    Thread(target=_look_ahead, args=(workspace.engine(),), name="looking ahead", daemon=True).start()
    yield {}


def _look_ahead(engine: Engine) -> None:
    """What the first visitors will ask for, beside everything else that a start has to do."""
    from app.audit import read_ahead

    try:
        data.compute_ahead(engine)
        read_ahead(engine)
    except (ImpactBenchError, SQLAlchemyError):
        return


def _send_without_waiting() -> None:
    """Have the server send small messages at once.

    Streamlit makes its listening socket without naming the protocol, so that asyncio does not know it for TCP and leaves
    Nagle's algorithm on: every run of a page then waits for 40 ms for an acknowledgement. Connections inherit the option.
    """
    bind = starlette_server._bind_socket

    def bind_without_delay(address: str, port: int, backlog: int) -> socket.socket:
        bound = bind(address, port, backlog)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return bound

    starlette_server._bind_socket = bind_without_delay


def serve(*, port: int, settings: Settings, address: str = "localhost") -> None:
    """Serve the workbench until it is stopped."""
    _send_without_waiting()
    members.keep_only_the_identity()
    create_app(settings).run(
        config={
            **_LOOKS,
            "server.port": port,
            "server.address": address,
            "server.headless": True,
            "server.fileWatcherType": "none",
            "server.showEmailPrompt": False,
            "browser.gatherUsageStats": False,
            "client.toolbarMode": "viewer",
            "client.showErrorDetails": "none",
            "runner.magicEnabled": False,
            "runner.postScriptGC": False,
            "logger.level": "warning",
        }
    )
