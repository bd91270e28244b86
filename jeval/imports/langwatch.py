"""LangWatch's traces: `trace_id`, `spans` with typed inputs and outputs, passages in spans of type rag."""

from collections.abc import Iterator
from typing import Any

from jeval.imports.draft import Draft, Options, Unfit, objects_in
from jeval.imports.trace import Span, Trace, case_of

__all__ = ["fits", "read"]

_KINDS = {"llm": "llm", "tool": "tool", "rag": "retriever"}


def fits(record: Any) -> bool:
    """Whether a record looks like a trace of LangWatch, or like a page of them."""
    if not isinstance(record, dict):
        return False
    if isinstance(record.get("traces"), list) and record["traces"]:
        return fits(record["traces"][0])
    return "trace_id" in record and ("spans" in record or isinstance(record.get("input"), dict))


def read(record: Any, options: Options) -> Iterator[Draft]:
    """The cases in a record. Raises Unfit."""
    if not isinstance(record, dict):
        raise Unfit("", "is not an object", "export whole traces as JSON", record)
    if isinstance(record.get("traces"), list):
        for item in record["traces"]:
            yield from read(item, options)
        return
    if not isinstance(record.get("trace_id"), str):
        raise Unfit("trace_id", "is missing", "export whole traces, not single spans", record.get("trace_id"))
    spans = [_span(span) for span in objects_in(record.get("spans"))]
    roots = [span for span in objects_in(record.get("spans")) if not span.get("parent_id")]
    given, said = _value(record.get("input")), _value(record.get("output"))
    if len(roots) == 1 and roots[0].get("type") not in ("llm", "tool", "rag"):
        given = _value(roots[0].get("input")) if given is None else given
        said = _value(roots[0].get("output")) if said is None else said
    own = record.get("metadata")
    metadata = dict(own) if isinstance(own, dict) else {}
    metadata.update({key: record[key] for key in ("expected_output", "timestamps") if record.get(key)})
    yield case_of(Trace(record["trace_id"], given, said, metadata, spans), options)


def _value(typed: Any) -> Any:
    """The value in `{"type": …, "value": …}`, or the thing itself."""
    return typed["value"] if isinstance(typed, dict) and "value" in typed else typed


def _span(record: dict[str, Any]) -> Span:
    kind: Any = _KINDS.get(str(record.get("type")), "other")
    problem = record.get("error")
    if isinstance(problem, dict):
        problem = problem.get("message") or ("error" if problem.get("has_error") else None)
    timestamps = record.get("timestamps")
    started = timestamps.get("started_at") if isinstance(timestamps, dict) else None
    contexts = record.get("contexts")
    return Span(
        kind,
        str(record.get("name") or "unnamed"),
        _value(record.get("input")),
        _value(record.get("output")),
        problem or None,
        started or 0,
        passages=contexts if isinstance(contexts, list) else [],
    )
