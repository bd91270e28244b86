"""Traces as the recorders of this field write them: one story, told in each of their shapes.

The user asks where a parcel is; a passage is looked up, a tool is called twice and fails the first time, and the
assistant answers. Every sample is written for these tests.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

QUESTION, ANSWER, POLICY = "Where is my parcel 7?", "It waits at the depot.", "Be brief."
PASSAGE, PROBLEM, RESULT = "Parcels wait at the depot for a week.", "timed out", {"place": "depot"}
CALLS = [
    {"id": "c1", "name": "track", "arguments": {"id": 7}},
    {"id": "c2", "name": "track", "arguments": {"id": 7}},
]
TRACE = "5b8efff798038103d269b633813fc60c"


def dumped(value: Any) -> str:
    return json.dumps(value)


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP JSON writes it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": typed(value)} for key, value in values.items()]


def span(
    number: int,
    name: str,
    attributes: Mapping[str, Any],
    *,
    parent: int = 0,
    events: Sequence[tuple[str, Mapping[str, Any]]] = (),
    failed: str | None = None,
    trace: str = TRACE,
) -> dict[str, Any]:
    """A span of OTLP JSON, as a collector's file exporter writes it."""
    start = 1_767_225_600_000_000_000 + number * 1_000_000
    thrown = [("exception", {"exception.type": "TimeoutError", "exception.message": failed})] if failed else []
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "flags": 256,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 900_000),
        "attributes": pairs(attributes),
        "events": [
            {"timeUnixNano": str(start + 1), "name": event, "attributes": pairs(values)}
            for event, values in (*events, *thrown)
        ],
        "status": {"code": 2} if failed else {},
    }


def otlp(*spans: Mapping[str, Any], service: str = "parcels") -> dict[str, Any]:
    """One export of a collector."""
    scope = {"scope": {"name": "tracer", "version": "1.0"}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": pairs({"service.name": service})}, "scopeSpans": [scope]}]}


# GenAI conventions, as they are


def part_call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "tool_call", **call}


GENAI_CONVERSATION = [
    {"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
    {"role": "assistant", "parts": [{"type": "reasoning", "content": "Better look."}, part_call(CALLS[0])]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": f"Error: {PROBLEM}"}]},
    {"role": "assistant", "parts": [part_call(CALLS[1])]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": RESULT}]},
]
GENAI_ANSWER = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}]


def genai_tool(number: int, call: Mapping[str, Any], *, failed: str | None = None) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call["name"],
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call["id"],
        "gen_ai.tool.call.arguments": dumped(call["arguments"]),
        **({"error.type": "TimeoutError"} if failed else {"gen_ai.tool.call.result": dumped(RESULT)}),
    }
    return span(number, f"execute_tool {call['name']}", attributes, parent=1, failed=failed)


GENAI = otlp(
    span(
        1,
        "invoke_agent helper",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "helper",
            "gen_ai.conversation.id": "conv-1",
            "gen_ai.system_instructions": dumped([{"type": "text", "content": POLICY}]),
            "gen_ai.input.messages": dumped(GENAI_CONVERSATION[:1]),
            "gen_ai.output.messages": dumped(GENAI_ANSWER),
        },
    ),
    span(
        2,
        "retrieval house-rules",
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": QUESTION,
            "gen_ai.retrieval.documents": dumped([{"id": "doc-1", "score": 0.9, "content": PASSAGE}]),
        },
        parent=1,
    ),
    genai_tool(4, CALLS[0], failed=PROBLEM),
    genai_tool(5, CALLS[1]),
    span(
        6,
        "chat gpt-9",
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-9",
            "gen_ai.input.messages": dumped(GENAI_CONVERSATION),
            "gen_ai.output.messages": dumped(GENAI_ANSWER),
            "gen_ai.usage.input_tokens": 120,
        },
        parent=1,
    ),
)

# … as they were: a message an event of the span, or of the log

_OLD_EVENTS = [
    ("gen_ai.system.message", {"gen_ai.system": "openai", "content": POLICY}),
    ("gen_ai.user.message", {"gen_ai.system": "openai", "content": QUESTION}),
    (
        "gen_ai.assistant.message",
        {
            "gen_ai.system": "openai",
            "tool_calls": dumped(
                [{"id": "c2", "type": "function", "function": {"name": "track", "arguments": '{"id": 7}'}}]
            ),
        },
    ),
    ("gen_ai.tool.message", {"gen_ai.system": "openai", "content": dumped(RESULT), "id": "c2"}),
    (
        "gen_ai.choice",
        {"index": 0, "finish_reason": "stop", "message": dumped({"role": "assistant", "content": ANSWER})},
    ),
]
GENAI_EVENTS = otlp(span(1, "chat gpt-9", {"gen_ai.operation.name": "chat"}, events=_OLD_EVENTS))


def log_record(name: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "timeUnixNano": "1767225600000000002",
        "severityNumber": 9,
        "body": typed(dict(body)),
        "attributes": pairs({"gen_ai.system": "openai", "event.name": name}),
        "traceId": TRACE,
        "spanId": f"{1:016x}",
    }


GENAI_LOGS = [
    otlp(span(1, "chat gpt-9", {"gen_ai.operation.name": "chat"})),
    {
        "resourceLogs": [
            {
                "resource": {},
                "scopeLogs": [
                    {
                        "scope": {},
                        "logRecords": [
                            log_record("gen_ai.system.message", {"content": POLICY}),
                            log_record("gen_ai.user.message", {"content": QUESTION}),
                            log_record(
                                "gen_ai.choice",
                                {"index": 0, "message": {"role": "assistant", "content": ANSWER}},
                            ),
                        ],
                    }
                ],
            }
        ]
    },
]

# OpenInference: as spans that an SDK prints, as Phoenix gives them, as Jaeger does


def _openinference(kind: str, **more: Any) -> dict[str, Any]:
    return {"openinference.span.kind": kind, **more}


OPENINFERENCE: list[tuple[int, int, str, dict[str, Any], str | None]] = [
    (
        1,
        0,
        "AgentWorkflow.run",
        _openinference(
            "AGENT",
            **{
                "input.value": QUESTION,
                "output.value": ANSWER,
                "session.id": "s-1",
                "metadata": dumped({"plan": "free"}),
            },
        ),
        None,
    ),
    (
        2,
        1,
        "VectorStore.retrieve",
        _openinference(
            "RETRIEVER",
            **{
                "input.value": QUESTION,
                "retrieval.documents.0.document.id": "doc-1",
                "retrieval.documents.0.document.content": PASSAGE,
                "retrieval.documents.0.document.score": 0.8,
                "retrieval.documents.0.document.metadata": dumped({"title": "House rules"}),
            },
        ),
        None,
    ),
    (
        3,
        1,
        "track",
        _openinference(
            "TOOL",
            **{
                "tool.name": "track",
                "tool.parameters": dumped({"type": "object", "properties": {"id": {"type": "integer"}}}),
                "tool_call.id": "c1",
                "input.value": dumped({"id": 7}),
                "input.mime_type": "application/json",
            },
        ),
        PROBLEM,
    ),
    (
        4,
        1,
        "track",
        _openinference(
            "TOOL",
            **{
                "tool.name": "track",
                "tool_call.id": "c2",
                "input.value": dumped({"id": 7}),
                "output.value": dumped(RESULT),
            },
        ),
        None,
    ),
    (
        5,
        1,
        "ChatCompletion",
        _openinference(
            "LLM",
            **{
                "llm.model_name": "gpt-9",
                "llm.input_messages.0.message.role": "system",
                "llm.input_messages.0.message.content": POLICY,
                "llm.input_messages.1.message.role": "user",
                "llm.input_messages.1.message.contents.0.message_content.type": "text",
                "llm.input_messages.1.message.contents.0.message_content.text": QUESTION,
                "llm.input_messages.2.message.role": "assistant",
                "llm.input_messages.2.message.tool_calls.0.tool_call.id": "c2",
                "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "track",
                "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"id": 7}',
                "llm.input_messages.3.message.role": "tool",
                "llm.input_messages.3.message.tool_call_id": "c2",
                "llm.input_messages.3.message.content": dumped(RESULT),
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": ANSWER,
                "llm.token_count.prompt": 120,
            },
        ),
        None,
    ),
]


def printed(number: int, parent: int, name: str, attributes: Mapping[str, Any], failed: str | None) -> dict[str, Any]:
    """A span as OpenTelemetry's SDK for Python prints it."""
    thrown = {"name": "exception", "timestamp": "2026-01-01T00:00:00Z", "attributes": {"exception.message": failed}}
    return {
        "name": name,
        "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{number:016x}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": f"0x{parent:016x}" if parent else None,
        "start_time": f"2026-01-01T00:00:0{number}.000000Z",
        "end_time": f"2026-01-01T00:00:0{number}.900000Z",
        "status": {"status_code": "ERROR", "description": f"TimeoutError: {failed}"}
        if failed
        else {"status_code": "OK"},
        "attributes": dict(attributes),
        "events": [thrown] if failed else [],
        "links": [],
        "resource": {"attributes": {"service.name": "parcels"}, "schema_url": ""},
    }


def phoenix(number: int, parent: int, name: str, attributes: Mapping[str, Any], failed: str | None) -> dict[str, Any]:
    """A span as Phoenix's API gives it."""
    return {
        "id": f"span-{number}",
        "name": name,
        "context": {"trace_id": TRACE, "span_id": f"{number:016x}"},
        "span_kind": attributes["openinference.span.kind"],
        "parent_id": f"{parent:016x}" if parent else None,
        "start_time": f"2026-01-01T00:00:0{number}.000000+00:00",
        "end_time": f"2026-01-01T00:00:0{number}.900000+00:00",
        "status_code": "ERROR" if failed else "OK",
        "status_message": failed or "",
        "attributes": {key: value for key, value in attributes.items() if key != "openinference.span.kind"},
        "events": [],
    }


def jaeger(number: int, parent: int, name: str, attributes: Mapping[str, Any], failed: str | None) -> dict[str, Any]:
    """A span as Jaeger's interface downloads it."""
    status = {"otel.status_code": "ERROR", "error": True, "otel.status_description": failed} if failed else {}
    return {
        "traceID": TRACE,
        "spanID": f"{number:016x}",
        "operationName": name,
        "references": [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": f"{parent:016x}"}] if parent else [],
        "startTime": 1_767_225_600_000_000 + number,
        "duration": 900,
        "tags": [{"key": k, "type": "string", "value": v} for k, v in {**attributes, **status}.items()],
        "logs": [],
        "processID": "p1",
    }


PRINTED = [printed(*one) for one in OPENINFERENCE]
PHOENIX = {"data": [phoenix(*one) for one in OPENINFERENCE], "next_cursor": None}
JAEGER = {
    "data": [{"traceID": TRACE, "spans": [jaeger(*one) for one in OPENINFERENCE], "processes": {"p1": {}}}],
    "total": 0,
}
TEMPO = {"batches": GENAI["resourceSpans"]}

# OpenLLMetry


OPENLLMETRY = otlp(
    span(
        1,
        "parcels.workflow",
        {
            "traceloop.span.kind": "workflow",
            "traceloop.entity.name": "parcels",
            "traceloop.association.properties.user_id": "u-1",
            "traceloop.entity.input": dumped({"args": [QUESTION], "kwargs": {}}),
            "traceloop.entity.output": dumped(ANSWER),
        },
    ),
    span(
        2,
        "chroma.query",
        {"db.system": "chroma", "db.vector.query.top_k": 1},
        parent=1,
        events=[("db.query.result", {"db.query.result.id": "doc-1", "db.query.result.document": PASSAGE})],
    ),
    span(
        3,
        "track.tool",
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "track",
            "traceloop.entity.input": dumped({"args": [], "kwargs": {"id": 7}}),
        },
        parent=1,
        failed=PROBLEM,
    ),
    span(
        4,
        "track.tool",
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "track",
            "traceloop.entity.input": dumped(
                {"input_str": "{'id': 7}", "inputs": {"id": 7}, "tags": [], "metadata": {}}
            ),
            "traceloop.entity.output": dumped({"output": dumped(RESULT), "kwargs": {"tags": []}}),
        },
        parent=1,
    ),
    span(
        5,
        "openai.chat",
        {
            "llm.request.type": "chat",
            "gen_ai.system": "OpenAI",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": POLICY,
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": dumped([{"type": "text", "text": QUESTION}]),
            "gen_ai.prompt.2.role": "assistant",
            "gen_ai.prompt.2.tool_calls.0.id": "c2",
            "gen_ai.prompt.2.tool_calls.0.name": "track",
            "gen_ai.prompt.2.tool_calls.0.arguments": '{"id": 7}',
            "gen_ai.prompt.3.role": "tool",
            "gen_ai.prompt.3.tool_call_id": "c2",
            "gen_ai.prompt.3.content": dumped(RESULT),
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": ANSWER,
            "gen_ai.completion.0.finish_reason": "stop",
        },
        parent=1,
    ),
)

# The AI SDK of Vercel, and Pydantic AI


AI_SDK = otlp(
    span(
        1,
        "ai.generateText",
        {
            "ai.operationId": "ai.generateText",
            "ai.telemetry.metadata.sessionId": "s-1",
            "ai.prompt": dumped({"system": POLICY, "prompt": QUESTION}),
            "ai.response.text": ANSWER,
        },
    ),
    span(
        2,
        "ai.toolCall",
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "track",
            "ai.toolCall.id": "c1",
            "ai.toolCall.args": dumped({"id": 7}),
        },
        parent=1,
        failed=PROBLEM,
    ),
    span(
        3,
        "ai.toolCall",
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "track",
            "ai.toolCall.id": "c2",
            "ai.toolCall.args": dumped({"id": 7}),
            "ai.toolCall.result": dumped(RESULT),
        },
        parent=1,
    ),
    span(
        4,
        "ai.generateText.doGenerate",
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "gen_ai.system": "openai",
            "gen_ai.request.model": "gpt-9",
            "ai.prompt.messages": dumped(
                [
                    {"role": "system", "content": POLICY},
                    {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
                    {
                        "role": "assistant",
                        "content": [{"type": "tool-call", "toolCallId": "c2", "toolName": "track", "input": {"id": 7}}],
                    },
                    {
                        "role": "tool",
                        "content": [
                            {
                                "type": "tool-result",
                                "toolCallId": "c2",
                                "toolName": "track",
                                "output": {"type": "json", "value": RESULT},
                            }
                        ],
                    },
                ]
            ),
            "ai.response.text": ANSWER,
            "ai.response.finishReason": "stop",
        },
        parent=1,
    ),
)
PYDANTIC_AI = otlp(
    span(
        1,
        "agent run",
        {
            "gen_ai.system_instructions": dumped([{"type": "text", "content": POLICY}]),
            "pydantic_ai.all_messages": dumped(
                [
                    *GENAI_CONVERSATION[:2],
                    {
                        "role": "user",
                        "parts": [
                            {"type": "tool_call_response", "id": "c1", "name": "track", "result": f"Error: {PROBLEM}"}
                        ],
                    },
                    GENAI_CONVERSATION[3],
                    {
                        "role": "user",
                        "parts": [
                            {"type": "tool_call_response", "id": "c2", "name": "track", "result": dumped(RESULT)}
                        ],
                    },
                    *GENAI_ANSWER,
                ]
            ),
            "final_result": ANSWER,
        },
    )
)

# MLflow, and the attributes that Langfuse takes

_CHAT_REPLY = {"choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}]}
MLFLOW = otlp(
    span(
        1,
        "predict",
        {
            "mlflow.spanType": dumped("AGENT"),
            "mlflow.spanInputs": dumped({"question": QUESTION}),
            "mlflow.spanOutputs": dumped(ANSWER),
        },
    ),
    span(
        2,
        "retrieve",
        {
            "mlflow.spanType": dumped("RETRIEVER"),
            "mlflow.spanInputs": dumped(QUESTION),
            "mlflow.spanOutputs": dumped([{"page_content": PASSAGE, "metadata": {"doc_uri": "rules.md"}}]),
        },
        parent=1,
    ),
    span(
        3,
        "track",
        {"mlflow.spanType": dumped("TOOL"), "mlflow.spanInputs": dumped({"id": 7})},
        parent=1,
        failed=PROBLEM,
    ),
    span(
        4,
        "track",
        {
            "mlflow.spanType": dumped("TOOL"),
            "mlflow.spanInputs": dumped({"id": 7}),
            "mlflow.spanOutputs": dumped(RESULT),
        },
        parent=1,
    ),
    span(
        5,
        "Completions",
        {
            "mlflow.spanType": dumped("CHAT_MODEL"),
            "mlflow.spanInputs": dumped(
                {
                    "model": "gpt-9",
                    "messages": [{"role": "system", "content": POLICY}, {"role": "user", "content": QUESTION}],
                }
            ),
            "mlflow.spanOutputs": dumped(_CHAT_REPLY),
        },
        parent=1,
    ),
)


def _for_langfuse(kind: str, given: Any, said: Any = None) -> dict[str, Any]:
    said = {} if said is None else {"langfuse.observation.output": dumped(said)}
    return {"langfuse.observation.type": kind, "langfuse.observation.input": dumped(given), **said}


LANGFUSE_ATTRIBUTES = otlp(
    span(
        1,
        "helper",
        {
            "langfuse.trace.input": QUESTION,
            "langfuse.trace.output": ANSWER,
            "langfuse.session.id": "s-1",
            "langfuse.trace.metadata.plan": "free",
            "langfuse.observation.type": "agent",
        },
    ),
    span(2, "rules", _for_langfuse("retriever", QUESTION, [{"content": PASSAGE}]), parent=1),
    span(3, "track", _for_langfuse("tool", {"id": 7}), parent=1, failed=PROBLEM),
    span(4, "track", _for_langfuse("tool", {"id": 7}, RESULT), parent=1),
    span(
        5,
        "chat",
        _for_langfuse(
            "generation",
            [{"role": "system", "content": POLICY}, {"role": "user", "content": QUESTION}],
            {"role": "assistant", "content": ANSWER},
        ),
        parent=1,
    ),
)

# Langfuse


def observation(number: int, kind: str, name: str, *, parent: int | None = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": f"obs-{number}",
        "traceId": "trace-1",
        "type": kind,
        "name": name,
        "startTime": f"2026-01-01T00:00:0{number}.000Z",
        "endTime": f"2026-01-01T00:00:0{number}.900Z",
        "level": "DEFAULT",
        "statusMessage": None,
        "parentObservationId": None if parent is None else f"obs-{parent}",
        "input": None,
        "output": None,
        "metadata": {},
        "usageDetails": {},
        **more,
    }


_SAID = [{"role": "system", "content": POLICY}, {"role": "user", "content": QUESTION}]
LANGFUSE_OBSERVATIONS = [
    observation(1, "AGENT", "helper", parent=None, input={"question": QUESTION}, output=ANSWER),
    observation(
        2,
        "RETRIEVER",
        "rules",
        input=QUESTION,
        output=[{"page_content": PASSAGE, "metadata": {"source": "rules.md"}, "type": "Document"}],
    ),
    observation(3, "TOOL", "track", input={"id": 7}, level="ERROR", statusMessage=PROBLEM),
    observation(4, "TOOL", "track", input={"id": 7}, output=RESULT),
    observation(5, "GENERATION", "chat", model="gpt-9", input=_SAID, output={"role": "assistant", "content": ANSWER}),
    observation(6, "EVALUATOR", "politeness", input=ANSWER, output={"score": 1}),
]
LANGFUSE_TRACE = {
    "id": "trace-1",
    "name": "support",
    "timestamp": "2026-01-01T00:00:00.000Z",
    "environment": "default",
    "tags": ["live"],
    "bookmarked": False,
    "release": None,
    "version": None,
    "userId": "u-1",
    "sessionId": "s-1",
    "public": False,
    "input": {"question": QUESTION},
    "output": ANSWER,
    "metadata": {"plan": "free"},
    "htmlPath": "/project/p/traces/trace-1",
    "latency": 5.9,
    "totalCost": 0.001,
    "observations": LANGFUSE_OBSERVATIONS,
    "scores": [
        {"id": "sc-1", "name": "thumbs", "value": 1, "dataType": "NUMERIC", "source": "API", "comment": "Thanks"},
        {"id": "sc-2", "name": "mood", "value": None, "stringValue": "glad", "dataType": "CATEGORICAL"},
    ],
}
LANGFUSE_DOWNLOAD = {
    "trace": {key: value for key, value in LANGFUSE_TRACE.items() if key not in ("observations", "htmlPath")},
    "observations": LANGFUSE_OBSERVATIONS,
}
LANGFUSE_LIST = {
    "data": [{**LANGFUSE_TRACE, "observations": ["obs-1", "obs-2"], "scores": ["sc-1"]}],
    "meta": {"page": 1, "limit": 50, "totalItems": 1, "totalPages": 1},
}


def _raw(row: Mapping[str, Any]) -> dict[str, Any]:
    """What went in and came out as texts, which is how newer exports have them."""
    return {key: dumped(value) if isinstance(value, dict | list) else value for key, value in row.items()}


# The API of observations, whose every row names its trace, and the same rows in a bucket.
_WITH_TRACE = {"traceName": "support", "userId": "u-1", "sessionId": "s-1", "tags": ["live"], "environment": "default"}
LANGFUSE_ROWS = [{**_raw(row), "metadata": {}, **_WITH_TRACE} for row in LANGFUSE_OBSERVATIONS]
LANGFUSE_BUCKET = [
    {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in row.items()}
    for row in LANGFUSE_ROWS
]
LANGFUSE_TABLE = {
    **{key: value for key, value in LANGFUSE_TRACE.items() if key not in ("observations", "scores", "htmlPath")},
    "observationCount": 6,
    "thumbs": [1],
}

# LangWatch


def langwatch_span(number: int, kind: str, name: str, *, parent: int | None = 1, **more: Any) -> dict[str, Any]:
    return {
        "span_id": f"span-{number}",
        "parent_id": None if parent is None else f"span-{parent}",
        "trace_id": "trace-1",
        "type": kind,
        "name": name,
        "input": None,
        "output": None,
        "error": None,
        "timestamps": {"started_at": 1_767_225_600_000 + number, "finished_at": 1_767_225_601_000 + number},
        "metrics": {"prompt_tokens": 1},
        "params": {},
        **more,
    }


_CHAT = {"type": "chat_messages", "value": _SAID}
LANGWATCH_SPANS = [
    langwatch_span(1, "agent", "helper", parent=None, input={"type": "text", "value": QUESTION}),
    langwatch_span(
        2,
        "rag",
        "rules",
        input={"type": "text", "value": QUESTION},
        contexts=[{"document_id": "doc-1", "chunk_id": "0", "content": PASSAGE}],
    ),
    langwatch_span(
        3,
        "tool",
        "track",
        input={"type": "json", "value": {"id": 7}},
        error={"has_error": True, "message": PROBLEM, "stacktrace": ["line 1"]},
    ),
    langwatch_span(
        4,
        "tool",
        "track",
        input={"type": "json", "value": {"id": 7}},
        output={"type": "json", "value": RESULT},
    ),
    langwatch_span(
        5,
        "llm",
        "chat",
        model="openai/gpt-9",
        vendor="openai",
        input=_CHAT,
        output={"type": "chat_messages", "value": [{"role": "assistant", "content": ANSWER}]},
    ),
]
_EVALUATION = {"evaluation_id": "e-1", "name": "Tone", "status": "processed", "passed": True, "score": 0.9}
LANGWATCH_API = {
    "trace_id": "trace-1",
    "project_id": "p-1",
    "metadata": {"user_id": "u-1", "thread_id": "s-1", "labels": ["live"]},
    "timestamps": {"started_at": 1_767_225_600_000, "inserted_at": 1, "updated_at": 2},
    "input": {"value": QUESTION},
    "output": {"value": ANSWER},
    "metrics": {"total_cost": 0.001},
    "error": None,
    "spans": LANGWATCH_SPANS,
    "evaluations": [_EVALUATION],
}
_SUMMARY = {
    "trace_id": "trace-1",
    "project_id": "p-1",
    "timestamp": 1_767_225_600_000,
    "input": QUESTION,
    "output": ANSWER,
    "labels": ["live"],
    "first_token_ms": 100,
    "total_time_ms": 5_900,
    "total_cost": 0.001,
    "metadata": {"user_id": "u-1"},
    "topic": None,
    "subtopic": None,
    "error": None,
    "evaluations": [_EVALUATION],
}
LANGWATCH_SUMMARY = _SUMMARY
LANGWATCH_SUMMARY_CSV = {
    key: dumped(value) if isinstance(value, dict | list) else str(value)
    for key, value in _SUMMARY.items()
    if value is not None
}
LANGWATCH_FULL = {**_SUMMARY, "spans": LANGWATCH_SPANS}


def _io(value: Any) -> str:
    """An input or output as the CSV has it."""
    inner = value["value"] if value else ""
    return inner if isinstance(inner, str) else dumped(inner)


LANGWATCH_CSV = [
    {
        "trace_id": "trace-1",
        "trace_timestamp": "1767225600000",
        "trace_input": QUESTION,
        "trace_output": ANSWER,
        "trace_labels": "live",
        "trace_metadata": dumped({"user_id": "u-1"}),
        "span_id": one["span_id"],
        "parent_span_id": one["parent_id"] or "",
        "span_type": one["type"],
        "span_name": one["name"],
        "span_input": _io(one["input"]),
        "span_output": _io(one["output"]),
        "span_started_at": str(one["timestamps"]["started_at"]),
        "span_error": (one["error"] or {}).get("message", ""),
        "span_contexts": dumped(one["contexts"]) if "contexts" in one else "",
        "Tone_score": "0.9",
    }
    for one in LANGWATCH_SPANS
]
