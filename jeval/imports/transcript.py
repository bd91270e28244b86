"""Chat messages in the forms of OpenAI, Anthropic and the OpenTelemetry conventions, as neutral steps."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from jeval.imports.draft import Draft, Unfit, json_or_text, shown_text

__all__ = ["Step", "message_list", "steps"]

_ROLES = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "ai": "assistant", "model": "assistant", "tool": "tool", "function": "tool",
}  # fmt: skip


class Step(NamedTuple):
    """One thing that was said, called or returned. `failure` is None where the trace does not tell."""

    kind: Literal["say", "call", "result"]
    role: str
    text: str = ""
    name: Any = None
    value: Any = None
    call_id: Any = None
    failure: bool | None = None


def message_list(value: Any) -> list[Any] | None:
    """The messages in a value: a list of them, or an object that holds one under `messages`; else None."""
    value = json_or_text(value)
    if isinstance(value, dict) and "messages" in value:
        value = value["messages"]
    if (
        isinstance(value, list)
        and value
        and all(isinstance(m, dict) and ("role" in m or "message" in m) for m in value)
    ):
        return [m["message"] if "message" in m and "role" not in m else m for m in value]
    return None


def steps(messages: list[Any], draft: Draft, place: str = "messages") -> Iterator[Step]:
    """The steps of a conversation, in order. Raises Unfit for what is no message."""
    for index, message in enumerate(messages):
        where = f"{place}[{index}]"
        if not isinstance(message, dict):
            raise Unfit(where, "is not an object", "give each message a role and a content", message)
        role = _ROLES.get(str(message.get("role", "")).lower())
        if role is None:
            raise Unfit(f"{where}.role", "is no role", f"use one of {', '.join(_ROLES)}", message.get("role"))
        yield from _message(message, role, draft, where)


def _message(message: dict[str, Any], role: str, draft: Draft, where: str) -> Iterator[Step]:
    content = message.get("content", message.get("parts"))
    if role == "tool":
        if isinstance(content, list) and any(isinstance(part, dict) and "response" in part for part in content):
            yield from _parts(content, role, draft, where)
            return
        text = "".join(step.text for step in _parts(content, role, draft, where))
        flag = message.get("is_error")
        failure = flag if isinstance(flag, bool) else {"error": True, "success": False}.get(str(message.get("status")))
        yield Step("result", role, text, message.get("name"), text, message.get("tool_call_id"), failure)
        return
    said = list(_parts(content, role, draft, where))
    if not said and isinstance(message.get("refusal"), str):
        said = [Step("say", role, message["refusal"])]
    yield from said
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            raise Unfit(f"{where}.tool_calls", "holds what is no tool call", "write a list of objects", call)
        function = call.get("function")
        function = function if isinstance(function, dict) else call
        arguments = function.get("arguments", function.get("args"))
        yield Step("call", role, "", function.get("name"), arguments, call.get("id"))
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        yield Step("call", role, "", legacy.get("name"), legacy.get("arguments"))


def _parts(content: Any, role: str, draft: Draft, where: str) -> Iterator[Step]:
    """The steps in a message's content; texts that stand side by side are one."""
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield Step("say", role, content)
        return
    if not isinstance(content, list):
        raise Unfit(f"{where}.content", "is neither text nor a list of parts", "write a text", content)
    texts: list[str] = []
    for part in content:
        step = _part(part, role, draft)
        if isinstance(step, str):
            texts.append(step)
            continue
        if texts:
            yield Step("say", role, "\n".join(texts))
            texts = []
        yield step
    if texts:
        yield Step("say", role, "\n".join(texts))


def _part(part: Any, role: str, draft: Draft) -> Step | str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return shown_text(part)
    kind = str(part.get("type", "text"))
    if kind in ("tool_use", "tool_call"):
        arguments = part.get("input", part.get("arguments"))
        return Step("call", role, "", part.get("name"), arguments, part.get("id"))
    if kind in ("tool_result", "tool_call_response"):
        value = part.get("content", part.get("response", part.get("result")))
        if isinstance(value, list):
            value = "".join(found for p in value if isinstance(found := _part(p, role, draft), str))
        return Step("result", "tool", "", None, value, part.get("tool_use_id", part.get("id")), part.get("is_error"))
    text = part.get("text", part.get("content", part.get("refusal")))
    if isinstance(text, str):
        return text
    draft.note(f"a part of type {kind[:40]} left out, for a case holds text")
    return f"[{kind[:40]} left out]"
