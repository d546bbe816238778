"""An identity provider for tests: OpenID Connect in as few lines as it takes, signing in whoever it is told to."""

import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey


class Provider:
    """A provider on a port of its own; `subject` and `groups` are what it says of the next person who signs in."""

    def __init__(self) -> None:
        self.subject, self.groups = "nobody", 0
        self.key = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
        self.waiting: dict[str, str] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Answers", (_Answers,), {"provider": self}))
        self.issuer = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def secrets_for(self, address: str) -> str:
        """The secrets.toml of a workbench that trusts this provider."""
        return (
            f'[auth]\nredirect_uri = "{address}/oauth2callback"\ncookie_secret = "{secrets.token_hex(16)}"\n'
            f'client_id = "workbench"\nclient_secret = "{secrets.token_hex(16)}"\n'
            f'server_metadata_url = "{self.issuer}/.well-known/openid-configuration"\n'
        )

    def token(self, nonce: str) -> str:
        said = {"iss": self.issuer, "sub": self.subject, "aud": "workbench", "nonce": nonce}
        times = {"iat": int(time.time()), "exp": int(time.time()) + 600}
        groups = [f"group-{number:03}-of-a-very-large-organisation" for number in range(self.groups)]
        claims = said | times | {"email": f"{self.subject}@example.org", "groups": groups}
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)


class _Answers(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        here, parts = self.provider, urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match parts.path:
            case "/.well-known/openid-configuration":
                ends = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
                self._send(
                    {"issuer": here.issuer, **{name: f"{here.issuer}/{end}" for name, end in ends.items()}}
                )
            case "/keys":
                self._send({"keys": [here.key.as_dict(private=False)]})
            case "/authorize":
                code = secrets.token_hex(8)
                here.waiting[code] = asked["nonce"]
                self.send_response(302)
                self.send_header(
                    "Location",
                    f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}",
                )
                self.end_headers()
            case _:
                self.send_error(404)

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        nonce = self.provider.waiting.pop(sent["code"][0])
        token = self.provider.token(nonce)
        self._send({"access_token": secrets.token_hex(8), "token_type": "Bearer", "id_token": token})

    def _send(self, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass
