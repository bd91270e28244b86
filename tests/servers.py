"""A System One server on 127.0.0.1 that misbehaves as told, for tests that must see real sockets.

`serving(*acts)` answers the first request as the first act says, and so on; the last act goes on for ever.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Act = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """What the server saw."""

    url: str = ""
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    open: int = 0


def answers(body: bytes, model: str = "jev-1.13.0") -> dict[str, Any]:
    """A good reply to a request: the first option of everything, with 0.9 or thereabouts."""
    request = json.loads(body)
    return {
        "model": model,
        "answers": {key: _answer(question) for key, question in request["questions"].items()},
        "usage": {"input_tokens": 1000, "output_tokens": 10},
    }


def _answer(question: Mapping[str, Any]) -> dict[str, Any]:
    if question["type"] == "noul":
        return {"type": "noul", "noul": 0.9}
    criteria = question["criteria"]
    names = list(criteria) if question["type"] == "choice" else [str(i) for i in range(len(criteria))]
    rest = round(0.1 / (len(names) - 1), 4)
    probabilities = dict.fromkeys(names, rest) | {names[0]: 0.9}
    answer = {"type": question["type"], "probabilities": probabilities, "confidence": 0.85}
    if question["type"] == "choice":
        return answer | {"choice": names[0]}
    return answer | {"score": sum(int(name) * p for name, p in probabilities.items()), "legend": {}}


def head(status: int, length: int | None, headers: Mapping[str, str] | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} Status"]
    if length is not None:
        lines.append(f"content-length: {length}")
    lines += [f"{name}: {value}" for name, value in {"content-type": "application/json", **(headers or {})}.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def reply(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Act:
    """A whole reply; `body` is bytes, or something to make JSON of."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def act(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(head(status, len(content), headers) + content)

    return act


async def answer(body: bytes, writer: asyncio.StreamWriter) -> None:
    """A good reply."""
    content = json.dumps(answers(body)).encode()
    writer.write(head(200, len(content), {"x-typesafe-request-id": "req_1"}) + content)


async def hang(_: bytes, writer: asyncio.StreamWriter) -> None:
    """No reply at all, on a connection that stays open."""
    await asyncio.sleep(60)


async def drop(_: bytes, writer: asyncio.StreamWriter) -> None:
    """The connection is closed instead of a reply."""
    writer.close()


async def reset(_: bytes, writer: asyncio.StreamWriter) -> None:
    """The connection is reset instead of a reply."""
    writer.transport.abort()


async def cut_off(body: bytes, writer: asyncio.StreamWriter) -> None:
    """Half a reply, then the end of the connection."""
    content = json.dumps(answers(body)).encode()
    writer.write(head(200, len(content)) + content[: len(content) // 2])
    await writer.drain()
    writer.close()


async def drip(body: bytes, writer: asyncio.StreamWriter) -> None:
    """A reply that arrives byte by byte and so never stalls for long, nor ends."""
    writer.write(head(200, 10_000))
    for _ in range(1000):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


def raw(content: bytes) -> Act:
    """These very bytes, then the end of the connection."""

    async def act(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()
        writer.close()

    return act


@asynccontextmanager
async def serving(*acts: Act, ssl: Any = None) -> AsyncIterator[Server]:
    seen = Server()
    script = list(acts)
    tasks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        seen.open += 1
        try:
            while not writer.is_closing():
                request = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(
                    (
                        int(line.split(":")[1])
                        for line in request.splitlines()
                        if line.lower().startswith("content-length")
                    ),
                    0,
                )
                body = await reader.readexactly(length)
                seen.heads.append(request)
                seen.bodies.append(body)
                act = script.pop(0) if len(script) > 1 else script[0]
                await _until_gone(act(body, writer), reader)
                if not writer.is_closing():
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            seen.open -= 1
            writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(talk(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=ssl)
    port = server.sockets[0].getsockname()[1]
    seen.url = f"{'https' if ssl else 'http'}://127.0.0.1:{port}"
    try:
        yield seen
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _until_gone(act: Awaitable[None], reader: asyncio.StreamReader) -> None:
    """Play an act, but no longer than the client stays."""
    playing = asyncio.ensure_future(act)
    while not playing.done() and not reader.at_eof():
        await asyncio.wait({playing}, timeout=0.01)
    if playing.done():
        playing.result()
    else:
        playing.cancel()
        raise ConnectionError
