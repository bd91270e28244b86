"""Langfuse's exports: traces with their observations, as its API and its download button give them.

A trace is one case. Lists may stand under `data` or `traces`, as pages of the API have them.
"""

from collections.abc import Iterator
from typing import Any

from jeval.imports.draft import Draft, Options, Unfit, objects_in
from jeval.imports.trace import Span, Trace, case_of

__all__ = ["fits", "read"]

_KINDS = {"GENERATION": "llm", "TOOL": "tool", "RETRIEVER": "retriever"}
_KEPT = "name sessionId userId tags version release environment bookmarked totalCost latency timestamp".split()


def fits(record: Any) -> bool:
    """Whether a record looks like a trace of Langfuse, or like a page of them."""
    if not isinstance(record, dict):
        return False
    for name in ("data", "traces"):
        items = record.get(name)
        if isinstance(items, list):
            return bool(items) and fits(items[0])
    return isinstance(record.get("observations"), list) or {"id", "sessionId", "userId"} <= set(record)


def read(record: Any, options: Options) -> Iterator[Draft]:
    """The cases in a record. Raises Unfit."""
    if not isinstance(record, dict):
        raise Unfit("", "is not an object", "export whole traces as JSON", record)
    for name in ("data", "traces"):
        if isinstance(record.get(name), list):
            for item in record[name]:
                yield from read(item, options)
            return
    if isinstance(record.get("trace"), dict):  # the download of one trace
        record = {
            **record["trace"],
            **{key: record[key] for key in ("observations", "scores") if key in record},
        }
    if not isinstance(record.get("id"), str):
        raise Unfit("id", "is missing", "export whole traces, not single observations", record.get("id"))
    yield case_of(_trace(record), options)


def _trace(record: dict[str, Any]) -> Trace:
    own = record.get("metadata")
    metadata = dict(own) if isinstance(own, dict) else {} if own in (None, "") else {"metadata": own}
    metadata.update({key: record[key] for key in _KEPT if record.get(key) not in (None, [], "", False)})
    scores = {
        score["name"]: score.get("value", score.get("stringValue"))
        for score in objects_in(record.get("scores"))
        if isinstance(score.get("name"), str)
    }
    if scores:
        metadata["scores"] = scores
    observations = objects_in(record.get("observations"))
    return Trace(
        record["id"],
        record.get("input"),
        record.get("output"),
        metadata,
        [_span(one) for one in observations],
    )


def _span(record: dict[str, Any]) -> Span:
    kind: Any = _KINDS.get(str(record.get("type")).upper(), "other")
    error = None
    if record.get("level") == "ERROR":
        error = record.get("statusMessage") or "error"
    return Span(
        kind,
        str(record.get("name") or "unnamed"),
        record.get("input"),
        record.get("output"),
        error,
        record.get("startTime") or "",
    )
