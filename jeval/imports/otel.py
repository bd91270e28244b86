"""OpenTelemetry spans, however they were written down: every trace one case.

Known are OTLP JSON (a collector's file exporter, Tempo's `batches`), log records of GenAI events beside it, the
spans that SDKs print, those of Phoenix, and Jaeger's. Spans of a trace may be spread over a file, so all are read
before the first case is made. Inputs and outputs are opt-in with most instrumentations: a trace recorded without
them holds nothing to evaluate.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jeval.imports.attributes import attributes_of
from jeval.imports.conventions import given_and_said, instructions_in, kind_of, passages_in, tool_of
from jeval.imports.draft import Draft, Options, Unfit, json_or_text, objects_in
from jeval.imports.trace import Span, Trace, case_of

__all__ = ["fits", "read_all"]

_LISTS = (
    "resourceSpans", "resource_spans", "batches", "scopeSpans", "scope_spans", "instrumentationLibrarySpans",
    "spans", "resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "logRecords", "log_records",
)  # fmt: skip
_EXPORTS = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_KEPT = (
    "gen_ai.conversation.id", "session.id", "langfuse.session.id", "user.id", "langfuse.user.id",
    "gen_ai.agent.name", "gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id",
    "tag.tags", "langfuse.trace.tags", "metadata", "service.name",
)  # fmt: skip
_KEPT_BELOW = ("traceloop.association.properties.", "ai.telemetry.metadata.", "langfuse.trace.metadata.")


@dataclass
class _Raw:
    """A span with its parts found, whatever they are called."""

    trace: str
    id: str
    parent: str
    name: str
    started: Any
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    error: Any = None
    fine: bool = False
    told: Any = None


def fits(record: Any) -> bool:
    """Whether a record looks like OTLP JSON, like a trace of Jaeger, or like one span."""
    if not isinstance(record, dict):
        return False
    if any(isinstance(record.get(name), list) for name in _EXPORTS):
        return True
    if isinstance(record.get("trace"), dict) and fits(record["trace"]):
        return True
    if isinstance(record.get("spans"), list) and record["spans"] and isinstance(record["spans"][0], dict):
        return bool(_identity(record["spans"][0])) and ("attributes" in record["spans"][0] or "traceID" in record)
    return bool(_identity(record)) and "attributes" in record


def read_all(records: Iterable[tuple[str, Any]], options: Options) -> Iterator[tuple[str, Draft | Unfit]]:
    """The cases of all traces, each with the place of its first span, in the order of their first spans."""
    traces: dict[str, tuple[str, dict[str, _Raw]]] = {}
    for place, record in records:
        spans = list(_spans(record, {}))
        if not spans:
            yield (
                place,
                Unfit("", "holds no span", "export OTLP JSON, with resourceSpans, or one span a line"),
            )
        for raw in spans:
            found = traces.setdefault(raw.trace, (place, {}))[1]
            key = raw.id or f"span {len(found)}"
            if key in found:  # a log record of the span, or the span after its log records
                found[key] = _joined(found[key], raw)
            else:
                found[key] = raw
    for trace_id, (place, raws) in traces.items():
        try:
            yield place, case_of(_trace(trace_id, list(raws.values())), options)
        except Unfit as unfit:
            yield place, unfit


def _joined(one: _Raw, other: _Raw) -> _Raw:
    """A span and what else was said of it: the name and the attributes are the span's."""
    span, log = (other, one) if one.name == "" else (one, other)
    span.events = [*one.events, *other.events]
    span.attributes = {**log.attributes, **span.attributes}
    return span


def _spans(record: Any, resource: dict[str, Any]) -> Iterator[_Raw]:
    if isinstance(record, list):
        for item in record:
            yield from _spans(item, resource)
    elif isinstance(record, dict):
        if isinstance(record.get("resource"), dict):
            resource = attributes_of(record["resource"].get("attributes"))
        inner = [record[name] for name in _LISTS if isinstance(record.get(name), list)]
        if isinstance(record.get("trace"), dict):
            inner.append([record["trace"]])
        if inner:
            for items in inner:
                yield from _spans(items, resource)
        elif trace := _identity(record):
            yield _raw(record, trace, resource)


def _identity(span: dict[str, Any]) -> str:
    return _id(span, "traceId", "trace_id", "traceID")


def _id(span: dict[str, Any], *names: str) -> str:
    """An id of a span, which stands in it or in its context."""
    context = span.get("context", span.get("spanContext"))
    places = (span, context if isinstance(context, dict) else {})
    found = next((place[name] for place in places for name in names if place.get(name)), "")
    return str(found).removeprefix("0x")


def _raw(span: dict[str, Any], trace: str, resource: dict[str, Any]) -> _Raw:
    attributes = attributes_of(span.get("attributes", span.get("tags")))
    if "service.name" in resource:
        attributes.setdefault("service.name", resource["service.name"])
    events = [_event(one) for one in objects_in(span.get("events")) + objects_in(span.get("logs"))]
    started = _first(span, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "timeUnixNano")
    raw = _Raw(
        trace,
        _id(span, "spanId", "span_id", "spanID"),
        _parent(span),
        str(_first(span, "name", "operationName") or ""),
        started or 0,
        attributes,
        events,
        told=span.get("span_kind"),
    )
    if "body" in span:  # a log record
        raw.name, raw.events, raw.attributes = "", [_event({**span, "attributes": attributes})], {}
        return raw
    code = _code(span, attributes)
    raw.fine = code in ("1", "OK", "STATUS_CODE_OK")
    if code in ("2", "ERROR", "STATUS_CODE_ERROR"):
        raw.error = _error(span, attributes, events)
    return raw


def _parent(span: dict[str, Any]) -> str:
    above = _first(span, "parentSpanId", "parent_span_id", "parent_id", "parentId")
    for reference in objects_in(span.get("references")):  # Jaeger's
        if above is None and reference.get("refType") == "CHILD_OF":
            above = reference.get("spanID")
    return str(above or "").removeprefix("0x")


def _event(event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """An event's name and attributes; those of a log record stand in its body."""
    attributes = attributes_of(event.get("attributes", event.get("fields")))
    body = event.get("body")
    if body is not None:
        inner = attributes_of([{"key": "body", "value": body}]).get("body")
        attributes |= inner if isinstance(inner, dict) else {"content": inner}
    name = _first(event, "name", "eventName", "event_name") or _first(attributes, "event.name", "event")
    return str(name or ""), attributes


def _code(span: dict[str, Any], attributes: dict[str, Any]) -> str:
    """The status of a span: 1 and OK are fine, 2 and ERROR are not, everything else says nothing."""
    status = span.get("status")
    code = _first(status, "code", "status_code", "statusCode") if isinstance(status, dict) else status
    code = code if code is not None else span.get("status_code", attributes.get("otel.status_code"))
    if code is None and attributes.get("error") in (True, "true"):
        return "ERROR"
    return str(code).upper().removeprefix("STATUSCODE.")


def _error(span: dict[str, Any], attributes: dict[str, Any], events: Iterable[tuple[str, dict[str, Any]]]) -> Any:
    """What went wrong, in the words of the status, of an exception, or of an attribute."""
    status = span.get("status")
    said = _first(status, "message", "description", "status_message") if isinstance(status, dict) else None
    thrown = (values.get("exception.message") for name, values in events if name == "exception")
    kinds = (attributes.get(key) for key in ("otel.status_description", "error.message", "error.type"))
    return said or span.get("status_message") or next(filter(None, (*thrown, *kinds)), None) or "error"


def _trace(trace_id: str, raws: list[_Raw]) -> Trace:
    trace = Trace(trace_id, spans=[_span(raw) for raw in raws])
    for raw in raws:
        for key, value in raw.attributes.items():
            if (key in _KEPT or key.startswith(_KEPT_BELOW)) and value not in (None, "", []):
                trace.metadata.setdefault(key, json_or_text(value))
        trace.input = trace.input or raw.attributes.get("langfuse.trace.input")
        trace.output = trace.output or raw.attributes.get("langfuse.trace.output")
    return trace


def _span(raw: _Raw) -> Span:
    attributes, events = raw.attributes, raw.events
    kind = kind_of(attributes, raw.told)
    if kind == "other" and any(name.startswith("gen_ai.") for name, _ in events):
        kind = "llm"  # who asks a model says so in events, whatever the span is
    given, said = given_and_said(attributes, events)
    name, call_id = raw.name or "unnamed", None
    if kind == "tool":
        name, given, said, call_id = tool_of(attributes, name, given, said)
    return Span(
        kind,
        name,
        given,
        said,
        raw.error,
        raw.started,
        call_id,
        instructions_in(attributes, events),
        passages_in(attributes, events),
        raw.id,
        raw.parent,
        raw.fine,
    )


def _first(values: dict[str, Any], *names: str) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)
