"""JSON, read so that nothing changes silently; and what holds for YAML too.

Stricter than the library's own defaults: a key written twice, NaN and numbers too large for a float are faults.
"""

import json
import math
import re
from typing import Any

__all__ = [
    "DEEPEST",
    "BadText",
    "decode_text",
    "is_no_text",
    "parse_json",
    "read_float",
    "read_int",
    "refuse_deep_and_halves",
]


class BadText(ValueError):
    """Text that is not what it should be; `line` counts from 1 where there are several and it is known."""

    def __init__(
        self, message: str, remedy: str, *, value: str | None = None, field: str = "", line: int | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.remedy, self.value, self.field, self.line = message, remedy, value, field, line


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadText("the key is written twice in one object", "keep one of the two", field=twice)
    return found


def read_float(text: str) -> float:
    """A number of JSON or YAML. Raises BadText where no float holds it."""
    value = float(text)
    if math.isinf(value):
        raise BadText("the number is too large", "write a number below 1.8e308, or a text", value=text)
    return value


def _constant(text: str) -> Any:
    raise BadText(f"{text} is no JSON number", "write null, a number or a text", value=text)


def read_int(text: str) -> int:
    """A whole number of JSON or YAML. Raises BadText where it is absurdly long."""
    if len(text) > 1_000:
        raise BadText("the number has too many digits", "write it as a text", value=f"{text[:20]}…")
    return int(text)


_UTF16, _GZIP = (b"\xff\xfe", b"\xfe\xff"), b"\x1f\x8b"
_decode = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_float=read_float, parse_constant=_constant, parse_int=read_int
).decode


def is_no_text(data: bytes) -> bool:
    """Whether a file that begins like this is in another encoding, or packed, as a whole."""
    return data[:2] in (*_UTF16, _GZIP)


def decode_text(data: bytes) -> str:
    """The text of a UTF-8 file, a byte order mark allowed. Raises BadText."""
    if data[:2] in _UTF16:
        raise BadText("the file is UTF-16", "save it as UTF-8")
    if data[:2] == _GZIP:
        raise BadText("the file is compressed", "unpack it first")
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        around = data[max(0, error.start - 8) : error.start + 8]
        raise BadText(f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8", value=f"{around!r}") from error


# YAML has a long escape, too.
_HALF = re.compile(r"\\(?:u|U0000)[dD]")


# Deeper than any evidence people write; what reads JSON in C gives up at a few hundred.
DEEPEST = 100


def _depth(value: Any) -> int:
    """How deep lists and objects are nested in a value, counted level by level so that no stack is needed."""
    depth, level = 0, [value]
    while level:
        level = [
            inner
            for one in level
            if isinstance(one, list | dict)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        depth += 1
    return depth


def refuse_deep_and_halves(value: Any, text: str) -> Any:
    """The value that `text` held. Raises BadText where it is nested too deeply or holds half a character."""
    if text.count("[") + text.count("{") + text.count("- ") > DEEPEST and _depth(value) > DEEPEST:
        raise BadText(f"is nested more than {DEEPEST} deep", "flatten it")
    # Only an escape can smuggle in half a character; looking for one is cheaper than encoding everything.
    if _HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise BadText(
                "holds half a character (a lone surrogate)", "write the whole character", value=half
            ) from error
    return value


def parse_json(data: bytes) -> Any:
    """The JSON value in `data` (UTF-8, a byte order mark allowed). Raises BadText."""
    text = decode_text(data)
    try:
        return refuse_deep_and_halves(_decode(text), text)
    except json.JSONDecodeError as error:
        if error.pos and text[error.pos - 1] == "0" and text[error.pos : error.pos + 1].isdecimal():
            number = re.match(r"\d+", text[error.pos - 1 :])
            value = number.group() if number else "0"
            remedy = f'write "{value}" for the text, or drop the zero'
            raise BadText("a number with a leading zero", remedy, value=value) from error
        raise _not_json(error, text) from error
    except RecursionError as error:
        raise BadText("is nested too deeply", "flatten it") from error


def _not_json(error: json.JSONDecodeError, text: str) -> BadText:
    several = "\n" in text.strip()
    if not several and error.msg == "Extra data" and text[error.pos :].strip() == ",":
        return BadText("ends with a comma", "remove the comma at the end of the line")
    if text.lstrip()[:1] == "[" and not several:
        remedy = "write one object a line, without brackets and commas around them"
    else:
        remedy = "check the quotes, commas and brackets there"
    ends = error.pos >= len(text.rstrip())
    place = "its end" if ends else f"column {error.colno}"
    near = text[max(0, error.pos - 10) : error.pos + 20].strip()
    line = min(error.lineno, text.rstrip().count("\n") + 1) if several else None
    return BadText(f"is not JSON at {place}: {error.msg}", remedy, value=repr(near), line=line)
