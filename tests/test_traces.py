"""Traces of OpenTelemetry, Langfuse and LangWatch as cases."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeval.case import Case
from jeval.imports import langfuse, langwatch, otel
from jeval.imports.draft import Draft, Options, Unfit
from jeval.imports.formats import FORMATS, detect, drafts
from tests import recorded

QUESTION, ANSWER = "Where is my parcel?", "At the depot."


def whole(draft: Any) -> Case:
    assert isinstance(draft, Draft), draft
    return Case.model_validate({**draft.body, "id": draft.settled_id("x")})


# OpenTelemetry


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP JSON writes it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(one) for one in value]}}
    return {"stringValue": value}


def span(name: str, order: int, attributes: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {
        "traceId": "a" * 32,
        "spanId": f"{order:016x}",
        "name": name,
        "startTimeUnixNano": str(1_000 + order),
        "attributes": [{"key": key, "value": typed(value)} for key, value in attributes.items()],
        **others,
    }


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def from_otel(*records: Any, **options: Any) -> list[Any]:
    placed = [(f"f:{number}", record) for number, record in enumerate(records, 1)]
    return [draft for _, draft in otel.read_all(placed, Options(**options))]


def read(format: str, *records: Any, **options: Any) -> list[Any]:
    placed = [(f"f:{number}", record) for number, record in enumerate(records, 1)]
    return [found for _, found in drafts(format, placed, Options(**options))]


GENAI = [
    span("invoke_agent", 1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "conv-1"}),
    span(
        "chat",
        2,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}]),
            "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}]),
            "gen_ai.output.messages": json.dumps(
                [
                    {
                        "role": "assistant",
                        "parts": [{"type": "tool_call", "id": "c1", "name": "track", "arguments": {"id": 7}}],
                    }
                ]
            ),
        },
        parentSpanId=f"{1:016x}",
    ),
    span(
        "execute_tool track",
        3,
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "track",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"id": 7}',
            "gen_ai.tool.call.result": '{"place": "depot"}',
        },
        parentSpanId=f"{1:016x}",
    ),
    span(
        "chat",
        4,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(
                [
                    {"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
                    {
                        "role": "assistant",
                        "parts": [{"type": "tool_call", "id": "c1", "name": "track", "arguments": {"id": 7}}],
                    },
                    {
                        "role": "tool",
                        "parts": [{"type": "tool_call_response", "id": "c1", "response": {"place": "depot"}}],
                    },
                ]
            ),
            "gen_ai.output.messages": json.dumps(
                [
                    {
                        "role": "assistant",
                        "parts": [{"type": "text", "content": ANSWER}],
                        "finish_reason": "stop",
                    }
                ]
            ),
        },
        parentSpanId=f"{1:016x}",
    ),
]


def test_genai_spans_of_one_trace_are_one_case() -> None:
    [draft] = from_otel(otlp(*GENAI))
    case = whole(draft)
    assert (case.id, case.input, case.output, case.policy) == ("a" * 32, QUESTION, ANSWER, "Be brief.")
    [event] = case.tool_events or ()
    assert (event.id, event.name, event.status) == ("c1", "track", "success")
    assert (event.input, event.output) == ({"id": 7}, {"place": "depot"})
    assert [(m.role, m.content) for m in case.messages or ()] == [("user", QUESTION), ("assistant", ANSWER)]
    assert case.metadata == {"gen_ai.conversation.id": "conv-1"}


def test_without_tool_spans_the_calls_in_the_messages_are_the_log() -> None:
    [draft] = from_otel(otlp(*(one for one in GENAI if "execute_tool" not in one["name"])))
    [event] = whole(draft).tool_events or ()
    assert (event.id, event.name, event.output) == ("c1", "track", {"place": "depot"})


def test_spans_of_a_trace_may_be_spread_over_lines_and_traces_mixed() -> None:
    other = {**GENAI[3], "traceId": "b" * 32}
    drafts = from_otel(*(otlp(one) for one in (GENAI[3], other, GENAI[0], GENAI[1])))
    assert [whole(draft).id for draft in drafts] == ["a" * 32, "b" * 32]


OPENINFERENCE = [
    {
        "context": {"trace_id": "0x" + "c" * 32, "span_id": "1"},
        "name": "agent",
        "parent_id": None,
        "start_time": "2026-03-01T10:00:00Z",
        "attributes": {
            "openinference.span.kind": "AGENT",
            "input.value": QUESTION,
            "output.value": ANSWER,
            "session.id": "s",
        },
    },
    {
        "context": {"trace_id": "0x" + "c" * 32, "span_id": "2"},
        "name": "search",
        "parent_id": "1",
        "start_time": "2026-03-01T10:00:01Z",
        "attributes": {
            "openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.content": "Parcels wait at the depot.",
            "retrieval.documents.0.document.id": "doc-1",
            "retrieval.documents.1.document.content": "Depots open at 8.",
        },
    },
    {
        "context": {"trace_id": "0x" + "c" * 32, "span_id": "3"},
        "name": "track",
        "parent_id": "1",
        "start_time": "2026-03-01T10:00:02Z",
        "status_code": "ERROR",
        "status_message": "timed out",
        "attributes": {
            "openinference": {"span": {"kind": "TOOL"}},
            "tool": {"name": "track", "parameters": '{"id": 7}'},
        },
    },
    {
        "context": {"trace_id": "0x" + "c" * 32, "span_id": "4"},
        "name": "llm",
        "parent_id": "1",
        "start_time": "2026-03-01T10:00:03Z",
        "attributes": {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Be brief.",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": QUESTION,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": ANSWER,
        },
    },
]


def test_openinference_spans_bring_passages_failures_and_messages() -> None:
    [draft] = from_otel(*OPENINFERENCE)
    case = whole(draft)
    assert (case.id, case.input, case.output, case.policy) == ("c" * 32, QUESTION, ANSWER, "Be brief.")
    assert [(p.content, p.source) for p in case.context or ()] == [
        ("Parcels wait at the depot.", "doc-1"),
        ("Depots open at 8.", None),
    ]
    [event] = case.tool_events or ()
    assert (event.name, event.status, event.error, event.input) == (
        "track",
        "failure",
        "timed out",
        {"id": 7},
    )
    assert case.metadata == {"session.id": "s"}


def test_messages_that_openinference_spreads_keep_their_tool_calls() -> None:
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": QUESTION,
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.tool_calls.0.tool_call.id": "c9",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "track",
        "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": "{}",
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.tool_call_id": "c9",
        "llm.input_messages.2.message.content": "depot",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": ANSWER,
    }
    [draft] = from_otel(otlp(span("llm", 1, attributes)))
    [event] = whole(draft).tool_events or ()
    assert (event.id, event.name, event.output) == ("c9", "track", "depot")


def test_a_trace_recorded_without_texts_says_what_to_do_about_it() -> None:
    [unfit] = from_otel(otlp(span("chat", 1, {"gen_ai.operation.name": "chat"})))
    assert isinstance(unfit, Unfit)
    assert unfit.field == "input" and "record inputs and outputs" in unfit.remedy


def test_a_record_that_holds_no_span_is_told() -> None:
    [unfit] = from_otel({"resourceLogs": []})
    assert isinstance(unfit, Unfit) and unfit.message == "holds no span"


# Langfuse

LANGFUSE = {
    "id": "trace-1",
    "name": "support",
    "input": QUESTION,
    "output": {"answer": ANSWER},
    "sessionId": "s-1",
    "tags": ["live"],
    "metadata": {"plan": "free"},
    "scores": [{"name": "thumbs", "value": 1}],
    "observations": [
        {
            "id": "o2",
            "type": "TOOL",
            "name": "track",
            "input": {"id": 7},
            "output": None,
            "level": "ERROR",
            "statusMessage": "timed out",
            "startTime": "2026-03-01T10:00:02Z",
        },
        {
            "id": "o1",
            "type": "RETRIEVER",
            "name": "search",
            "output": [{"page_content": "P", "source": "s"}],
            "startTime": "2026-03-01T10:00:01Z",
        },
        {
            "id": "o3",
            "type": "GENERATION",
            "name": "llm",
            "startTime": "2026-03-01T10:00:03Z",
            "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}],
            "output": {"role": "assistant", "content": ANSWER},
        },
    ],
}


def test_a_langfuse_trace_is_a_case() -> None:
    [draft] = read("langfuse", LANGFUSE)
    case = whole(draft)
    assert (case.id, case.input, case.output, case.policy) == ("trace-1", QUESTION, ANSWER, "Be brief.")
    assert [(p.content, p.source) for p in case.context or ()] == [("P", "s")]
    [event] = case.tool_events or ()
    assert (event.name, event.status, event.error, event.input) == (
        "track",
        "failure",
        "timed out",
        {"id": 7},
    )
    assert case.metadata == {
        "plan": "free",
        "name": "support",
        "sessionId": "s-1",
        "tags": ["live"],
        "scores": {"thumbs": 1},
    }


def test_a_langfuse_trace_without_texts_of_its_own_takes_those_of_its_last_generation() -> None:
    [draft] = read("langfuse", {**LANGFUSE, "input": None, "output": None})
    assert (whole(draft).input, whole(draft).output) == (QUESTION, ANSWER)


def test_a_page_and_a_download_of_langfuse_are_read_too() -> None:
    other = {**LANGFUSE, "id": "trace-2"}
    assert [d.body["id"] for d in read("langfuse", {"data": [LANGFUSE, other], "meta": {}})] == [
        "trace-1",
        "trace-2",
    ]
    download = {
        "trace": {k: v for k, v in LANGFUSE.items() if k != "observations"},
        "observations": LANGFUSE["observations"],
    }
    [draft] = read("langfuse", download)
    assert whole(draft).policy == "Be brief."


def test_an_object_as_input_is_kept_as_json_and_said_so() -> None:
    [draft] = read("langfuse", {**LANGFUSE, "input": {"city": "Ellmouth"}, "observations": []})
    assert draft.body["input"] == '{"city": "Ellmouth"}'
    assert "input is the JSON of an object, for no text stands in it" in draft.notes


def test_what_has_no_id_is_no_trace_of_langfuse() -> None:
    [unfit] = read("langfuse", {"observations": []})
    assert isinstance(unfit, Unfit) and unfit.message == "is missing"


# LangWatch

LANGWATCH = {
    "trace_id": "t-1",
    "input": {"value": QUESTION},
    "output": {"value": ANSWER},
    "metadata": {"user_id": "u"},
    "spans": [
        {
            "span_id": "1",
            "parent_id": None,
            "type": "agent",
            "name": "agent",
            "timestamps": {"started_at": 1},
        },
        {
            "span_id": "2",
            "parent_id": "1",
            "type": "rag",
            "name": "search",
            "timestamps": {"started_at": 2},
            "contexts": [{"document_id": "d-1", "chunk_id": "0", "content": "P"}],
        },
        {
            "span_id": "3",
            "parent_id": "1",
            "type": "tool",
            "name": "track",
            "timestamps": {"started_at": 3},
            "input": {"type": "json", "value": {"id": 7}},
            "output": {"type": "text", "value": "depot"},
        },
        {
            "span_id": "4",
            "parent_id": "1",
            "type": "llm",
            "name": "llm",
            "timestamps": {"started_at": 4},
            "input": {"type": "chat_messages", "value": [{"role": "user", "content": QUESTION}]},
            "output": {"type": "chat_messages", "value": [{"role": "assistant", "content": ANSWER}]},
        },
    ],
}


def test_a_langwatch_trace_is_a_case() -> None:
    [draft] = read("langwatch", LANGWATCH)
    case = whole(draft)
    assert (case.id, case.input, case.output) == ("t-1", QUESTION, ANSWER)
    assert [(p.content, p.source) for p in case.context or ()] == [("P", "d-1")]
    [event] = case.tool_events or ()
    assert (event.name, event.status, event.input, event.output) == ("track", "success", {"id": 7}, "depot")
    assert [(m.role, m.content) for m in case.messages or ()] == [("user", QUESTION), ("assistant", ANSWER)]
    assert case.metadata == {"user_id": "u"}


def test_a_langwatch_trace_without_texts_takes_those_of_its_model_call() -> None:
    [draft] = read("langwatch", {**LANGWATCH, "input": None, "output": None})
    assert (whole(draft).input, whole(draft).output) == (QUESTION, ANSWER)


def test_an_error_of_a_langwatch_span_is_a_failed_call() -> None:
    failing = {**LANGWATCH["spans"][2], "output": None, "error": {"has_error": True, "message": "timed out"}}  # type: ignore[index,dict-item]
    [draft] = read("langwatch", {**LANGWATCH, "spans": [failing]})
    [event] = whole(draft).tool_events or ()
    assert (event.status, event.error) == ("failure", "timed out")


def test_each_format_knows_its_own() -> None:
    assert otel.fits(otlp()) and otel.fits(OPENINFERENCE[0]) and not otel.fits(LANGFUSE)
    assert langfuse.fits(LANGFUSE) and langfuse.fits({"data": [LANGFUSE]}) and not langfuse.fits(LANGWATCH)
    assert langwatch.fits(LANGWATCH) and langwatch.fits({"traces": [LANGWATCH]}) and not langwatch.fits(LANGFUSE)


# Whatever stands in a file, a format makes a draft of it or says why not.

names = st.sampled_from(
    "id messages role content parts type text tool_calls function name arguments input output actual_output turns "
    "context retrieval_context tools_called observations data traces trace_id traceId spans attributes key value "
    "stringValue intValue resourceSpans scopeSpans choices message error status metadata answer question contexts "
    "gen_ai.input.messages gen_ai.operation.name openinference.span.kind retrieval.documents status code level "
    "system kwargs lc trace body logs events resourceLogs scopeLogs logRecords batches tags references operationName "
    "gen_ai.output.messages gen_ai.tool.call.result llm.input_messages ai.prompt ai.response.toolCalls all_messages "
    "traceloop.entity.input db.query.result functionCall functionResponse toolUse toolResult transcript span_id "
    "span_type parent_id parentObservationId scores evaluations timestamps".split()
)
leaves = st.sampled_from(
    [
        "user",
        "assistant",
        "system",
        "tool",
        "chat",
        "LLM",
        "TOOL",
        "RETRIEVER",
        "execute_tool",
        "human",
        "ai",
        "function_call",
        "GENERATION",
        "gen_ai.choice",
        "x",
        "",
        '{"a": 1}',
        "[1]",
        '[{"role": "user", "content": "x"}]',
        None,
        True,
        0,
        -1,
        2.5,
    ]
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5), max_leaves=25
)


@pytest.mark.parametrize("format", FORMATS)
@given(record=values)
def test_no_record_whatever_is_in_it_breaks_a_format(format: str, record: Any) -> None:
    for _, found in drafts(format, [("f:1", record)], Options()):
        assert isinstance(found, Draft | Unfit)
        if isinstance(found, Draft):
            found.settled_id(format)
            json.dumps(found.body)
    detect(record)


SOUND = {
    "chat": {
        "id": "c",
        "tools": [{"function": {"name": "track"}}],
        "response": {"choices": [{"message": {"role": "assistant"}}]},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "track", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "depot"},
            {"role": "assistant", "content": ANSWER, "function_call": {"name": "track", "arguments": "{}"}},
        ],
    },
    "deepeval": {
        "input": "a",
        "actualOutput": "b",
        "context": ["c"],
        "retrievalContext": [{"context": "d", "source": "s"}],
        "toolsCalled": [{"name": "t", "inputParameters": {}, "output": 1}],
        "metadata": {"k": 1},
        "name": "n",
        "turns": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": "y", "tools_called": [{"name": "t"}]},
        ],
    },
    "generic": {
        "input": "a",
        "output": "b",
        "context": [{"text": "c"}],
        "messages": [{"role": "user", "content": "x"}],
        "toolEvents": [{"id": "t1", "name": "x", "status": "success"}],
        "metadata": {},
    },
    "langfuse": {"data": [recorded.LANGFUSE_TRACE, *recorded.LANGFUSE_BUCKET, LANGFUSE]},
    "langwatch": {"traces": [recorded.LANGWATCH_API, *recorded.LANGWATCH_CSV, LANGWATCH]},
    "otel": [
        recorded.GENAI, *recorded.GENAI_LOGS, recorded.OPENLLMETRY, recorded.AI_SDK, recorded.PYDANTIC_AI,
        *recorded.PRINTED, recorded.JAEGER["data"][0],
    ],
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(inner, (*path, key))
    return found


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
def test_a_sound_record_with_something_else_in_one_place_breaks_no_format(format: str, data: Any) -> None:
    record = copy.deepcopy(SOUND[format])
    for _ in range(data.draw(st.integers(1, 2))):
        *path, last = data.draw(st.sampled_from(places(record)))
        place: Any = record
        for key in path:
            place = place[key]
        place[last] = data.draw(values)
    for _, found in drafts(format, [("f:1", record)], Options()):
        assert isinstance(found, Draft | Unfit)
        if isinstance(found, Draft):
            found.settled_id(format)
            json.dumps(found.body)
    detect(record)
