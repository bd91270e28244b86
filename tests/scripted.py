"""A network that says what a test wrote down: for httpx.MockTransport, under a virtual clock."""

import asyncio
import json
from typing import Any

import httpx


class Script:
    """Replies in order, the last for ever; remembers the requests and when they came.

    A reply is a response, an exception to raise, or a function of the request.
    """

    def __init__(self, *replies: Any) -> None:
        self.replies, self.requests, self.times = list(replies), [], []  # type: ignore[var-annotated]

    async def __call__(self, request: httpx.Request) -> Any:
        self.requests.append(request)
        self.times.append(asyncio.get_running_loop().time())
        found = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(found, Exception):
            raise found
        return found(request) if callable(found) else found

    @property
    def body(self) -> Any:
        """What the first request held."""
        return json.loads(self.requests[0].content)
