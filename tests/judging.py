"""A judge on 127.0.0.1, in a thread of its own, whose answers depend on what it is asked and nothing else."""

import asyncio
import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers import Act, Server, head, serving


def hashed_answer(question: Mapping[str, Any], state: Any) -> dict[str, Any]:
    """An answer that depends on the question and the state alone, rounded as the live API rounds."""
    text = json.dumps([question, state], sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    kind, criteria = question["type"], question.get("criteria") or {}
    if kind == "noul":
        return {"type": kind, "noul": round(digest[0] / 255, 2)}
    names = list(criteria) if kind == "choice" else [str(level) for level in range(len(criteria))]
    weights = [(digest[i] + 1) ** 3 for i in range(len(names))]
    shares = [round(weight / sum(weights), 2) for weight in weights]
    answer = {"type": kind, "probabilities": dict(zip(names, shares, strict=True)), "confidence": 0.5}
    if kind == "choice":
        return answer | {"choice": names[shares.index(max(shares))]}
    return answer | {"score": sum(i * share for i, share in enumerate(shares)), "legend": {}}


async def hashed(body: bytes, writer: asyncio.StreamWriter) -> None:
    """A good reply whose answers differ from case to case and never from call to call."""
    request = json.loads(body)
    answers = {key: hashed_answer(question, request["state"]) for key, question in request["questions"].items()}
    usage = {"input_tokens": len(body) // 4, "output_tokens": 7 * len(answers)}
    content = json.dumps({"model": "jev-1.13.0", "answers": answers, "usage": usage}).encode()
    writer.write(head(200, len(content), {"x-typesafe-request-id": "req_1"}) + content)


def after(seconds: float, act: Act) -> Act:
    """An act that takes its time."""

    async def slow(body: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await act(body, writer)

    return slow


def every(number: int, act: Act, otherwise: Act) -> Act:
    """`act` for the first and then every so many requests, `otherwise` for those between."""
    seen = 0

    async def mixed(body: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        await (act if seen % number == 1 else otherwise)(body, writer)

    return mixed


@contextlib.contextmanager
def judging(*acts: Act) -> Iterator[Server]:
    """A judge's server in a thread of its own, for as long as the block lasts."""
    started, loop_of = threading.Event(), {}
    found: dict[str, Any] = {}

    async def serve() -> None:
        async with serving(*acts or (hashed,)) as server:
            loop_of["stop"] = asyncio.Event()
            loop_of["loop"] = asyncio.get_running_loop()
            found["server"] = server
            started.set()
            await loop_of["stop"].wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield found["server"]
    finally:
        loop_of["loop"].call_soon_threadsafe(loop_of["stop"].set)
        thread.join(10)


def local(url: str, *more: str) -> list[str]:
    """The overrides that make a server the judge."""
    return ["judge=local", f"judge.base_url={url}", *more]
