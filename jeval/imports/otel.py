"""OpenTelemetry spans as OTLP JSON, with GenAI or OpenInference attributes: every trace one case.

Spans of a trace may be spread over a file, so all are read before the first case is made. Inputs and outputs
are opt-in with most instrumentations: a trace recorded without them holds nothing to evaluate.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from jeval.imports.draft import Draft, Options, Unfit, json_or_text
from jeval.imports.trace import Span, Trace, case_of
from jeval.imports.transcript import message_list

__all__ = ["fits", "read_all"]

_OPENINFERENCE = {"LLM": "llm", "TOOL": "tool", "RETRIEVER": "retriever", "RERANKER": "retriever"}
_GENAI = {
    "chat": "llm", "text_completion": "llm", "generate_content": "llm", "execute_tool": "tool",
    "retrieval": "retriever",
}  # fmt: skip
_KEPT = "gen_ai.conversation.id session.id user.id gen_ai.agent.name gen_ai.request.model llm.model_name".split()


def fits(record: Any) -> bool:
    """Whether a record looks like OTLP JSON, or like one span."""
    if not isinstance(record, dict):
        return False
    if "resourceSpans" in record or "resource_spans" in record:
        return True
    return bool({"traceId", "trace_id"} & set(record) or "context" in record) and "attributes" in record


def read_all(records: Iterable[tuple[str, Any]], options: Options) -> Iterator[tuple[str, Draft | Unfit]]:
    """The cases of all traces, each with the place of its first span, in the order of their first spans."""
    traces: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for place, record in records:
        spans = list(_spans(record))
        if not spans:
            yield (
                place,
                Unfit("", "holds no span", "export OTLP JSON, with resourceSpans, or one span a line"),
            )
        for span in spans:
            traces.setdefault(_identity(span), (place, []))[1].append(span)
    for trace_id, (place, spans) in traces.items():
        try:
            yield place, case_of(_trace(trace_id, spans), options)
        except Unfit as unfit:
            yield place, unfit


def _spans(record: Any) -> Iterator[dict[str, Any]]:
    if isinstance(record, list):
        for item in record:
            yield from _spans(item)
    elif isinstance(record, dict):
        inner = [
            record[name]
            for name in ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans")
            if isinstance(record.get(name), list)
        ]
        if inner:
            for items in inner:
                yield from _spans(items)
        elif "attributes" in record and _identity(record):
            yield {**record, "attributes": _attributes(record["attributes"])}


def _identity(span: dict[str, Any]) -> str:
    context = span.get("context")
    nested = context.get("trace_id") or context.get("traceId") if isinstance(context, dict) else None
    return str(span.get("traceId") or span.get("trace_id") or nested or "").removeprefix("0x")


def _attributes(value: Any) -> dict[str, Any]:
    """Attributes by name; OTLP writes them as a list of typed values, other exports as an object."""
    if isinstance(value, list):
        return _pairs(value)
    return _flat(value) if isinstance(value, dict) else {}


def _pairs(values: Any) -> dict[str, Any]:
    pairs = values if isinstance(values, list) else []
    named = (one for one in pairs if isinstance(one, dict) and isinstance(one.get("key"), str))
    return {one["key"]: _typed(one.get("value")) for one in named}


def _typed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("arrayValue"), dict):
        items = value["arrayValue"].get("values")
        return [_typed(one) for one in items] if isinstance(items, list) else []
    if isinstance(value.get("kvlistValue"), dict):
        return _pairs(value["kvlistValue"].get("values"))
    if isinstance(value.get("intValue"), str | int):
        text = str(value["intValue"])
        return int(text) if text.lstrip("-").isdecimal() else text
    return next((value[name] for name in ("stringValue", "boolValue", "doubleValue") if name in value), None)


def _flat(value: dict[str, Any], head: str = "") -> dict[str, Any]:
    """Nested attributes under dotted names, lists of messages and documents left whole."""
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{head}{key}"
        found.update(_flat(inner, f"{name}.") if isinstance(inner, dict) else {name: inner})
    return found


def _trace(trace_id: str, spans: list[dict[str, Any]]) -> Trace:
    trace = Trace(trace_id, spans=[_span(span) for span in spans])
    known = {str(span.get("spanId") or span.get("span_id")) for span in spans}
    for span in spans:
        attributes = span["attributes"]
        trace.metadata.update({key: attributes[key] for key in _KEPT if key in attributes})
        parent = span.get("parentSpanId") or span.get("parent_span_id") or span.get("parent_id")
        if not parent or str(parent) not in known:
            given, said = _in_and_out(attributes)
            trace.input = given if trace.input is None else trace.input
            trace.output = said if trace.output is None else trace.output
    return trace


def _span(span: dict[str, Any]) -> Span:
    attributes = span["attributes"]
    kind: Any = _OPENINFERENCE.get(str(attributes.get("openinference.span.kind", "")).upper())
    kind = kind or _GENAI.get(str(attributes.get("gen_ai.operation.name", "")), "other")
    given, said = _in_and_out(attributes)
    name = str(span.get("name") or "unnamed")
    if kind == "tool":
        name = str(attributes.get("gen_ai.tool.name") or attributes.get("tool.name") or name)
        given = attributes.get("gen_ai.tool.call.arguments", attributes.get("tool.parameters", given))
        said = attributes.get("gen_ai.tool.call.result", said)
    return Span(
        kind,
        name,
        given,
        said,
        _error(span, attributes),
        span.get("startTimeUnixNano") or span.get("start_time") or span.get("startTime") or 0,
        attributes.get("gen_ai.tool.call.id") or attributes.get("tool.id"),
        _instructions(attributes.get("gen_ai.system_instructions")),
        _documents(attributes) if kind == "retriever" else [],
    )


def _in_and_out(attributes: dict[str, Any]) -> tuple[Any, Any]:
    found = []
    for side in ("input", "output"):
        genai = json_or_text(attributes.get(f"gen_ai.{side}.messages"))
        listed = _listed(attributes, f"llm.{side}_messages", "message")
        messages = genai if message_list(genai) else listed
        found.append(messages or attributes.get(f"{side}.value"))
    return found[0], found[1]


def _listed(attributes: dict[str, Any], name: str, item: str) -> list[dict[str, Any]]:
    """A list that OpenInference spreads over attributes named `name.0.item.key`, nested lists included."""
    given = attributes.get(name)
    if isinstance(given, list):
        return [_unwrapped(one, item) for one in given if isinstance(one, dict)]
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(f"{name}."):
            number, _, rest = key.removeprefix(f"{name}.").partition(".")
            if number.isdigit() and rest.startswith(f"{item}."):
                found.setdefault(int(number), {})[rest.removeprefix(f"{item}.")] = value
    return [_message(found[number]) for number in sorted(found)]


def _unwrapped(one: dict[str, Any], item: str) -> dict[str, Any]:
    flat = _flat(one)
    return _message({key.removeprefix(f"{item}."): value for key, value in flat.items()})


def _message(flat: dict[str, Any]) -> dict[str, Any]:
    calls = _listed(flat, "tool_calls", "tool_call")
    if calls:
        flat = {key: value for key, value in flat.items() if not key.startswith("tool_calls")}
        flat["tool_calls"] = [
            {
                "id": call.get("id"),
                "name": call.get("function.name"),
                "arguments": call.get("function.arguments"),
            }
            for call in calls
        ]
    return flat


def _documents(attributes: dict[str, Any]) -> list[Any]:
    genai = json_or_text(attributes.get("gen_ai.retrieval.documents"))
    return genai if isinstance(genai, list) else _listed(attributes, "retrieval.documents", "document")


def _instructions(value: Any) -> str | None:
    value = json_or_text(value)
    if isinstance(value, list):
        texts = [part.get("content") for part in value if isinstance(part, dict)]
        return "\n\n".join(text for text in texts if isinstance(text, str)) or None
    return value if isinstance(value, str) and value else None


def _error(span: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """What went wrong, by the span's status; OTLP's code for an error is 2."""
    status = span.get("status")
    code = status.get("code") if isinstance(status, dict) else span.get("status_code")
    if code in (2, "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR"):
        message = status.get("message") or status.get("description") if isinstance(status, dict) else None
        return message or span.get("status_message") or attributes.get("error.type") or "error"
    return None
