"""Traces whose spans are rows of their own, anywhere in a file, beside traces that are whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jeval.imports.draft import Draft, Unfit

__all__ = ["read_traces"]

Case = Draft | Unfit


def read_traces(
    records: Iterable[tuple[str, Any]],
    parts: Callable[[Any], Iterable[dict[str, Any] | Unfit]],
    trace_of: Callable[[Mapping[str, Any]], str | None],
    whole: Callable[[dict[str, Any]], Case],
    of_rows: Callable[[str, list[dict[str, Any]]], Case],
) -> Iterator[tuple[str, Case]]:
    """The cases in records, each with its place; those of rows come last, with the place of their first row.

    `parts` takes a record apart; `trace_of` is the id of the trace that a row belongs to, None for a whole trace;
    `whole` and `of_rows` make the case.
    """
    rows: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for place, record in records:
        for found in parts(record):
            if isinstance(found, Unfit):
                yield place, found
            elif (trace_id := trace_of(found)) is not None:
                rows.setdefault(trace_id, (place, []))[1].append(found)
            else:
                yield place, whole(found)
    for trace_id, (place, of_trace) in rows.items():
        yield place, of_rows(trace_id, of_trace)
