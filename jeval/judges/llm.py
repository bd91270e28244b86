"""A language model behind an OpenAI-compatible endpoint, for prose about scores. It judges nothing."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jeval.errors import JudgeError
from jeval.judges.address import address, joined, refuse_plain_text
from jeval.judges.chat import first_choice
from jeval.judges.faults import AttemptFailed
from jeval.judges.gateways import CHAT_PATH
from jeval.judges.lean_httpx import httpx
from jeval.judges.transport import exchange, new_transport

__all__ = ["LlmSettings", "LlmWriter"]


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """Where the model is and how it is asked. Raises ConfigError, naming the override."""

    base_url: str
    """http or https, up to but without /chat/completions."""
    model: str
    key_env: str | None = None
    timeout_s: float = 60.0
    concurrency: int = 4
    max_tokens: int = 400

    def __post_init__(self) -> None:
        parts = address(self.base_url, "explain.base_url", "/v1")
        if self.key_env is not None:
            refuse_plain_text(parts.scheme, parts.hostname or "", "explain.base_url")

    @property
    def url(self) -> str:
        """Where requests go."""
        return joined(address(self.base_url, "explain.base_url"), CHAT_PATH)


class LlmWriter:
    """Asks for prose, once each time and without trying again: a missing explanation is no loss."""

    def __init__(
        self, settings: LlmSettings, *, key: str | None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.settings = settings
        self._transport = transport
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._headers = {"content-type": "application/json", "accept": "application/json"}
        if key is not None:
            self._headers["authorization"] = f"Bearer {key}"

    def __repr__(self) -> str:
        return f"LlmWriter({self.settings!r})"

    async def write(self, messages: Sequence[Mapping[str, str]]) -> tuple[Any, str]:
        """What the model wrote, unchecked, and the name of the model that answered. Raises JudgeError."""
        settings = self.settings
        body = {"model": settings.model, "messages": list(messages), "max_tokens": settings.max_tokens}
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        request = httpx.Request("POST", settings.url, headers=self._headers, content=content)
        async with self._slots:
            if self._transport is None:
                self._transport = new_transport(settings.url, settings.concurrency)
            try:
                async with asyncio.timeout(settings.timeout_s):
                    received = await exchange(self._transport, request)
            except TimeoutError:
                raise JudgeError("timeout", f"no answer within {settings.timeout_s:g} s") from None
            except AttemptFailed as failed:
                raise JudgeError(failed.kind, failed.message[:200]) from None
        if received.status != 200:
            # The body of an error may repeat what was sent, so only its status is told.
            raise JudgeError("refused", f"{settings.url} answered {received.status}")
        return _read(received.content, settings.model)

    async def close(self) -> None:
        """Let go of connections."""
        if self._transport is not None:
            await self._transport.aclose()


def _read(content: bytes, asked: str) -> tuple[Any, str]:
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError):
        reply = None
    choice = first_choice(reply)
    if choice is None or "content" not in choice["message"]:
        raise JudgeError("malformed", "the reply holds no choices[0].message.content")
    model = reply.get("model")
    return choice["message"]["content"], model if isinstance(model, str) and model else asked
