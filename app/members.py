"""Members sign in through their organisation (OpenID Connect), by way of Streamlit's `st.login`.

The provider only says who somebody is. What they may do is looked up in our own table on every run of a page.
"""

import json
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection
from starlette.responses import Response
from streamlit.web.server.starlette import starlette_auth_routes, starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

_KEPT_CLAIMS = ("iss", "sub", "origin", "is_logged_in", "provider")


def sign_in_is_possible() -> bool:
    """Whether secrets name an identity provider, as `[auth]` in `.streamlit/secrets.toml`."""
    try:
        return "auth" in st.secrets
    except FileNotFoundError:
        return False


def identity() -> str | None:
    """Who the organisation says is looking, as ISSUER#SUBJECT; None where nobody has signed in that way."""
    return _identity(st.user.to_dict())


def identity_of(request: HTTPConnection) -> str | None:
    """The same for a request to a page that Streamlit does not serve, by the cookie that it has signed."""
    if USER_COOKIE_NAME not in request.cookies or not sign_in_is_possible():
        return None
    kept = starlette_websocket._get_signed_cookie_with_chunks(request.cookies, USER_COOKIE_NAME)
    claims = json.loads(kept) if kept else {}
    return _identity(claims) if isinstance(claims, dict) else None


def _identity(claims: dict[str, Any]) -> str | None:
    issuer, subject = claims.get("iss"), claims.get("sub")
    return f"{issuer}#{subject}" if claims.get("is_logged_in") and issuer and subject else None


def keep_only_the_identity() -> None:
    """Have the cookie of a member hold who they are and nothing else that their provider tells.

    Providers add names, addresses and, in large organisations, hundreds of groups, which make a cookie too large for
    proxies to carry; and what we do not keep we cannot lose. The provider's tokens are not kept either.
    """
    store = starlette_auth_routes._set_auth_cookie

    async def store_identity(response: Response, user_info: dict[str, Any], tokens: dict[str, Any]) -> None:  # noqa: ARG001
        await store(response, {name: user_info[name] for name in _KEPT_CLAIMS if name in user_info}, {})

    starlette_auth_routes._set_auth_cookie = store_identity
