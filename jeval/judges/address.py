"""Addresses of servers as people write them: checked, shown without secrets, joined with a path."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from jeval.errors import ConfigError

__all__ = ["address", "is_loopback", "joined", "refuse_plain_text", "visible"]


def address(base_url: str, setting: str = "judge.base_url", path: str = "") -> SplitResult:
    """The parts of a server's address. `setting` is the override it comes from, `path` what one often ends in.

    Raises ConfigError where it is no http or https address, or holds more than scheme, host, port and path;
    nothing of it is shown that may be a secret.
    """
    shown = _shown(base_url)
    like_this = f"write it like https://host{path} or http://127.0.0.1:8000{path}"
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(f"{setting}{shown} is not an address; {like_this}") from None
    if parts.scheme not in {"http", "https"} or not host:
        what = (
            f"has the scheme {parts.scheme!r:.20}"
            if parts.scheme and host
            else "names no host after http:// or https://"
        )
        raise ConfigError(f"{setting}{shown} {what}; {like_this}")
    if "@" in parts.netloc:
        raise ConfigError(
            f"{setting} (host {host}) holds a user name or password; put the key into a variable and "
            f"its name into {_key_env(setting)}"
        )
    if parts.query or parts.fragment or not visible(base_url.strip()):
        raise ConfigError(f"{setting}{shown} holds a ?, a # or a space; give scheme, host, path only")
    return parts


def joined(parts: SplitResult, path: str) -> str:
    """An address with a path behind it, put together where they overlap."""
    base = [part for part in parts.path.split("/") if part]
    more = [part for part in path.split("/") if part]
    shared = next(n for n in range(min(len(base), len(more)), -1, -1) if base[len(base) - n :] == more[:n])
    return f"{parts.scheme}://{parts.netloc.lower()}/{'/'.join(base + more[shared:])}"


def refuse_plain_text(scheme: str, host: str, setting: str = "judge.base_url") -> None:
    """Raises ConfigError where a key would cross a network unencrypted."""
    if scheme == "http" and not is_loopback(host):
        raise ConfigError(
            f"{setting}=http://{host}…: the key would cross the network as plain text; use https, or "
            f"{_key_env(setting)}=null for a server that wants no key"
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


def visible(text: str) -> bool:
    """Is it printable ASCII without a space?"""
    return text.isascii() and text.isprintable() and " " not in text


def _shown(base_url: str) -> str:
    """An address up to where a secret may begin; nothing where a user name and a password may stand in it."""
    if "@" in base_url:
        return ""
    clear = re.split(r"[?#\s]", base_url.strip(), maxsplit=1)[0]
    more = "…" if clear != base_url.strip() else ""
    return f"={clear[:80].encode('unicode_escape').decode()}{more}"


def _key_env(setting: str) -> str:
    return f"{setting.partition('.')[0]}.key_env"
