"""LangWatch's traces: as its API has them, and as its export writes them, JSON or CSV, with spans or without.

A trace is one case. In a CSV with spans each row is a span, with what is known of its trace.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jeval.imports.draft import Draft, Options, Unfit, json_or_text, objects_in, shown_text
from jeval.imports.rows import read_traces
from jeval.imports.trace import Kind, Span, Trace, case_of

__all__ = ["fits", "read_all"]

_KINDS: Mapping[str, Kind] = {
    "llm": "llm", "tool": "tool", "rag": "retriever", "guardrail": "aside", "evaluation": "aside",
}  # fmt: skip
_EMPTY: tuple[Any, ...] = (None, [], {}, "", False)
_PLACED = ("trace_id", "input", "output", "metadata", "spans", "contexts")
# What nobody but LangWatch calls so, in a trace whose input is a text.
_SIGNS = {"labels", "first_token_ms", "total_time_ms", "subtopic", "evaluations"}


def fits(record: Any) -> bool:
    """Whether a record looks like a trace of LangWatch, like a row of a span, or like a page of them."""
    if not isinstance(record, dict):
        return False
    if isinstance(record.get("traces"), list) and record["traces"]:
        return fits(record["traces"][0])
    if "trace_id" not in record:
        return False
    if _is_row(record) or isinstance(record.get("input"), dict) or isinstance(record.get("spans"), list):
        return True
    return "output" in record and bool(_SIGNS & set(record))


def _is_row(record: Mapping[str, Any]) -> bool:
    return bool(record.get("trace_id")) and "span_id" in record and "span_type" in record


def read_all(records: Iterable[tuple[str, Any]], options: Options) -> Iterator[tuple[str, Draft | Unfit]]:
    """The cases in records, each with its place; those of rows come last, with the place of the first."""
    return read_traces(
        records,
        _records,
        lambda found: str(found["trace_id"]) if _is_row(found) else None,
        lambda found: _made(found, options),
        lambda _, rows: _made(_whole(rows), options),
    )


def _made(record: dict[str, Any], options: Options) -> Draft | Unfit:
    try:
        draft = case_of(_trace(record), options)
    except Unfit as unfit:
        return unfit
    if not objects_in(record.get("spans")):
        draft.note("trace without its spans: tools, passages and conversation are not in such an export")
    return draft


def _records(record: Any) -> Iterator[dict[str, Any] | Unfit]:
    if not isinstance(record, dict):
        yield Unfit("", "is not an object", "export whole traces as JSON", record)
    elif isinstance(record.get("traces"), list):
        for item in record["traces"]:
            yield from _records(item)
    elif not isinstance(record.get("trace_id"), str) or not record["trace_id"]:
        yield Unfit("trace_id", "is missing", "export whole traces, not single spans", record.get("trace_id"))
    else:
        yield record


def _whole(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A trace as JSON has it, from the rows of its spans."""
    named = {key.removeprefix("trace_"): value for key, value in rows[0].items() if not key.startswith("span_")}
    spans = [
        {
            "span_id": row.get("span_id"),
            "parent_id": row.get("parent_span_id"),
            **{key.removeprefix("span_"): json_or_text(row[key]) for key in row if key.startswith("span_")},
            "timestamps": {"started_at": row.get("span_started_at")},
        }
        for row in rows
    ]
    return {**named, "trace_id": rows[0]["trace_id"], "spans": spans}


def _trace(record: dict[str, Any]) -> Trace:
    own = json_or_text(record.get("metadata"))
    metadata = dict(own) if isinstance(own, dict) else {}
    metadata |= {key: value for key, value in record.items() if key not in _PLACED and value not in _EMPTY}
    for key in ("id", "parent_span_id"):  # of a row of a span
        metadata.pop(key, None)
    spans = [_span(span) for span in objects_in(record.get("spans"))]
    given, said = _value(record.get("input")), _value(record.get("output"))
    if isinstance(record.get("contexts"), list) and not any(span.passages for span in spans):
        spans.append(Span("retriever", "contexts", passages=_contexts(record["contexts"])))
    return Trace(record["trace_id"], given, said, metadata, spans)


def _value(typed: Any) -> Any:
    """The value in `{"type": …, "value": …}`, or the thing itself; of a list of one, that one; of nothing, None."""
    if typed == "":
        return None
    if not isinstance(typed, dict) or "value" not in typed:
        return typed
    value = json_or_text(typed["value"]) if typed.get("type") != "text" else typed["value"]
    if typed.get("type") == "list" and isinstance(value, list):
        values = [_value(one) for one in value]
        return values[0] if len(values) == 1 else values
    return value


def _span(record: dict[str, Any]) -> Span:
    kind = _KINDS.get(str(record.get("type")), "other")
    problem = record.get("error")
    if isinstance(problem, dict):
        problem = problem.get("message") or ("error" if problem.get("has_error") else None)
    timestamps = record.get("timestamps")
    started = timestamps.get("started_at") if isinstance(timestamps, dict) else None
    outputs = record.get("outputs")
    said = record.get("output")
    if said is None and isinstance(outputs, list) and outputs:  # of older spans
        said = outputs[-1]
    contexts = json_or_text(record.get("contexts"))
    return Span(
        kind,
        str(record.get("name") or "unnamed"),
        _value(record.get("input")),
        _value(said),
        problem or None,
        started or 0,
        passages=_contexts(contexts) if isinstance(contexts, list) else [],
        id=str(record.get("span_id") or record.get("id") or ""),
        parent=str(record.get("parent_id") or ""),
    )


def _contexts(items: list[Any]) -> list[Any]:
    """Passages, whose content may be more than a text."""
    return [
        {**item, "content": shown_text(item["content"])} if isinstance(item, dict) and item.get("content") else item
        for item in items
    ]
