"""What may be wrong between here and a judge: keys, proxies, certificates, and the judge itself. No value of a key
is ever in an item.
"""

import asyncio
import re
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jeval.app.doctor import Item
from jeval.app.doctor_project import user_conf
from jeval.app.places import bundled_conf
from jeval.app.prepare import make_judge
from jeval.app.settings import JudgeSettings
from jeval.counted import counted
from jeval.errors import ConfigError, JevalError
from jeval.judges.gateways import check_key, http_settings
from jeval.preamble import PREAMBLE
from jeval.question import Judge, Reply, noul
from jeval.state import state_of

__all__ = ["certificate_items", "judge_item", "key_items", "proxy_items"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
# Read by other programs, and not here.
_OTHERS = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_ROOM = 1_000


def key_items(root: Path, environ: Mapping[str, str], judge: JudgeSettings | None) -> Iterator[Item]:
    """Each variable that a judge or the explainer takes its key from; that of the configured judge is needed."""
    wanted: dict[str, list[str]] = {}
    for group in ("judge", "explain"):
        for option, name in _named(root, group):
            wanted.setdefault(name, []).append(f"{group}={option}")
    needed = _needed(judge, environ) if judge is not None else None
    if needed is not None and needed not in wanted:
        wanted[needed] = [f"judge={judge.name}" if judge is not None else ""]
    for name, options in wanted.items():
        if not _NAME.fullmatch(name):
            text = f"of {', '.join(options)} is no name of a variable, and may be the key itself, so it is not shown"
            yield Item("keys", "key_env", "bad", text, "write the name of a variable there and put the key into it")
        else:
            yield _key(name, ", ".join(options), environ, needed=name == needed)


def _needed(judge: JudgeSettings, environ: Mapping[str, str]) -> str | None:
    """The variable whose key the judge is sent: a server on this machine may do without the one its option names."""
    try:
        return http_settings(judge.model_dump(), environ).key_env if judge.protocol == "chat" else judge.key_env
    except ConfigError:  # told of with the judge
        return judge.key_env


def _named(root: Path, group: str) -> Iterator[tuple[str, str]]:
    """(option, its key_env) of every option of a group, jeval's and the project's."""
    import yaml

    folders = [folder / group for folder in (bundled_conf(), user_conf(root)) if folder is not None]
    for file in sorted(file for folder in folders for file in folder.glob("*.yaml")):
        try:
            body = yaml.safe_load(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):  # told of elsewhere
            continue
        name = body.get("key_env") if isinstance(body, dict) else None
        if isinstance(name, str) and name:
            yield file.stem, name


def _key(name: str, options: str, environ: Mapping[str, str], *, needed: bool) -> Item:
    if not environ.get(name):
        if needed:
            return Item("keys", name, "bad", f"is not set, and {options} needs it", "put the key into it")
        return Item("keys", name, "none", f"not set ({options})")
    try:
        check_key(environ[name], "the value")
    except ConfigError as error:
        text, _, remedy = str(error).partition("; ")
        return Item("keys", name, "bad", text, remedy)
    return Item("keys", name, "fine", f"set ({options})")


def proxy_items(environ: Mapping[str, str]) -> Iterator[Item]:
    """The proxies that requests go through, without what may be a password in them."""
    found = False
    for name in _PROXIES:
        lower, upper = environ.get(name.lower()), environ.get(name)
        address = lower or upper
        if not address:
            continue
        found = True
        shown = name.lower() if lower else name
        host = _host(address)
        if host is None:
            remedy = "give http://HOST:PORT, or unset it"
            yield Item("network", shown, "bad", "is no address of an http or https proxy", remedy)
        elif lower and upper and lower != upper:
            yield Item("network", name, "warning", f"differs from {name.lower()}, which counts ({host})", "unset one")
        else:
            yield Item("network", shown, "fine", host)
    spared = environ.get("no_proxy") or environ.get("NO_PROXY")
    if spared:
        yield Item("network", "NO_PROXY", "fine", spared)
    if not found:
        yield Item("network", "proxy", "none", "none is set")


def _host(address: str) -> str | None:
    """Host and port of a proxy, None where there is no usable one."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


def certificate_items(environ: Mapping[str, str]) -> Iterator[Item]:
    """The variables that say whose certificates are believed."""
    found = False
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        path = environ.get(name)
        if path:
            found = True
            fault = _unreadable(name, path)
            remedy = "correct it, or unset it" if fault else None
            yield Item("network", name, "bad" if fault else "fine", f"{path} {fault}" if fault else path, remedy)
    for name in _OTHERS:
        if environ.get(name) and not environ.get("SSL_CERT_FILE"):
            remedy = "set SSL_CERT_FILE to the same file if the judge's certificate needs it"
            yield Item("network", name, "warning", "is set, but jeval does not read it", remedy)
    if not found:
        yield Item("network", "certificates", "none", "those of this machine")


def _unreadable(name: str, path: str) -> str | None:
    """Why no certificates can be read there, None where they can."""
    whole = name == "SSL_CERT_FILE"
    if not (Path(path).is_file() if whole else Path(path).is_dir()):
        return f"is no {'file' if whole else 'folder'}"
    try:
        ssl.create_default_context(cafile=path if whole else None, capath=None if whole else path)
    except OSError as error:  # ssl.SSLError is one
        return f"cannot be read: {error.strerror or error}"
    return None


def judge_item(settings: JudgeSettings, environ: Mapping[str, str], *, online: bool) -> Item:
    """The configured judge; with `online` it is asked one question, once."""
    name = f"judge={settings.name}"
    if settings.gateway == "offline":
        return Item("judge", name, "fine", "works without a network; simulated, it compares words")
    try:
        judge = make_judge(settings.model_copy(update={"max_attempts": 1}), environ)
        if not online:
            return Item(
                "judge", name, "none", f"{judge.gateway}, {judge.model}: not asked; --online asks it a tiny question"
            )
        return _answered(name, asyncio.run(_ask(judge)))
    except JevalError as error:
        text, _, remedy = str(error).partition("; ")
        return Item("judge", name, "bad", text, remedy or "check the network, and whether the judge is up")


async def _ask(judge: Judge) -> Reply:
    question = noul(f"{PREAMBLE}\n\nuser_input is a greeting.")
    try:
        return await judge.ask(state_of({"user_input": "Hello!"}, _ROOM), {"greeting": question})
    finally:
        await judge.close()


def _answered(name: str, reply: Reply) -> Item:
    took: Any = "" if reply.latency_ms is None else f" in {reply.latency_ms:,.0f} ms"
    tokens = "" if reply.input_tokens is None else f", {counted(reply.input_tokens, 'token')} in"
    text = f"{reply.model} answered{took}{tokens}"
    p = reply.answers["greeting"].probabilities["true"]
    if p < 0.5:
        return Item("judge", name, "warning", f"{text}, but takes a greeting for none (p {p:.2f})", "check judge.model")
    return Item("judge", name, "fine", text)
