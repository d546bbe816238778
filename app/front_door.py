"""Where somebody who comes to the workbench is sent: readers to what is released, members to where their role begins.

Streamlit serves the page on which a role lands at the root alone, and says of its own address that there is no such page.
"""

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from app.landing import LANDS_ON
from app.public.routes import front_page
from app.sign_in import COOKIE
from app.who import who
from impactbench.domain import ImpactBenchError
from impactbench.settings import Settings
from reviews.public.releasing import public_studies


class FrontDoor:
    """Answers for the root where nobody has signed in and something is released; turns landing pages to the root."""

    def __init__(self, app: ASGIApp, *, engine: Engine, settings: Settings) -> None:
        self.app, self.engine, self.settings = app, engine, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = None
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            request = Request(scope)
            stranger = not {COOKIE, USER_COOKIE_NAME} & request.cookies.keys()
            if stranger and scope["path"] == "/":
                answer = await run_in_threadpool(self._released)
            elif scope["path"] in LANDS_ON.values():
                answer = await run_in_threadpool(self._turned, request)
        await (answer or self.app)(scope, receive, send)

    def _released(self) -> Response | None:
        try:
            studies = public_studies(self.engine)
            return front_page(self.engine, None, studies) if studies else None
        except (ImpactBenchError, SQLAlchemyError):
            return None  # the workbench says what is wrong with the database

    def _turned(self, request: Request) -> Response | None:
        try:
            looking = who(request, self.engine, self.settings)
        except (ImpactBenchError, SQLAlchemyError):
            return None
        if looking is None or LANDS_ON[looking.role] != request.url.path:
            return None
        return RedirectResponse(f"/?{request.url.query}" if request.url.query else "/", status_code=303)
