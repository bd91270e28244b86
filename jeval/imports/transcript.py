"""Chat messages in the forms of OpenAI, Anthropic, Gemini, Bedrock, the AI SDK and OpenTelemetry, as neutral steps."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from jeval.imports.draft import Draft, Unfit, json_or_text, shown_text
from jeval.imports.messages import message_list

__all__ = ["Step", "message_list", "steps"]

_ROLES = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "ai": "assistant", "model": "assistant", "agent": "assistant", "tool": "tool", "function": "tool",
}  # fmt: skip
# What recorders put between the messages, and nobody said.
_ASIDE = ("guardrail", "evaluation", "unknown")
_CALLS = ("tool_use", "tool_call", "tool-call", "server_tool_call", "server_tool_use")
_RESULTS = ("tool_result", "tool_call_response", "tool-result", "server_tool_call_response")
_THOUGHTS = ("reasoning", "thinking", "redacted_thinking", "compaction")


class Step(NamedTuple):
    """One thing that was said, called or returned. `failure` is None where the trace does not tell."""

    kind: Literal["say", "call", "result"]
    role: str
    text: str = ""
    name: Any = None
    value: Any = None
    call_id: Any = None
    failure: bool | None = None


def steps(messages: list[Any], draft: Draft, place: str = "messages") -> Iterator[Step]:
    """The steps of a conversation, in order. Raises Unfit for what is no message."""
    for index, message in enumerate(messages):
        where = f"{place}[{index}]"
        if not isinstance(message, dict):
            raise Unfit(where, "is not an object", "give each message a role and a content", message)
        name = str(message.get("role", "")).lower()
        if name in _ASIDE:
            draft.note(f"message of the role {name} left out")
            continue
        role = _ROLES.get(name)
        if role is None:
            raise Unfit(f"{where}.role", "is no role", f"use one of {', '.join(_ROLES)}", message.get("role"))
        yield from _message(message, role, draft, where)


def _message(message: dict[str, Any], role: str, draft: Draft, where: str) -> Iterator[Step]:
    content = message.get("content", message.get("parts"))
    if role == "tool":
        yield from _tool_message(message, content, draft, where)
        return
    said = list(_parts(content, role, draft, where))
    if not said and isinstance(message.get("refusal"), str):
        said = [Step("say", role, message["refusal"])]
    yield from said
    told = [step.call_id for step in said if step.kind == "call" and step.call_id]
    calls = json_or_text(message.get("tool_calls"))
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            raise Unfit(f"{where}.tool_calls", "holds what is no tool call", "write a list of objects", call)
        function = call.get("function")
        function = function if isinstance(function, dict) else call
        arguments = _first(function, "arguments", "args", "input")
        identity = _first(call, "id", "toolCallId", "tool_call_id")
        if identity not in told:  # some write a call both as a part and beside the parts
            yield Step("call", role, "", _first(function, "name", "toolName"), arguments, identity)
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        yield Step("call", role, "", legacy.get("name"), legacy.get("arguments"))


def _tool_message(message: dict[str, Any], content: Any, draft: Draft, where: str) -> Iterator[Step]:
    """A message of a tool: results as parts, each with its id, or one result as its content."""
    parts = list(_parts(content, "tool", draft, where))
    if any(step.kind == "result" for step in parts):
        yield from parts
        return
    text = "".join(step.text for step in parts)
    flag = message.get("is_error")
    failure = flag if isinstance(flag, bool) else {"error": True, "success": False}.get(str(message.get("status")))
    identity = _first(message, "tool_call_id", "toolCallId", "id")
    yield Step("result", "tool", text, message.get("name"), text, identity, failure)


def _parts(content: Any, role: str, draft: Draft, where: str) -> Iterator[Step]:
    """The steps in a message's content; texts that stand side by side are one."""
    if content is None or content == "":
        return
    if isinstance(content, str):
        content = _listed(content)
    if isinstance(content, str):
        yield Step("say", role, content)
        return
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise Unfit(f"{where}.content", "is neither text nor a list of parts", "write a text", content)
    texts: list[str] = []
    for part in content:
        step = _part(part, role, draft)
        if isinstance(step, str):
            texts.append(step)
            continue
        if step is None:
            continue
        if texts:
            yield Step("say", role, "\n".join(texts))
            texts = []
        yield step
    if texts:
        yield Step("say", role, "\n".join(texts))


def _listed(text: str) -> Any:
    """The parts in a text that is JSON of nothing else, as some recorders write them; else the text."""
    found = json_or_text(text)
    known = {"text", "input_text", "output_text", "image_url", "image", *_CALLS, *_RESULTS, *_THOUGHTS}
    parts = found if isinstance(found, list) else []
    return found if parts and all(isinstance(p, dict) and str(p.get("type")) in known for p in parts) else text


def _part(part: Any, role: str, draft: Draft) -> Step | str | None:
    """A part as text or as a step; None where it is neither said nor done."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return shown_text(part)
    kind = str(part.get("type") or "text")
    if kind in _THOUGHTS or "reasoningContent" in part:
        draft.note("what a model thought and did not say left out")
        return None
    if (step := _wrapped(part, role, draft)) or (step := _typed(part, kind, role, draft)):
        return step
    text = part.get("text", part.get("content", part.get("refusal")))
    if isinstance(text, dict):
        text = text.get("value")
    if kind == "blob" or not isinstance(text, str):
        text = part.get("transcript")
    if isinstance(text, str):
        return text
    draft.note(f"a part of type {kind[:40]} left out, for a case holds text")
    return f"[{kind[:40]} left out]"


def _typed(part: dict[str, Any], kind: str, role: str, draft: Draft) -> Step | None:
    """A call or a result that its type tells."""
    identity = _first(part, "tool_use_id", "toolCallId", "id")
    if kind in _CALLS:
        arguments = _first(part, "input", "arguments", "args", "server_tool_call")
        return Step("call", role, "", _first(part, "name", "toolName"), arguments, identity)
    if kind not in _RESULTS:
        return None
    value = _first(part, "content", "response", "result", "output", "server_tool_call_response")
    failure = _first(part, "is_error", "isError")
    if isinstance(value, dict) and kind == "tool-result" and "value" in value:
        failure = str(value.get("type", "")).startswith("error") or failure
        value = value["value"]
    return Step("result", "tool", "", _first(part, "name", "toolName"), _joined(value, role, draft), identity, failure)


def _wrapped(part: Mapping[str, Any], role: str, draft: Draft) -> Step | None:
    """A call or a result in an object of its own, as Gemini and Bedrock have them."""
    call = _first(part, "functionCall", "function_call", "toolUse")
    if isinstance(call, dict):
        return Step("call", role, "", call.get("name"), _first(call, "args", "input"), _first(call, "id", "toolUseId"))
    back = _first(part, "functionResponse", "function_response", "toolResult")
    if isinstance(back, dict):
        value = _joined(_first(back, "response", "content"), role, draft)
        failure = {"error": True, "success": False}.get(str(back.get("status")))
        return Step("result", "tool", "", back.get("name"), value, _first(back, "id", "toolUseId"), failure)
    return None


def _joined(value: Any, role: str, draft: Draft) -> Any:
    """A result; where it is a list of parts, what they say, or the one object among them."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return value
    if len(value) == 1 and "json" in value[0]:
        return value[0]["json"]
    if not all("text" in one or "type" in one for one in value):
        return value
    return "".join(found for one in value if isinstance(found := _part(one, role, draft), str))


def _first(value: Mapping[str, Any], *names: str) -> Any:
    """What stands under the first of these keys that is there."""
    return next((value[name] for name in names if value.get(name) is not None), None)
