"""The doors a judge is reached by: their addresses, models, key variables, and the protocol spoken there.

A config names everything that differs between gateways; what it leaves null comes from the environment, where
the gateway's own tools read it there too, else from the table below. Keys are named by their variable only.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from jeval.errors import ConfigError
from jeval.judges.address import address, is_loopback, joined, refuse_plain_text, visible

__all__ = ["CHAT_PATH", "GATEWAYS", "PROTOCOLS", "Gateway", "HttpSettings", "check_key", "http_settings", "read_key"]

PROTOCOLS = ("systemone", "chat")
"""System One's own, and that of chat models: OpenAI's chat completions."""
CHAT_PATH = "/chat/completions"
"""What follows the base_url of a chat model's endpoint."""
# A model that writes its answer takes its time, and more of it the more requests are under way.
_CHAT_DEFAULTS = {"path": CHAT_PATH, "concurrency": 16, "timeout_s": 60.0, "budget_s": 180.0}
# How variables for keys are called; anything else in its place may be a key.
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,59}")


@dataclass(frozen=True, slots=True)
class Gateway:
    """One door. `base_env` and `model_env` name variables that stand in for an address or model left open.

    Without a `model` there is no default: one has to be named.
    """

    base_url: str
    path: str
    model: str | None
    key_env: str | None
    base_env: str | None = None
    model_env: str | None = None
    protocol: str = "systemone"


GATEWAYS: Mapping[str, Gateway] = {
    "jev": Gateway(
        "https://api.typesafe.ai",
        "/v1/systemone",
        "jev-latest",
        "TYPESAFE_API_KEY",
        base_env="TYPESAFE_BASE_URL",
        model_env="TYPESAFE_DEFAULT_MODEL",
    ),
    "vercel": Gateway(
        "https://ai-gateway.vercel.sh", "/typesafe/v1/systemone", "typesafe-ai/jev", "AI_GATEWAY_API_KEY"
    ),
    "openrouter": Gateway("https://openrouter.ai", "/api/alpha/decisions", "typesafe/jev-1.13", "OPENROUTER_API_KEY"),
    "nanogpt": Gateway("https://nano-gpt.com", "/api/v1/systemone", "typesafe/jev-latest", "NANOGPT_API_KEY"),
    "local": Gateway("http://127.0.0.1:8000", "/v1/systemone", "local", None),
    "openai": Gateway(
        "https://api.openai.com/v1",
        CHAT_PATH,
        None,
        "OPENAI_API_KEY",
        base_env="OPENAI_BASE_URL",
        protocol="chat",
    ),
}


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Everything that tells one judge over HTTP from another, checked; holds no key.

    Raises ConfigError, naming the override, where a value cannot be used.
    """

    name: str
    gateway: str
    base_url: str
    """http or https; a trailing slash, or the path already in it, does no harm."""
    model: str
    path: str = "/v1/systemone"
    key_env: str | None = None
    """The variable that holds the key; None for a server that wants none."""
    concurrency: int = 64
    """Requests under way at once, 1 to 1000."""
    timeout_s: float = 10.0
    """Seconds for one attempt, from connecting to the last byte; up to 600."""
    max_attempts: int = 5
    """Requests sent for one ask, at most; 1 to 100."""
    budget_s: float = 60.0
    """Seconds for one ask: its attempts and the waits between them, but not the wait for the pace."""
    usd_per_million_input: float | None = None
    """Price where replies do not state a cost; None where it is not known."""
    usd_per_million_output: float | None = None
    """The same for output tokens; None where they are not counted."""
    protocol: str = "systemone"
    """One of PROTOCOLS."""
    structured: bool = True
    """For a chat model: whether the endpoint is told the form of the answer (`response_format`) or the prompt is."""
    temperature: float | None = 0.0
    """For a chat model, 0 to 2; None to send none."""

    def __post_init__(self) -> None:
        for name in ("name", "gateway", "model", "path", "base_url"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise ConfigError(f"judge.{name} is {value!r:.60}; it must be a text")
        if not self.path.startswith("/") or not visible(self.path) or set(self.path) & {"?", "#"}:
            raise ConfigError(f"judge.path is {self.path!r:.60}; it must begin with / and hold no ? or #")
        if not visible(self.model.replace(" ", "_")):
            raise ConfigError(f"judge.model is {self.model!r:.60}; it must be printable ASCII")
        if self.key_env is not None and (not isinstance(self.key_env, str) or not self.key_env):
            raise ConfigError(f"judge.key_env is {self.key_env!r:.60}; name a variable, or null for no key")
        self._number("concurrency", 1, 1000, whole=True)
        self._number("max_attempts", 1, 100, whole=True)
        self._number("timeout_s", 0.001, 600)
        self._number("budget_s", 0.001, 86_400)
        for name, most in (("usd_per_million_input", 1e6), ("usd_per_million_output", 1e6), ("temperature", 2)):
            if getattr(self, name) is not None:
                self._number(name, 0, most)
        if self.protocol not in PROTOCOLS:
            raise ConfigError(f"judge.protocol is {self.protocol!r:.60}; it must be one of {', '.join(PROTOCOLS)}")
        if not isinstance(self.structured, bool):
            raise ConfigError(f"judge.structured is {self.structured!r:.60}; it must be true or false")
        parts = address(self.base_url)
        if self.key_env is not None:
            refuse_plain_text(parts.scheme, parts.hostname or "")

    def _number(self, name: str, least: float, most: float, whole: bool = False) -> None:
        value = getattr(self, name)
        kinds = int if whole else int | float
        if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value):
            raise ConfigError(f"judge.{name} is {value!r:.60}; it must be a {'whole ' if whole else ''}number")
        if not least <= value <= most:
            raise ConfigError(f"judge.{name} is {value!r:.60}; it must lie between {least:g} and {most:g}")

    @property
    def url(self) -> str:
        """Where requests go: base_url and path, joined where they overlap."""
        return joined(address(self.base_url), self.path)


def http_settings(config: Mapping[str, Any], environ: Mapping[str, str]) -> HttpSettings:
    """Settings from a `judge` config group; what it leaves out or null is the gateway's own.

    Keys that are not about HTTP (reuse, repeat, max_usd, …) are left to others. A gateway we do not know must
    give its base_url and model. Raises ConfigError.
    """
    name = config.get("gateway") or config.get("name")
    known = GATEWAYS.get(name) if isinstance(name, str) else None
    given = {f.name: config[f.name] for f in fields(HttpSettings) if config.get(f.name) is not None}
    given.setdefault("gateway", name)
    given.setdefault("name", name)
    if known is not None:
        given.setdefault("path", known.path)
        given.setdefault("base_url", _variable(known.base_env, environ) or known.base_url)
        given.setdefault("model", _variable(known.model_env, environ) or known.model)
        given.setdefault("protocol", known.protocol)
        if "key_env" not in config:
            given.setdefault("key_env", known.key_env)
    if given.get("protocol") == "chat":
        given = {**_CHAT_DEFAULTS, **given}
    if "temperature" in config:
        given["temperature"] = config["temperature"]  # null is a value: send none
    for key in ("base_url", "model"):
        if given.get(key) is None:
            others = "" if known is not None else f", or use one of {', '.join(GATEWAYS)}"
            raise ConfigError(
                f"judge.{key} is not set and gateway {name!r} has none of its own; set judge.{key}=…{others}"
            )
    settings = HttpSettings(**given)
    return _chat(settings, known, environ) if settings.protocol == "chat" else settings


def _chat(settings: HttpSettings, known: Gateway | None, environ: Mapping[str, str]) -> HttpSettings:
    """Settings of a chat model, its gateway's name saying all that its answers depend on besides the model.

    Stored answers are found by gateway and model, and a model's name says little: every local server has its
    `default`. So an address other than the gateway's own is part of the name, and so is another way of asking.
    """
    gateway, key_env, url = settings.gateway, settings.key_env, settings.url
    if known is not None and url != joined(address(known.base_url), known.path):
        gateway += "@" + url.partition("://")[2].removesuffix(known.path)
    if key_env == GATEWAYS["openai"].key_env and is_loopback(address(url).hostname or ""):
        key_env = key_env if _variable(key_env, environ) else None  # a server on this machine seldom wants one
    if not settings.structured:
        gateway += " structured=off"
    if settings.temperature != 0:
        gateway += f" temperature={'null' if settings.temperature is None else format(settings.temperature, 'g')}"
    return replace(settings, gateway=gateway, key_env=key_env)


def _variable(name: str | None, environ: Mapping[str, str]) -> str | None:
    return (environ.get(name) or None) if name else None


def read_key(key_env: str | None, environ: Mapping[str, str]) -> str | None:
    """The key in a variable; None where none is wanted.

    Raises ConfigError, which names the variable and never its value, where it is missing or cannot be a key.
    """
    if key_env is None:
        return None
    key = environ.get(key_env)
    if not key and not _NAME.fullmatch(key_env):
        remedy = "write the name of a variable there and put the key into it"
        raise ConfigError(
            f"key_env names no variable that is set, and may be the key itself, so it is not shown; {remedy}"
        )
    if not key:
        state = "is not set" if key is None else "is empty"
        raise ConfigError(f"the environment variable {key_env} {state}; put the judge's key there")
    return check_key(key, f"the environment variable {key_env}")


def check_key(key: str, where: str) -> str:
    """`key`, if a header can carry it as it is. Raises ConfigError, which does not show it."""
    if not key:
        trouble = "is empty"
    elif any(char in key for char in "\r\n"):
        trouble = "holds a line break"
    elif any(char.isspace() for char in key):
        trouble = "holds a space"
    elif any(char in key for char in "\"'`"):
        trouble = "holds a quote"
    elif not key.isascii():
        trouble = "holds a character that is not ASCII"
    elif not key.isprintable():
        trouble = "holds a control character"
    else:
        return key
    raise ConfigError(f"{where} {trouble}, so it cannot be a key; set it to the key alone, as it was issued")
