"""The doors a System One judge is reached by: their addresses, models and key variables.

A config names everything that differs between gateways; what it leaves null comes from the environment, where
the gateway's own tools read it there too, else from the table below. Keys are named by their variable only.
"""

import ipaddress
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import SplitResult, urlsplit

from jeval.errors import ConfigError

__all__ = ["GATEWAYS", "Gateway", "HttpSettings", "check_key", "http_settings", "is_loopback", "read_key"]


# How variables for keys are called; anything else in its place may be a key.
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,59}")
_LIKE_THIS = "write it like https://host or http://127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class Gateway:
    """One door. `base_env` and `model_env` name variables that stand in for an address or model left open."""

    base_url: str
    path: str
    model: str
    key_env: str | None
    base_env: str | None = None
    model_env: str | None = None


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

    def __post_init__(self) -> None:
        for name in ("name", "gateway", "model", "path", "base_url"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise ConfigError(f"judge.{name} is {value!r:.60}; it must be a text")
        if not self.path.startswith("/") or not _visible(self.path) or set(self.path) & {"?", "#"}:
            raise ConfigError(f"judge.path is {self.path!r:.60}; it must begin with / and hold no ? or #")
        if not _visible(self.model.replace(" ", "_")):
            raise ConfigError(f"judge.model is {self.model!r:.60}; it must be printable ASCII")
        if self.key_env is not None and (not isinstance(self.key_env, str) or not self.key_env):
            raise ConfigError(f"judge.key_env is {self.key_env!r:.60}; name a variable, or null for no key")
        self._number("concurrency", 1, 1000, whole=True)
        self._number("max_attempts", 1, 100, whole=True)
        self._number("timeout_s", 0.001, 600)
        self._number("budget_s", 0.001, 86_400)
        if self.usd_per_million_input is not None:
            self._number("usd_per_million_input", 0, 1e6)
        parts = _split(self.base_url)
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
        parts = _split(self.base_url)
        base = [part for part in parts.path.split("/") if part]
        path = [part for part in self.path.split("/") if part]
        shared = next(n for n in range(min(len(base), len(path)), -1, -1) if base[len(base) - n :] == path[:n])
        return f"{parts.scheme}://{parts.netloc}/{'/'.join(base + path[shared:])}"


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
        if "key_env" not in config:
            given.setdefault("key_env", known.key_env)
    for key in ("base_url", "model"):
        if key not in given:
            raise ConfigError(
                f"judge.{key} is not set and gateway {name!r} has none of its own; set judge.{key}=…, or use "
                f"one of {', '.join(GATEWAYS)}"
            )
    return HttpSettings(**given)


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


def refuse_plain_text(scheme: str, host: str) -> None:
    """Raises ConfigError where a key would cross a network unencrypted."""
    if scheme == "http" and not is_loopback(host):
        raise ConfigError(
            f"judge.base_url=http://{host}…: the key would cross the network as plain text; use https, or "
            "judge.key_env=null for a server that wants no key"
        )


def is_loopback(host: str) -> bool:
    """Is this name or address this machine?"""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _visible(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _shown(base_url: str) -> str:
    """An address up to where a secret may begin; nothing where a user name and a password may stand in it."""
    if "@" in base_url:
        return ""
    clear = re.split(r"[?#\s]", base_url.strip(), maxsplit=1)[0]
    more = "…" if clear != base_url.strip() else ""
    return f"={clear[:80].encode('unicode_escape').decode()}{more}"


def _split(base_url: str) -> SplitResult:
    """The parts of an address. Errors show nothing of it that may hold a secret."""
    shown = _shown(base_url)
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(f"judge.base_url{shown} is not an address; {_LIKE_THIS}") from None
    if parts.scheme not in {"http", "https"} or not host:
        what = (
            f"has the scheme {parts.scheme!r:.20}"
            if parts.scheme and host
            else "names no host after http:// or https://"
        )
        raise ConfigError(f"judge.base_url{shown} {what}; {_LIKE_THIS}")
    if "@" in parts.netloc:
        raise ConfigError(
            f"judge.base_url (host {host}) holds a user name or password; put the key into a variable and "
            "its name into judge.key_env"
        )
    if parts.query or parts.fragment or not _visible(base_url.strip()):
        raise ConfigError(f"judge.base_url{shown} holds a ?, a # or a space; give scheme, host, path only")
    return parts
