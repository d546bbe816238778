"""The short way of the rating desk: an answer is acknowledged, and the next conversation sent, without a run of the page.

A run of a page costs many times what storing an answer costs, and a hundred people rate at once. So the desk posts what
its rater did to `/desk` and shows what comes back. What the short way cannot settle (two answers that disagree, questions
after the last item, a rater who came in through their organisation) it answers with `by_page`; the desk then sends the
same message to the page. Messages say what they are about, so it does no harm that one is sent twice, or both ways.
"""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from anyio import CapacityLimiter, to_thread
from sqlalchemy import Engine
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app import answering
from app.components.rating_desk import as_shown
from app.sign_in import COOKIE, is_own_page, person_behind
from impactbench.domain import Role
from impactbench.settings import Settings
from reviews.labels import LabelRefused
from reviews.rating.practice import is_practice

LARGEST_MESSAGE = 400_000
"""Bytes; the largest draft in any script is smaller."""
_AT_ONCE = 4
"""More threads at the database at once only wait for each other."""
_BY_PAGE = {"by_page": True}
_NOT_KEPT = {"cache-control": "no-store"}

_log = logging.getLogger("impactbench.desk")


def routes(engine: Engine, settings: Settings) -> list[Route]:
    """`POST /desk` with `kind`: `draft`, `save`, `go` or `view`, and what the desk sends along."""
    limit: list[CapacityLimiter] = []

    async def receive(request: Request) -> Response:
        if not is_own_page(request, settings) or not _is_json(request):
            _log.warning("Refused an answer that did not come from a page of ours")
            return _reply({"refused": "Not from a page of the workbench."}, status=403)
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_MESSAGE:
                return _reply({"refused": "This text is too long to be kept. Please shorten it."}, status=413)
        if not limit:
            limit.append(CapacityLimiter(_AT_ONCE))
        cookie = request.cookies.get(COOKIE)
        return await to_thread.run_sync(_answer, engine, settings, cookie, body, limiter=limit[0])

    return [Route("/desk", receive, methods=["POST"])]


def _answer(engine: Engine, settings: Settings, cookie: str | None, body: bytes) -> Response:
    looking = person_behind(cookie, engine, settings)
    if looking is None or looking.id is None or looking.role is not Role.EXPERT:
        return _reply(_BY_PAGE, status=401)
    try:
        sent = json.loads(body)
        return _reply(_act(engine, looking.id, sent))
    except (KeyError, TypeError, ValueError):
        return _reply({"refused": "Not saved: this message cannot be read."}, status=400)


def _act(engine: Engine, rater_id: int, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Do what was asked; what the desk shows then, or `by_page`."""
    if is_practice(str(sent["code"])):
        return _BY_PAGE
    formatted = bool(sent.get("formatted"))
    match sent["kind"]:
        case "draft":
            try:
                kept = answering.keep_draft(engine, rater_id, sent)
            except LabelRefused as refusal:
                return {"refused": str(refusal)}
            return {"draft_at": datetime.now(UTC).isoformat()} if kept else _BY_PAGE
        case "save":
            saved = answering.save(engine, rater_id, sent)
            if saved.refused:
                return {"refused": saved.refused}
            return _show(engine, rater_id, saved.following, formatted) if saved.following else _BY_PAGE
        case _:
            return _show(engine, rater_id, str(sent["code"]), formatted)


def _show(engine: Engine, rater_id: int, code: str, formatted: bool) -> dict[str, Any]:
    try:
        on_desk = answering.open_item(engine, rater_id, code)
    except LabelRefused:
        return _BY_PAGE
    return {"show": as_shown(on_desk, formatted_view=formatted)}


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip() == "application/json"


def _reply(content: Mapping[str, Any], *, status: int = 200) -> Response:
    return JSONResponse(content, status_code=status, headers=_NOT_KEPT)
