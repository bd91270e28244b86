"""The formats there are, and which of them a record is in."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jeval.imports import chat, deepeval, generic, langfuse, langwatch, otel
from jeval.imports.draft import Draft, Options, Unfit

__all__ = ["FORMATS", "detect", "drafts"]

_ONE_BY_ONE: dict[str, Callable[[Any, Options], Iterator[Draft]]] = {
    "chat": chat.read,
    "langfuse": langfuse.read,
    "langwatch": langwatch.read,
    "deepeval": deepeval.read,
    "generic": generic.read,
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


def drafts(format: str, records: Iterable[tuple[str, Any]], options: Options) -> Iterator[tuple[str, Draft | Unfit]]:
    """The drafts in (place, record) pairs, each with its place, and where a record holds none, why."""
    if format == "otel":
        yield from otel.read_all(records, options)
        return
    read = _ONE_BY_ONE[format]
    for place, record in records:
        try:
            for draft in read(record, options):
                yield place, draft
        except Unfit as unfit:
            yield place, unfit
