"""A language model behind an OpenAI-compatible endpoint, for prose about scores. It judges nothing."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jeval.errors import ConfigError, JudgeError
from jeval.judges.faults import AttemptFailed
from jeval.judges.gateways import is_loopback
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
        like = "write it like https://host/v1 or http://127.0.0.1:8000/v1"
        try:
            parts = urlsplit(self.base_url.strip())
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise ConfigError(f"explain.base_url is no address; {like}") from None
        if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or parts.query or parts.fragment:
            raise ConfigError(f"explain.base_url (host {host!r:.60}) cannot be used; {like}, and no key in it")
        if self.key_env is not None and parts.scheme == "http" and not is_loopback(host):
            raise ConfigError(
                f"explain.base_url is http://{host}…: the key would cross the network as plain text; "
                "use https, or explain.key_env=null for a server that wants no key"
            )

    @property
    def url(self) -> str:
        """Where requests go."""
        base = self.base_url.strip().rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"


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
        text = reply["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise JudgeError("malformed", "the reply holds no choices[0].message.content") from None
    model = reply.get("model")
    return text, model if isinstance(model, str) and model else asked
