"""A judge on 127.0.0.1 that answers after a fixed time, for benchmarks. Prints its address on the first line.

Answers depend on the request alone. It does as little else as it can, so that what is measured is the client.
GET /stats tells how many requests and distinct bodies there were.
"""

import argparse
import asyncio
import hashlib
import re

import orjson
import uvloop

LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.I)


def answer(question: dict[str, object], digest: bytes) -> dict[str, object]:
    """A distribution drawn from the digest, rounded to two decimals as the live API's are."""
    if question["type"] == "noul":
        return {"type": "noul", "noul": round(digest[0] / 255, 2)}
    criteria = question["criteria"]
    names = list(criteria) if isinstance(criteria, dict) else [str(i) for i in range(len(criteria))]  # type: ignore[arg-type]
    weights = [(digest[i % 16] + 1) ** 3 for i in range(len(names))]
    shares = [round(weight / sum(weights), 2) for weight in weights]
    body: dict[str, object] = {
        "type": question["type"],
        "probabilities": dict(zip(names, shares, strict=True)),
        "confidence": 0.5,
    }
    if question["type"] == "score":
        body["score"] = round(sum(i * share for i, share in enumerate(shares)), 2)
    return body


def reply(body: bytes) -> bytes:
    """A whole reply to a request's body."""
    request = orjson.loads(body)
    state = hashlib.blake2b(orjson.dumps(request["state"]), digest_size=16)
    answers = {}
    for key, question in request["questions"].items():
        one = state.copy()
        one.update(orjson.dumps(question))
        answers[key] = answer(question, one.digest())
    usage = {"input_tokens": len(body) // 4, "output_tokens": 7 * len(answers)}
    return orjson.dumps({"model": "bench-1.0.0", "answers": answers, "usage": usage})


class Connection(asyncio.Protocol):
    """One keep-alive connection; requests one after another."""

    latency_s = 0.05
    requests = 0
    bodies: set[bytes] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.buffer = b""

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        found = LENGTH.search(self.buffer[:end])
        stop = end + 4 + (int(found.group(1)) if found else 0)
        if len(self.buffer) < stop:
            return
        head, body, self.buffer = self.buffer[:end], self.buffer[end + 4 : stop], self.buffer[stop:]
        if head.startswith(b"GET /stats"):
            stats = {"requests": Connection.requests, "distinct_bodies": len(Connection.bodies)}
            return self.send(orjson.dumps(stats))
        Connection.requests += 1
        Connection.bodies.add(hashlib.blake2b(body, digest_size=12).digest())
        asyncio.get_running_loop().call_later(self.latency_s, self.send, reply(body))

    def send(self, content: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
        self.transport.write(head.encode() + content)  # type: ignore[attr-defined]


async def serve(latency_ms: float, seconds: float) -> None:
    Connection.latency_s = latency_ms / 1000
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=2048)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await asyncio.sleep(seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--max-seconds", type=float, default=600)
    arguments = parser.parse_args()
    uvloop.run(serve(arguments.latency_ms, arguments.max_seconds))
