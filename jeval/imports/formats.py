"""The formats there are, and which of them a record is in."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jeval.imports import chat, deepeval, generic, langfuse, langwatch, otel
from jeval.imports.draft import Draft, Options, Unfit

__all__ = ["FORMATS", "detect", "drafts"]

Records = Iterable[tuple[str, Any]]

_ONE_BY_ONE: dict[str, Callable[[Any, Options], Iterator[Draft]]] = {
    "chat": chat.read,
    "deepeval": deepeval.read,
    "generic": generic.read,
}

# A trace of these may be spread over several records.
_TOGETHER: dict[str, Callable[[Records, Options], Iterator[tuple[str, Draft | Unfit]]]] = {
    "otel": otel.read_all,
    "langfuse": langfuse.read_all,
    "langwatch": langwatch.read_all,
}

FORMATS = ("chat", "otel", "langfuse", "langwatch", "deepeval", "generic")

# The narrower a format, the earlier it is tried.
_DETECTED: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("otel", otel.fits),
    ("langwatch", langwatch.fits),
    ("langfuse", langfuse.fits),
    ("chat", chat.fits),
    ("deepeval", deepeval.fits),
    ("generic", generic.fits),
)


def detect(record: Any) -> str | None:
    """The format of a record, or None where it looks like none of them."""
    return next((name for name, fits in _DETECTED if fits(record)), None)


def drafts(format: str, records: Records, options: Options) -> Iterator[tuple[str, Draft | Unfit]]:
    """The drafts in (place, record) pairs, each with its place, and where a record holds none, why."""
    if format in _TOGETHER:
        yield from _TOGETHER[format](records, options)
        return
    read = _ONE_BY_ONE[format]
    for place, record in records:
        try:
            for draft in read(record, options):
                yield place, draft
        except Unfit as unfit:
            yield place, unfit
