"""Langfuse's exports: traces with their observations, and observations alone, as its API and its interface give them.

A trace is one case. It may be whole (the API's single trace, the download of one), or its observations are rows of
their own (the observations API, an exported table, files in a bucket); rows of one trace may be anywhere in a file.
Keys are camelCase or snake_case, and what is JSON inside may be a text.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from jeval.imports.draft import Draft, Options, Unfit, json_or_text, objects_in
from jeval.imports.rows import read_traces
from jeval.imports.trace import Kind, Span, Trace, case_of

__all__ = ["fits", "read_all"]

_KINDS: Mapping[str, Kind] = {
    "GENERATION": "llm", "TOOL": "tool", "RETRIEVER": "retriever", "EMBEDDING": "aside", "EVALUATOR": "aside",
    "GUARDRAIL": "aside", "EVENT": "aside",
}  # fmt: skip
_TYPES = {*_KINDS, "SPAN", "AGENT", "CHAIN"}
_EMPTY: tuple[Any, ...] = (None, [], {}, "", False)
_PLACED = ("id", "input", "output", "metadata", "observations", "scores")
# What a row of an observation says of the trace that it belongs to.
_OF_TRACE = ("traceName", "userId", "sessionId", "tags", "release", "version", "environment", "traceTags")


def fits(record: Any) -> bool:
    """Whether a record looks like a trace of Langfuse, like an observation, or like a page of them."""
    if not isinstance(record, dict):
        return False
    for name in ("data", "traces"):
        items = record.get(name)
        if isinstance(items, list):
            return bool(items) and fits(items[0])
    if isinstance(record.get("observations"), list) or _is_row(record):
        return True
    return {"id", "sessionId", "userId"} <= set(record) or {"id", "session_id", "user_id"} <= set(record)


def _is_row(record: Mapping[str, Any]) -> bool:
    return bool(record.get("traceId") or record.get("trace_id")) and str(record.get("type")).upper() in _TYPES


def read_all(records: Iterable[tuple[str, Any]], options: Options) -> Iterator[tuple[str, Draft | Unfit]]:
    """The cases in records, each with its place; those of observations come last, with the place of the first."""
    return read_traces(
        records,
        _records,
        lambda found: str(found["traceId"]) if _is_row(found) else None,
        lambda found: _made(_trace(found), options, bare=not objects_in(found.get("observations"))),
        lambda trace_id, rows: _made(_trace_of_rows(trace_id, rows), options),
    )


def _made(trace: Trace, options: Options, *, bare: bool = False) -> Draft | Unfit:
    try:
        draft = case_of(trace, options)
    except Unfit as unfit:
        return unfit
    if bare:
        draft.note("trace without its observations: tools, passages and conversation are not in such an export")
    return draft


def _records(record: Any) -> Iterator[dict[str, Any] | Unfit]:
    """The traces and observations in a record, keys in camelCase."""
    if not isinstance(record, dict):
        yield Unfit("", "is not an object", "export whole traces as JSON", record)
        return
    for name in ("data", "traces"):
        if isinstance(record.get(name), list):
            for item in record[name]:
                yield from _records(item)
            return
    if isinstance(record.get("trace"), dict):  # the download of one trace
        more = {key: record[key] for key in ("observations", "scores") if key in record}
        record = {**record["trace"], **more}
    found = {to_camel(key) if "_" in key else key: value for key, value in record.items()}
    if not isinstance(found.get("id"), str) or not found["id"]:
        yield Unfit("id", "is missing", "export whole traces, or observations with their traceId", found.get("id"))
    else:
        yield found


def _trace(record: dict[str, Any]) -> Trace:
    metadata = _own(record.get("metadata"))
    metadata |= {key: value for key, value in record.items() if key not in _PLACED and value not in _EMPTY}
    metadata |= _scores(record.get("scores"))
    observations = [_camel(one) for one in objects_in(record.get("observations"))]
    return Trace(
        record["id"], record.get("input"), record.get("output"), metadata, [_span(one) for one in observations]
    )


def _trace_of_rows(trace_id: str, rows: list[dict[str, Any]]) -> Trace:
    metadata: dict[str, Any] = {}
    for row in rows:
        for key in _OF_TRACE:
            if row.get(key) not in _EMPTY:
                metadata.setdefault(key, row[key])
        if not row.get("parentObservationId"):
            metadata = {**_own(row.get("metadata")), **metadata}
    return Trace(trace_id, metadata=metadata, spans=[_span(row) for row in rows])


def _camel(record: dict[str, Any]) -> dict[str, Any]:
    return {to_camel(key) if "_" in key else key: value for key, value in record.items()}


def _own(value: Any) -> dict[str, Any]:
    value = json_or_text(value)
    return dict(value) if isinstance(value, dict) else {} if value in _EMPTY else {"metadata": value}


def _scores(value: Any) -> dict[str, Any]:
    """Scores by name, and comments on them; several of one name as a list."""
    found: dict[str, Any] = {}
    comments: dict[str, Any] = {}
    for score in objects_in(value):
        name = score.get("name")
        if not isinstance(name, str):
            continue
        worth = score.get("value")
        if worth is None or score.get("dataType") == "CATEGORICAL":
            worth = score.get("stringValue", worth)
        found[name] = worth if name not in found else [*_listed(found[name]), worth]
        if score.get("comment"):
            comments[name] = [*comments.get(name, []), score["comment"]]
    if isinstance(value, dict):  # by name already, as tables have them
        found |= value
    return {**({"scores": found} if found else {}), **({"scoreComments": comments} if comments else {})}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _span(record: dict[str, Any]) -> Span:
    kind = _KINDS.get(str(record.get("type")).upper(), "other")
    error = None
    if record.get("level") == "ERROR":
        error = record.get("statusMessage") or "error"
    name, call_id = str(record.get("name") or "unnamed"), None
    attributes = _own(record.get("metadata")).get("attributes")
    if kind == "tool" and isinstance(attributes := json_or_text(attributes), dict):  # where it came in as a span
        name = str(attributes.get("gen_ai.tool.name") or name)
        call_id = attributes.get("gen_ai.tool.call.id")
    return Span(
        kind,
        name,
        json_or_text(record.get("input")),
        json_or_text(record.get("output")),
        error,
        record.get("startTime") or "",
        call_id,
        id=str(record.get("id") or ""),
        parent=str(record.get("parentObservationId") or ""),
    )
