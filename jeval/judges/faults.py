"""What a judge's refusal says: an HTTP status and body to a kind, a message and whether to try again.

Bodies come in several shapes, and some echo the request. A message is only ever taken from where a shape has
its message, is one line of printable text, and loses whatever it repeats of the request or the key.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from jeval.judges.wire import parse_object

__all__ = ["AttemptFailed", "Sent", "one_line", "refusal", "retry_after"]

LONGEST_MESSAGE = 300
_LONGEST_DETAIL = 160
_ECHO, _KEY_ECHO = 16, 6  # characters: what shares so many in a row with the request, or the key, was copied

TRANSIENT = frozenset({"timeout", "connection", "rate_limited", "overloaded", "server_error", "malformed"})
"""Kinds that a second attempt may mend."""
THROTTLED = frozenset({"rate_limited", "overloaded"})
"""Kinds that say there were too many requests."""


class AttemptFailed(Exception):
    """One attempt brought no usable answer.

    `kind` and `message` go into the JudgeError, and so does `remedy`, whole even where the message is shortened;
    `refused` says that every request would fare alike, and `retry_after_s` is how long the judge asks to wait,
    where it does.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        refused: bool = False,
        retry_after_s: float | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.remedy = kind, message, remedy
        self.refused, self.retry_after_s = refused, retry_after_s

    @property
    def transient(self) -> bool:
        """May a second attempt mend it?"""
        return self.kind in TRANSIENT and not self.refused


@dataclass(frozen=True, slots=True)
class Sent:
    """What a message must not repeat, and what it should name."""

    body: bytes
    key: str | None
    key_env: str | None
    model: str


_REFUSALS = {
    # status: kind, what to do about it
    401: ("auth", "check the key in {key}"),
    402: ("payment", "add credit at the gateway"),
    403: ("forbidden", "see what the key in {key} may do"),
    404: ("not_found", "check judge.base_url and judge.path"),
    405: ("not_found", "check judge.base_url and judge.path"),
    407: ("proxy", "check the proxy named by HTTPS_PROXY"),
    410: ("not_found", "check judge.base_url and judge.path"),
    451: ("forbidden", "the gateway does not serve you this model"),
}
_TRANSIENT = {408: "timeout", 429: "rate_limited", 529: "overloaded"}
_TOO_LARGE = re.compile(
    r"max_tokens_exceeded|context[_ ](?:length|size|window)|too (?:large|long|many tokens)"
    r"|exceeds? .*(?:token|limit|length|size)",
    re.I,
)
_NO_MODEL = re.compile(
    r"(?:unknown|invalid|unsupported|no such|unrecogni[sz]ed)[ _]model\b"
    r"|\bmodel[ _](?:\S{1,80} )?(?:not[ _]found|does not exist|(?:is )?not (?:supported|available|found))",
    re.I,
)


def refusal(status: int, headers: Mapping[str, str], content: bytes, sent: Sent, now: float) -> AttemptFailed:
    """What a reply other than a 200 with answers means. `now` is seconds since 1970, for dates in headers."""
    if 300 <= status < 400:
        return AttemptFailed("redirect", f"{status}{_target(headers)}; set judge.base_url to that", refused=True)
    error_type, text = _explanation(content, headers.get("content-type", ""))
    status = _inner_status(content) if status == 200 else status
    detail = one_line(": ".join(part for part in (error_type, text) if part), sent)
    kind, remedy, refused = _kind(status, error_type, detail)
    message = f"{status}" + (f": {detail}" if detail else "")
    if remedy:
        key = sent.key_env or "the variable named by judge.key_env"
        message += "; " + remedy.format(key=key, model=one_line(sent.model, None, 80))
    wait = retry_after(headers, now) if kind in TRANSIENT else None
    return AttemptFailed(kind, message[:LONGEST_MESSAGE], refused=refused, retry_after_s=wait)


def _kind(status: int, error_type: str, detail: str) -> tuple[str, str, bool]:
    """(kind, remedy, whether every request would fare alike)."""
    if status == 429 and error_type == "insufficient_quota":
        status = 402
    if status in _TRANSIENT or status >= 500:
        return _TRANSIENT.get(status, "server_error"), "", False
    if status == 413 or (status in {400, 422} and _TOO_LARGE.search(detail)):
        return "too_large", "lower judge.max_state_tokens", False
    if status in {400, 404, 422} and _NO_MODEL.search(detail):
        return "unknown_model", "it was asked for {model}; set judge.model", True
    if status == 403 and "authentication" in error_type:
        status = 401
    if status in _REFUSALS:
        return (*_REFUSALS[status], True)
    return "malformed" if 200 <= status < 300 else "bad_request", "", False


def _inner_status(content: bytes) -> int:
    """The status inside a 200 whose body is an error."""
    error = (parse_object(content) or {}).get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600 else 200


def _target(headers: Mapping[str, str]) -> str:
    """Where a redirect points, without anything that could be a secret."""
    try:
        parts = urlsplit(headers.get("location", ""))
        host = parts.hostname or ""
    except ValueError:
        return ""
    return one_line(f", which points to {parts.scheme or 'https'}://{host}{parts.path}", None) if host else ""


def _explanation(content: bytes, content_type: str) -> tuple[str, str]:
    """(error type, message) of an error's body, either of them possibly empty."""
    body = parse_object(content)
    if body is None:
        text = content[:1000].decode("utf-8", "replace").strip()
        if not text or text.startswith(("<", "{", "[")) or "html" in content_type:
            return "", "an HTML page" if text.startswith("<") else ""
        return "", text
    for holder in (body.get("detail"), body.get("error"), body):
        if isinstance(holder, str):
            return "", holder
        if isinstance(holder, list):
            return "", _listed(holder)
        if isinstance(holder, dict):
            code = holder.get("code")  # a word says more than a type; a number is the status again
            word = code if isinstance(code, str) and not code.isdigit() else ""
            error_type = holder.get("error_type") or word or holder.get("type")
            message = holder.get("message")
            return (
                error_type if isinstance(error_type, str) else "",
                message if isinstance(message, str) else "",
            )
    return "", ""


def _listed(problems: list[Any]) -> str:
    """`loc` and `msg` of schema problems; their `input` and `ctx` echo the request and are not read."""
    shown = []
    for problem in problems[:3]:
        if isinstance(problem, dict):
            loc = problem.get("loc")
            place = ".".join(f"{part!s:.40}" for part in loc[:6]) if isinstance(loc, list) else ""
            message = problem.get("msg")
            shown.append(f"{place} {message}" if isinstance(message, str) else place)
    more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
    return ", ".join(part.strip() for part in shown) + more


def one_line(text: str, sent: Sent | None, limit: int = _LONGEST_DETAIL) -> str:
    """Printable, in one line, shortened, and without what it repeats of what was sent."""
    text = " ".join(text[: 8 * limit].split())
    if sent is not None:
        text = _without_echo(text, sent.body, _ECHO)
        text = _without_echo(text, (sent.key or "").encode(), _KEY_ECHO)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _without_echo(text: str, source: bytes, block: int) -> str:
    """Cut out what `text` repeats of `source`: every run of twice `block` characters, and many of `block`."""

    def copied(part: str) -> bool:
        return part.encode("utf-8", "replace") in source

    kept, at = "", 0
    while at < len(text):
        end = at + block
        if end > len(text) or not copied(text[at:end]):
            kept += text[at:end]
            at = end
            continue
        run = text[at:end]
        while kept and copied(kept[-1] + run):  # the run began within the block before
            kept, run = kept[:-1], kept[-1] + run
        while end < len(text) and copied(run + text[end]):
            run += text[end]
            end += 1
        kept += "[…]"
        at = end
    return kept


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds the judge asks to wait, not negative: `retry-after-ms`, else `retry-after`, seconds or a date.

    A date is read against the reply's own `date` where it has one, for clocks differ.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    until = _timestamp(value)
    if until is None:
        return None
    sent_at = _timestamp(headers.get("date"))
    return max(0.0, until - (now if sent_at is None else sent_at))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _timestamp(text: str | None) -> float | None:
    try:
        when = parsedate_to_datetime(text) if text else None
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if when is None:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
