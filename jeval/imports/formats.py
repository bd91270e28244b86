"""The formats there are, and which of them a record is in."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jeval.case import Case
from jeval.imports import chat, deepeval, generic, langfuse, langwatch, otel
from jeval.imports.draft import Draft, Options, Unfit

__all__ = ["FORMATS", "detect", "drafts", "foreign_format", "is_own_form"]

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


_CASE_KEYS = {name for key, field in Case.model_fields.items() for name in (key, field.serialization_alias or key)}
_CASE_LISTS = ("messages", "context", "toolEvents", "tool_events")


def is_own_form(record: Any) -> bool:
    """Whether a record is written as jeval's own cases are, if perhaps with faults in its values: with their keys and
    no others, and lists whose items have ids."""
    if not isinstance(record, dict) or not {"id", "input", "output"} <= record.keys() <= _CASE_KEYS:
        return False
    items = [item for name in _CASE_LISTS for item in _list(record.get(name))]
    return all(isinstance(item, dict) and "id" in item for item in items)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def foreign_format(record: Any) -> str | None:
    """The format of a record that was meant as a case and is none; None where it looks like a case with faults.

    An input and an output make a case of what would else be a conversation, a test case or a row.
    """
    name = detect(record)
    if name in ("chat", "deepeval", "generic") and {"input", "output"} <= record.keys():
        return None
    return None if is_own_form(record) else name


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
