"""What every format is read into: a draft of a case, and a word on what could not be kept."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jeval.fingerprint import canonical

__all__ = ["Draft", "Options", "Unfit", "failed", "json_or_text", "objects_in", "plain_id", "shown_text"]

# How a result that reports a failure begins, where nothing else in the trace tells.
_FAILURE = re.compile(r"\s*(?:error|exception|traceback)\b", re.I)


class Unfit(ValueError):
    """A record of which no case can be made. `value` is what stands in `field`, None where nothing does."""

    def __init__(self, field: str, message: str, remedy: str, value: Any = None) -> None:
        super().__init__(message)
        self.field, self.message, self.remedy, self.value = field, message, remedy, value


@dataclass(frozen=True)
class Options:
    """How to read. `answers` is "last" (one case a conversation) or "each" (one for every answer in it).

    `transcript` "full" keeps system and tool messages in `messages`, "turns" leaves them to `policy` and
    `toolEvents`. `failure` tells, by its text, a tool's result that reports a failure; None stands for the
    rule of `failed`. `recorded` says that a trace without tool calls had none. `fields` maps fields of a case
    to dotted paths in a record, for the generic format.
    """

    answers: str = "last"
    transcript: str = "turns"
    failure: re.Pattern[str] | None = None
    recorded: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Draft:
    """A case in the making: `body` has a case's keys as on disk, but may lack an id. `notes` names, in a few
    words each, what the case does not hold as it was, and counts how often."""

    body: dict[str, Any]
    notes: Counter[str] = field(default_factory=Counter)

    def note(self, text: str, number: int = 1) -> None:
        """Note something of the whole case, or so many things in it, however often it is said."""
        self.notes[text] = number

    def count(self, text: str) -> None:
        """Note one more of something."""
        self.notes[text] += 1

    def settled_id(self, kind: str) -> str:
        """The id: what the record calls itself where that can be one, else a hash of the content."""
        given = self.body.get("id")
        if isinstance(given, int) and not isinstance(given, bool):
            given = str(given)
        if isinstance(given, str) and (made := plain_id(given)):
            if made != given:
                self.note("id written with other signs")
            return made
        content = {key: value for key, value in self.body.items() if key != "id"}
        return f"{kind}-{hashlib.sha256(canonical(content).encode()).hexdigest()[:12]}"


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; none where there is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def plain_id(text: str) -> str:
    """The text as an id of a case: other signs become "-"; empty where nothing is left of it."""
    return re.sub(r"[^A-Za-z0-9._:-]+", "-", text.strip()).lstrip("-._:").rstrip("-")[:200]


def json_or_text(value: Any) -> Any:
    """A text that holds a JSON object or list as that, anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return value


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def failed(result: Any, options: Options) -> bool:
    """Whether a tool's result reports a failure.

    By `options.failure` where that is given; else a text that begins with error, exception or traceback, or
    an object with something under `error`. A tool that answers "no" has not failed.
    """
    if options.failure is not None:
        return options.failure.search(shown_text(result)) is not None
    if isinstance(result, dict):
        return bool(result.get("error")) or result.get("is_error") is True or result.get("isError") is True
    return isinstance(result, str) and _FAILURE.match(result) is not None


def shown_text(value: Any) -> str:
    """A value as text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
