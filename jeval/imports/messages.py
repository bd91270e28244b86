"""Messages as the many recorders write them, in one shape: a role, a content, calls of tools and their ids.

Known are the messages of chat APIs, items of OpenAI's Responses, and LangChain's messages, as objects of their own
and as it serialises them.
"""

from collections.abc import Mapping
from typing import Any

from jeval.imports.draft import json_or_text

__all__ = ["message_list", "message_of"]

# What kind of message it is, where a type tells it and no role; LangChain's names of classes begin alike.
_TYPED = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool", "chat": "user"}


def message_list(value: Any) -> list[dict[str, Any]] | None:
    """The messages in a value, each with a role; None where it is no list of them.

    The list may stand under `messages`, alone in another list, and in a JSON text. An object's `system` text
    becomes the first message.
    """
    value = json_or_text(value)
    system = None
    if isinstance(value, dict) and "messages" in value:
        system, value = value.get("system"), json_or_text(value["messages"])
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if not isinstance(value, list) or not value:
        return None
    found = [message_of(one) for one in value]
    if any(one is None for one in found) or all(one is not None and one.get("role") == "" for one in found):
        return None
    head = [{"role": "system", "content": system}] if isinstance(system, str) and system else []
    return [*head, *(one for one in found if one is not None)]


def message_of(value: Any) -> dict[str, Any] | None:
    """A message with a role, or None where the value is none."""
    if not isinstance(value, dict):
        return None
    if "role" in value:
        return value
    if isinstance(value.get("message"), dict):
        return message_of(value["message"])
    if isinstance(value.get("kwargs"), dict) and value.get("lc"):
        return _serialised(value["kwargs"], value.get("id"))
    kind = value.get("type")
    role = _TYPED.get(kind) if isinstance(kind, str) else None
    if role is not None and "content" in value:
        return {**value, "role": role}
    return _item(value, kind)


def _serialised(kwargs: Mapping[str, Any], path: Any) -> dict[str, Any] | None:
    """LangChain's own way to write an object: its class as a path, and what made it."""
    name = path[-1] if isinstance(path, list) and path and isinstance(path[-1], str) else ""
    named = name.removesuffix("Chunk").removesuffix("Message").lower()
    kind = kwargs.get("type")
    role = _TYPED.get(named) or (_TYPED.get(kind) if isinstance(kind, str) else None)
    return None if role is None else {**kwargs, "role": role}


def _item(value: Mapping[str, Any], kind: Any) -> dict[str, Any] | None:
    """An item of OpenAI's Responses that is no message: a call, its result, a thought."""
    if kind == "function_call" and "name" in value:
        call = {"id": value.get("call_id", value.get("id")), "name": value["name"], "arguments": value.get("arguments")}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": value.get("call_id"), "content": value.get("output")}
    if kind == "reasoning":
        return {"role": "assistant", "content": [{"type": "reasoning"}]}
    return None
