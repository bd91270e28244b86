"""What a span's attributes say, by the conventions under which GenAI spans are recorded.

Read are OpenTelemetry's GenAI conventions as they are and as they were (messages as attributes, and as events of the
span or of the log), OpenInference, OpenLLMetry, the AI SDK of Vercel, Pydantic AI, MLflow, and the attributes that
Langfuse takes. Where a span follows several of them, GenAI's own come first.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jeval.imports.attributes import listed
from jeval.imports.draft import json_or_text
from jeval.imports.messages import message_list
from jeval.imports.trace import Kind

__all__ = ["given_and_said", "instructions_in", "kind_of", "passages_in", "tool_of"]

Attributes = Mapping[str, Any]

_KINDS: Mapping[str, Kind] = {
    "llm": "llm", "chat_model": "llm", "generation": "llm", "chat": "llm", "text_completion": "llm",
    "completion": "llm", "generate_content": "llm", "tool": "tool", "execute_tool": "tool", "retriever": "retriever",
    "retrieval": "retriever", "reranker": "retriever", "rerank": "aside", "embedding": "aside",
    "embeddings": "aside", "guardrail": "aside", "evaluator": "aside", "event": "aside",
}  # fmt: skip
# Where a span says what it is, in the order in which they are believed.
_KIND_KEYS = (
    "gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "llm.request.type",
    "gen_ai.span.kind", "langfuse.observation.type", "mlflow.spanType",
)  # fmt: skip
_AI_SDK: tuple[tuple[str, Kind], ...] = ((".doGenerate", "llm"), (".doStream", "llm"), ("ai.toolCall", "tool"))

# Attributes that hold what went in and what came out; those of the second line are JSON, texts too.
_INPUTS = ("langfuse.observation.input", "langfuse.trace.input", "input.value", "gen_ai.prompt")
_JSON_INPUTS = ("traceloop.entity.input", "mlflow.spanInputs", "genkit:input")
_OUTPUTS = ("final_result", "langfuse.observation.output", "langfuse.trace.output", "output.value", "gen_ai.completion")
_JSON_OUTPUTS = ("traceloop.entity.output", "mlflow.spanOutputs", "genkit:output")

_EVENTS = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}  # fmt: skip


def kind_of(attributes: Attributes, told: Any = None) -> Kind:
    """What a span is. `told` is what it says of itself beside its attributes, as Phoenix has it."""
    for value in (*(attributes.get(key) for key in _KIND_KEYS), told):
        kind = _KINDS.get(str(value).strip('"').lower())
        if kind is not None:
            return kind
    operation = str(attributes.get("ai.operationId", ""))
    for end, kind in _AI_SDK:
        if operation.endswith(end):
            return kind
    if "ai.toolCall.name" in attributes or (
        "gen_ai.tool.name" in attributes and "gen_ai.request.model" not in attributes
    ):
        return "tool"
    if any(key.startswith(("gen_ai.prompt.0.", "gen_ai.completion.0.")) for key in attributes):
        return "llm"
    return "retriever" if "db.vector.query.top_k" in attributes else "other"


def given_and_said(attributes: Attributes, events: Sequence[tuple[str, Attributes]]) -> tuple[Any, Any]:
    """What a span was given and what it said: messages where there are any, else texts or whatever there is."""
    attributes = {**attributes, **_details(events)}
    given, said = _of_events(events, attributes)
    whole = json_or_text(attributes.get("pydantic_ai.all_messages", attributes.get("all_messages_events")))
    return (
        _messages(attributes, "gen_ai.input.messages")
        or given
        or listed(dict(attributes), "llm.input_messages", "message")
        or _with_role(listed(dict(attributes), "gen_ai.prompt"), "user")
        or _messages(attributes, "ai.prompt.messages")
        or _ai_prompt(attributes.get("ai.prompt"))
        or message_list(whole)
        or _texts(attributes, "llm.prompts", "prompt.text")
        or _plain(attributes, _INPUTS, _JSON_INPUTS),
        _messages(attributes, "gen_ai.output.messages")
        or said
        or listed(dict(attributes), "llm.output_messages", "message")
        or _with_role(listed(dict(attributes), "gen_ai.completion"), "assistant")
        or _ai_answer(attributes)
        or _texts(attributes, "llm.choices", "completion.text")
        or _plain(attributes, _OUTPUTS, _JSON_OUTPUTS),
    )


def _messages(attributes: Attributes, name: str) -> Any:
    """Messages, or what stands in their place, as some recorders write a text."""
    value = attributes.get(name)
    return message_list(value) or value


def _with_role(messages: list[dict[str, Any]], role: str) -> list[dict[str, Any]]:
    return [{"role": role, **message} for message in messages]


def _texts(attributes: Attributes, name: str, key: str) -> str | None:
    """Texts of a completion's prompt or choices, which OpenInference spreads over attributes."""
    found = [one[key] for one in listed(dict(attributes), name) if isinstance(one.get(key), str)]
    return "\n".join(found) or None


def _plain(attributes: Attributes, names: Iterable[str], encoded: Iterable[str]) -> Any:
    for name in names:
        if attributes.get(name) not in (None, ""):
            return attributes[name]
    for name in encoded:
        if attributes.get(name) not in (None, ""):
            return _entity(_decoded(attributes[name]))
    return None


def _decoded(value: Any) -> Any:
    """What a text that is always JSON holds; texts are quoted in it."""
    if isinstance(value, str) and value[:1] == '"':
        try:
            return json.loads(value)
        except ValueError:
            return value
    return json_or_text(value)


def _entity(value: Any) -> Any:
    """What a function or a chain was given or returned, without the wrapping that OpenLLMetry puts around it."""
    if not isinstance(value, dict):
        return value
    for name in ("inputs", "outputs", "output"):
        if name in value and set(value) <= {name, "kwargs", "tags", "metadata", "input_str"}:
            return _entity(value[name])
    if set(value) == {"args", "kwargs"}:
        args, kwargs = value["args"], value["kwargs"]
        if not args:
            return kwargs
        return args[0] if not kwargs and isinstance(args, list) and len(args) == 1 else value
    return value


def _ai_prompt(value: Any) -> Any:
    """The prompt of the AI SDK's outer span: a system text, and a text or messages."""
    value = json_or_text(value)
    if not isinstance(value, dict):
        return value
    head = [{"role": "system", "content": value["system"]}] if isinstance(value.get("system"), str) else []
    if messages := message_list(value.get("messages")):
        return [*head, *messages]
    prompt = value.get("prompt")
    return message_list(prompt) or ([*head, {"role": "user", "content": prompt}] if isinstance(prompt, str) else value)


def _ai_answer(attributes: Attributes) -> Any:
    """What the AI SDK says that the model answered: a text, an object, calls of tools."""
    text = attributes.get("ai.response.text", attributes.get("ai.response.object"))
    calls = json_or_text(attributes.get("ai.response.toolCalls"))
    if isinstance(calls, list) and calls:
        return [{"role": "assistant", "content": text or None, "tool_calls": calls}]
    return text


def _details(events: Iterable[tuple[str, Attributes]]) -> dict[str, Any]:
    """The messages of the one event that holds them all."""
    return {
        key: value
        for name, values in events
        if name == "gen_ai.client.inference.operation.details"
        for key, value in values.items()
        if key in ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions")
    }


def _of_events(
    events: Sequence[tuple[str, Attributes]], attributes: Attributes
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages of a span's events, one each; some recorders write these as a list in an attribute."""
    inner = json_or_text(attributes.get("events"))
    if isinstance(inner, list):
        events = [*events, *((str(one.get("event.name")), one) for one in inner if isinstance(one, dict))]
    given, said = [], []
    for name, values in events:
        body = json_or_text(values.get("gen_ai.event.content"))
        values = {**values, **(body if isinstance(body, dict) else {})}
        if name in _EVENTS:
            content, role = values.get("content"), values.get("role") or _EVENTS[name]
            more = {"tool_calls": values.get("tool_calls"), "tool_call_id": values.get("id")}
            given.append({"role": role, "content": content, **more})
        elif name == "gen_ai.choice":
            message = json_or_text(values.get("message", values.get("content")))
            message = message if isinstance(message, dict) else {"content": message}
            said.append({"tool_calls": values.get("tool_calls"), **message, "role": "assistant"})
        elif name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            key, role = ("gen_ai.prompt", "user") if name.endswith("prompt") else ("gen_ai.completion", "assistant")
            value = json_or_text(values.get(key))
            found = message_list(value) or message_list([value]) or [{"role": role, "content": values.get(key)}]
            (given if role == "user" else said).extend(found)
    return given, said


def instructions_in(attributes: Attributes, events: Iterable[tuple[str, Attributes]]) -> str | None:
    """The instructions that a model was given beside the messages."""
    value = json_or_text({**attributes, **_details(events)}.get("gen_ai.system_instructions"))
    if isinstance(value, list):
        texts = [part.get("content", part.get("text")) if isinstance(part, dict) else part for part in value]
        return "\n\n".join(text for text in texts if isinstance(text, str)) or None
    return value if isinstance(value, str) and value else None


def tool_of(attributes: Attributes, name: str, given: Any, said: Any) -> tuple[str, Any, Any, Any]:
    """A tool's name, arguments, result and the id of its call. `given` and `said` are the span's own."""
    names = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
    named = _first(attributes, names) or name.removeprefix("execute_tool ").removesuffix(".tool")
    arguments = _first(attributes, ("gen_ai.tool.call.arguments", "ai.toolCall.args", "tool_arguments"))
    if arguments is None:
        arguments = given if given is not None else _first(attributes, ("tool.parameters",))
    result = _first(attributes, ("gen_ai.tool.call.result", "ai.toolCall.result", "tool_response"))
    identity = _first(attributes, ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id"))
    return str(named), _decoded(arguments), _decoded(said if result is None else result), identity


def passages_in(attributes: Attributes, events: Iterable[tuple[str, Attributes]]) -> list[Any]:
    """The passages that a retrieval names, or a reranking left."""
    flat = dict(attributes)
    genai = json_or_text(flat.get("gen_ai.retrieval.documents"))
    found = genai if isinstance(genai, list) else []
    for name in ("reranker.output_documents", "retrieval.documents"):
        found = found or listed(flat, name, "document")
    named = "db.query.result."
    return found or [
        {key.removeprefix(named): value for key, value in values.items()}
        for name, values in events
        if name == "db.query.result"
    ]


def _first(attributes: Attributes, names: Iterable[str]) -> Any:
    return next((attributes[name] for name in names if attributes.get(name) not in (None, "")), None)
