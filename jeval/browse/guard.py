"""What stands before Datasette when `jeval serve` runs it: only this machine's own pages get through.

A page on another site can make a browser send requests here. Its Host betrays a name that was bound to this
address (DNS rebinding: 421), its Origin a form or script of another site (403).
"""

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any

from jeval.browse.posted import foreign

__all__ = ["Guard", "inline_hashes"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Datasette's own pages: its files, and those of its inline scripts that are the same on every page.
# Its tables use style attributes.
_CSP = (
    "default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def inline_hashes(folder: Path) -> list[str]:
    """The CSP hashes of the inline scripts in Datasette's templates that hold nothing of a page's data."""
    found = set()
    for path in sorted(folder.glob("*.html")):
        for script in re.findall(r"<script>(.*?)</script>", path.read_text(encoding="utf-8"), re.S):
            # One script differs from page to page, in a single word.
            texts = [script.replace("{{ datasette_allow_facet }}", word) for word in ("true", "false")]
            for text in texts:
                if "{{" not in text and "{%" not in text:
                    digest = hashlib.sha256(text.encode()).digest()
                    found.add(f"'sha256-{base64.b64encode(digest).decode()}'")
    return sorted(found)


class Guard:
    """An ASGI application around another: checks Host and Origin, adds the headers a page lacks.

    `port` is the one it listens on; `hashes` are scripts allowed by their content.
    """

    def __init__(self, app: App, port: int, hashes: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == 80:
            self._hosts |= {"127.0.0.1", "localhost"}
        self._headers = {
            b"content-security-policy": _CSP.format(hashes=" ".join(hashes)).encode(),
            b"x-content-type-options": b"nosniff",
            b"referrer-policy": b"same-origin",
            b"cross-origin-resource-policy": b"same-origin",
            b"cross-origin-opener-policy": b"same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no page here uses a websocket
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        hosts = [value for key, value in scope["headers"] if key.lower() == b"host"]
        host = headers.get("host", "").lower()
        if len(hosts) != 1 or host not in self._hosts:
            await _refuse(send, 421, f"This server answers to {min(self._hosts)} only. Open that address instead.")
            return
        if scope["method"] not in ("GET", "HEAD") and foreign(headers, f"http://{host}"):
            await _refuse(send, 403, "This request came from a page of another site.")
            return
        await self._app(scope, receive, self._with_headers(send))

    def _with_headers(self, send: Send) -> Send:
        async def wrapped(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", []))
                # One server is one origin: nothing here is for another, whatever a plugin says.
                given = [(k, v) for k, v in given if not k.lower().startswith(b"access-control-")]
                present = {key.lower() for key, _ in given}
                given += [(key, value) for key, value in self._headers.items() if key not in present]
                message = {**message, "headers": given}
            await send(message)

        return wrapped


async def _refuse(send: Send, status: int, words: str) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"connection", b"close"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{words}\n".encode()})
