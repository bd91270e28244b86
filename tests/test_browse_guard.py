"""Only this machine's own pages get through: Host, Origin and the headers of every answer."""

import asyncio
import base64
import hashlib
from pathlib import Path
from typing import Any

import datasette
import pytest

from jeval.browse.guard import Guard, inline_hashes


def answer(
    headers: list[tuple[str, str]], method: str = "GET", inner: list[tuple[bytes, bytes]] | None = None
) -> tuple[int, dict[str, str]]:
    """The status and headers that come through a guard on port 8001."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": inner or []})
        await send({"type": "http.response.body", "body": b"ok"})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    raw = [(name.encode(), value.encode()) for name, value in headers]
    scope = {"type": "http", "method": method, "path": "/", "headers": raw}
    asyncio.run(Guard(app, 8001, ["'sha256-x'"])(scope, receive, send))
    return sent[0]["status"], {key.decode(): value.decode() for key, value in sent[0]["headers"]}


@pytest.mark.parametrize("host", ["127.0.0.1:8001", "localhost:8001", "LOCALHOST:8001"])
def test_this_machine_is_answered(host: str):
    assert answer([("host", host)])[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("host", "evil.example")],
        [("host", "evil.example:8001")],
        [("host", "127.0.0.1")],
        [("host", "127.0.0.1:8002")],
        [("host", "127.0.0.1:8001.evil.example")],
        [("host", "127.0.0.1:8001"), ("host", "evil.example")],
        [("host", "")],
    ],
)
def test_any_other_host_is_misdirected(headers: list[tuple[str, str]]):
    assert answer(headers)[0] == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8002", "https://127.0.0.1:8001", ""]
)
def test_a_write_from_another_origin_is_refused(origin: str):
    assert answer([("host", "127.0.0.1:8001"), ("origin", origin)], "POST")[0] == 403


def test_a_write_from_our_own_origin_passes():
    assert answer([("host", "127.0.0.1:8001"), ("origin", "http://127.0.0.1:8001")], "POST")[0] == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_write_that_the_browser_calls_foreign_is_refused(site: str):
    assert answer([("host", "127.0.0.1:8001"), ("sec-fetch-site", site)], "POST")[0] == 403


def test_every_answer_has_a_policy_and_opens_to_nobody():
    _, headers = answer([("host", "127.0.0.1:8001")], inner=[(b"access-control-allow-origin", b"*")])
    assert "script-src 'self' 'sha256-x'" in headers["content-security-policy"]
    assert "unsafe-inline" not in headers["content-security-policy"].split("style-src")[0]
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_a_page_with_a_stricter_policy_keeps_it():
    _, headers = answer([("host", "127.0.0.1:8001")], inner=[(b"content-security-policy", b"default-src 'none'")])
    assert headers["content-security-policy"] == "default-src 'none'"


def test_a_websocket_is_closed():
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def nothing(*_: Any) -> Any:
        raise AssertionError("not reached")

    asyncio.run(Guard(nothing, 8001)({"type": "websocket", "headers": []}, nothing, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_scripts_with_page_data_are_not_allowed_by_their_hash(tmp_path: Path):
    (tmp_path / "a.html").write_text("<script>fixed()</script><script>x = {{ data }}</script>", encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(b"fixed()").digest()).decode()
    assert inline_hashes(tmp_path) == [f"'sha256-{digest}'"]


def test_datasettes_own_scripts_are_found():
    assert len(inline_hashes(Path(datasette.__file__).parent / "templates")) >= 3
