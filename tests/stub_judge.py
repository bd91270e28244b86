"""A judge on 127.0.0.1 whose answers depend on the question, the state and its own version, on nothing else.

It is mostly sure and mostly content; two versions of it differ now and then.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def answer(version: str, state: Any, question: dict[str, Any]) -> dict[str, Any]:
    """A distribution with two decimals: the first option leads in two of three answers."""
    criteria = question.get("criteria") or {}
    names = list(criteria) if isinstance(criteria, dict) else [str(i) for i in range(len(criteria))]
    text = json.dumps([state, question], sort_keys=True)
    sure = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    moved = int(hashlib.sha256(f"{version}{text}".encode()).hexdigest(), 16)
    leader = sure % 3 if sure % 3 < len(names) and sure % 2 else 0
    if moved % 9 == 0:
        leader = (leader + 1) % max(1, len(names))
    top = 55 + (sure >> 8) % 43
    if question["type"] == "noul":
        return {"type": "noul", "noul": top / 100 if leader == 0 else 1 - top / 100}
    rest = 100 - top
    shares = [rest - rest // 3, *[0] * (len(names) - 3), rest // 3] if len(names) > 2 else [rest]
    others = iter(shares)
    probabilities = {name: (top if i == leader else next(others)) / 100 for i, name in enumerate(names)}
    found = {"type": question["type"], "probabilities": probabilities, "confidence": round(top / 100, 2)}
    if question["type"] == "choice":
        return found | {"choice": names[leader]}
    return found | {"score": sum(int(name) * p for name, p in probabilities.items()), "legend": {}}


@contextmanager
def judging(version: str) -> Iterator[str]:
    """The judge's address while it stands."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answers = {
                key: answer(version, request["state"], question) for key, question in request["questions"].items()
            }
            usage = {"input_tokens": len(json.dumps(request)) // 4, "output_tokens": 8 * len(answers)}
            body = json.dumps({"model": version, "answers": answers, "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
