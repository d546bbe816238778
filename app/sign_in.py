"""Signing in: a personal link, used once, signs a device in; its cookie holds the key, and the key says who somebody is.

What they may do is never in the cookie: it is looked up in the database on every run of a page, and so is whether the
device is still signed in.
"""

import logging
import os
import secrets
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer
from sqlalchemy import Engine
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from app.sign_in_pages import leaving, no_entry, not_from_here, start
from impactbench.settings import Settings
from impactbench.store.tables import Rater
from reviews.members.devices import SIGNED_IN_DAYS, end_this_device, rater_of_device
from reviews.members.invitations import open_link, rater_of_token, rater_of_used_token
from reviews.members.this_device import number_of_device

COOKIE = "impactbench_person"
_SECONDS = SIGNED_IN_DAYS * 24 * 3600
_LONGEST_TOKEN = 200
_NOT_KEPT = {"cache-control": "no-store"}

_log = logging.getLogger("impactbench.sign_in")


def routes(engine: Engine, settings: Settings) -> list[Route]:
    """`/enter/{token}` shows whose link it is and signs in when asked to, `/leave` signs out."""
    signer = _signer(settings)

    def show(request: Request) -> Response:
        """Uses nothing up: programs that look at the links in a message open them too."""
        token, now = request.path_params["token"], datetime.now(UTC)
        if len(token) > _LONGEST_TOKEN:
            return _refuse(request)
        rater = rater_of_token(engine, token, now=now)
        if rater is not None:
            return sign_in(request) if rater.token_reusable else _page(start(rater.pseudonym))
        used_by, here = rater_of_used_token(engine, token), _here(request, engine, settings)
        if used_by is not None and here is not None and used_by.id == here.id:
            return RedirectResponse("/", status_code=303, headers=_NOT_KEPT)
        return _refuse(request, used=used_by is not None)

    def sign_in(request: Request) -> Response:
        token = request.path_params["token"]
        opened = open_link(engine, token, now=datetime.now(UTC)) if len(token) <= _LONGEST_TOKEN else None
        if opened is None:
            used = len(token) <= _LONGEST_TOKEN and rater_of_used_token(engine, token) is not None
            return _refuse(request, used=used)
        if before := _key(request.cookies.get(COOKIE), settings):
            end_this_device(engine, before)
        response = RedirectResponse("/", status_code=303, headers=_NOT_KEPT)
        response.set_cookie(
            COOKIE,
            signer.dumps(opened.key),
            max_age=_SECONDS,
            httponly=True,
            samesite="lax",
            secure=settings.base_url.startswith("https://"),
        )
        return response

    def enter(request: Request) -> Response:
        if request.method != "POST":
            return show(request)
        return sign_in(request) if is_own_page(request, settings) else _refuse_elsewhere(request)

    def leave(request: Request) -> Response:
        key = _key(request.cookies.get(COOKIE), settings)
        here = rater_of_device(engine, key, now=datetime.now(UTC)) if key else None
        if request.method != "POST" and here is not None:
            return _page(leaving(here.pseudonym))
        if request.method == "POST" and not is_own_page(request, settings):
            return _refuse_elsewhere(request)
        if key and request.method == "POST":
            end_this_device(engine, key)
        member = USER_COOKIE_NAME in request.cookies
        response = RedirectResponse("/auth/logout" if member else "/", status_code=303)
        response.delete_cookie(COOKIE)
        return response

    return [
        Route("/enter/{token}", enter, methods=["GET", "POST"]),
        Route("/leave", leave, methods=["GET", "POST"]),
    ]


def person_behind(cookie: str | None, engine: Engine, settings: Settings) -> Rater | None:
    """Who a cookie stands for; None where it is missing, forged or too old, or its device was signed out."""
    key = _key(cookie, settings)
    return rater_of_device(engine, key, now=datetime.now(UTC)) if key else None


def device_behind(cookie: str | None, engine: Engine, settings: Settings) -> int | None:
    """The number of the device that a cookie signs in, among its owner's."""
    key = _key(cookie, settings)
    return number_of_device(engine, key) if key else None


def is_own_page(request: Request, settings: Settings) -> bool:
    """Whether a request that changes something comes from a page of ours; what is no browser says nothing about it."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site == "same-origin"
    ours = {request.headers.get("host", ""), urlsplit(settings.base_url).netloc}
    return origin is None or urlsplit(origin).netloc in ours


def _here(request: Request, engine: Engine, settings: Settings) -> Rater | None:
    return person_behind(request.cookies.get(COOKIE), engine, settings)


def _key(cookie: str | None, settings: Settings) -> str | None:
    """The key that a cookie holds, as far as the signature tells."""
    if not cookie:
        return None
    try:
        key = _signer(settings).loads(cookie, max_age=_SECONDS)
    except BadSignature as refused:
        _log.warning(
            "Refused a sign-in cookie: %s",
            "too old" if isinstance(refused, SignatureExpired) else "not signed here",
        )
        return None
    return key if isinstance(key, str) else None


def _refuse(request: Request, *, used: bool = False) -> Response:
    because = "it was used before" if used else "it is unknown, has run out or was revoked"
    _log.warning("Refused a personal link: %s (%s)", because, _from(request))
    return _page(no_entry(used=used), status=404)


def _refuse_elsewhere(request: Request) -> Response:
    _log.warning("Refused a request that came from the page of another site (%s)", _from(request))
    return _page(not_from_here(), status=403)


def _page(text: str, *, status: int = 200) -> Response:
    return HTMLResponse(text, status_code=status, headers=_NOT_KEPT)


def _from(request: Request) -> str:
    return request.client.host if request.client else "unknown address"


def _signer(settings: Settings) -> URLSafeTimedSerializer:
    return _signer_with(settings.cookie_secret or _kept_secret(settings.state_dir))


@lru_cache(maxsize=8)
def _signer_with(secret: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(secret, salt=COOKIE)


def _kept_secret(folder: Path) -> str:
    """The secret made on the first start. Several processes behind one address set it by environment instead."""
    path = folder / "cookie-secret"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text(encoding="utf-8")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        secret = secrets.token_urlsafe(48)
        file.write(secret)
    return secret
