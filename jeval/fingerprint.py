"""Canonical JSON and the hashes built on it: equal content, equal fingerprint, whatever the key order."""

import hashlib
import json
import math
from typing import Any

import orjson

__all__ = ["canonical", "compact", "compact_finite", "key63", "sha256", "sha256_text"]

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_compact = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces. Raises ValueError for NaN and infinities."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # integers beyond 64 bits, half characters: what the standard library takes, slowly
        return _canonical(value)
    return text if "null" not in text else _finite(value, text)


def compact(value: Any) -> str:
    """JSON with no spaces, keys in the order given: what goes on the wire, where order matters.

    Raises ValueError for NaN and infinities.
    """
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        return _compact(value)
    return text if "null" not in text else _finite(value, text)


def compact_finite(value: Any) -> str:
    """As `compact`, of a value that is known to hold no NaN: it is not looked for."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return _compact(value)


def _finite(value: Any, text: str) -> str:
    # orjson writes NaN and infinities as null, so where a null stands it is asked what it was. The standard
    # encoder refuses them and is quicker than looking; what only orjson can write is looked through.
    try:
        _compact(value)
    except ValueError as error:
        raise ValueError("NaN and infinities are no JSON") from error
    except TypeError:
        if _holds_nonfinite(value):
            raise ValueError("NaN and infinities are no JSON") from None
    return text


def _holds_nonfinite(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(_holds_nonfinite(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_holds_nonfinite(item) for item in value)
    return False


def sha256(value: Any) -> str:
    """SHA-256 of a JSON value's canonical text, 64 hex digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def sha256_text(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def key63(text: str) -> int:
    """A positive 63-bit key of a text, for content-addressed rows that must stay small.

    Not proof against collisions on its own: whoever stores by it must compare the content.
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
