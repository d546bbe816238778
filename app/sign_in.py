"""Signing in: a personal link sets a signed cookie, and the cookie says who somebody is.

What they may do is never in the cookie: it is looked up in the database on every run of a page.
"""

import logging
import os
import secrets
from datetime import UTC, datetime

from itsdangerous import BadSignature, SignatureExpired, URLSafeTimedSerializer
from sqlalchemy import Engine
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from impactbench.settings import Settings
from impactbench.store.tables import Rater
from reviews.invitations import hash_token, rater_of_hash, rater_of_token

COOKIE = "impactbench_person"
_COOKIE_DAYS = 30
_LONGEST_TOKEN = 200

_log = logging.getLogger("impactbench.sign_in")

_NO_ENTRY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>This link does not work</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<body style="font: 1.1rem/1.6 system-ui; max-width: 34rem; margin: 4rem auto; padding: 0 1rem">
<h1 style="font-size: 1.4rem">This link does not work</h1>
<p>It may have run out, or a newer link was made for you since. Nothing that you have saved is lost.</p>
<p>Please ask the person who sent it to you for a new link.</p></body></html>"""


def routes(engine: Engine, settings: Settings) -> list[Route]:
    """`/enter/{token}` signs in, `/leave` signs out."""
    signer = _signer(settings)
    secure = settings.base_url.startswith("https://")

    def enter(request: Request) -> Response:
        token = request.path_params["token"]
        known = len(token) <= _LONGEST_TOKEN and rater_of_token(engine, token, now=datetime.now(UTC))
        if not known:
            _log.warning(
                "Refused a personal link: it is unknown, has run out or was revoked (%s)", _from(request)
            )
            return HTMLResponse(_NO_ENTRY, status_code=404, headers={"cache-control": "no-store"})
        response = RedirectResponse("/", status_code=303, headers={"cache-control": "no-store"})
        response.set_cookie(
            COOKIE,
            signer.dumps(hash_token(token)),
            max_age=_COOKIE_DAYS * 24 * 3600,
            httponly=True,
            samesite="lax",
            secure=secure,
        )
        return response

    def leave(request: Request) -> Response:
        member = USER_COOKIE_NAME in request.cookies
        response = RedirectResponse("/auth/logout" if member else "/", status_code=303)
        response.delete_cookie(COOKIE)
        return response

    return [Route("/enter/{token}", enter), Route("/leave", leave)]


def person_behind(cookie: str | None, engine: Engine, settings: Settings) -> Rater | None:
    """Who a cookie stands for; None where it is missing, forged, too old, or its link was replaced."""
    if not cookie:
        return None
    try:
        token_hash = _signer(settings).loads(cookie, max_age=_COOKIE_DAYS * 24 * 3600)
    except BadSignature as refused:
        _log.warning(
            "Refused a sign-in cookie: %s",
            "too old" if isinstance(refused, SignatureExpired) else "not signed here",
        )
        return None
    if not isinstance(token_hash, str):
        return None
    return rater_of_hash(engine, token_hash, now=datetime.now(UTC))


def _from(request: Request) -> str:
    return request.client.host if request.client else "unknown address"


def _signer(settings: Settings) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(settings.cookie_secret or _kept_secret(settings), salt=COOKIE)


def _kept_secret(settings: Settings) -> str:
    """The secret made on the first start. Several processes behind one address set it by environment instead."""
    path = settings.state_dir / "cookie-secret"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text(encoding="utf-8")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        secret = secrets.token_urlsafe(48)
        file.write(secret)
    return secret
