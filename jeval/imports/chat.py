"""Chat messages as the OpenAI API has them, alone or in a record with other keys, one conversation a record.

The system message becomes the policy, tool calls with their results become tool events, the last answer is
the output and the user's message before it the input. Other keys of the record go into the metadata.
"""

from collections.abc import Iterator
from typing import Any

from jeval.imports.conversation import answer_places, fill
from jeval.imports.draft import Draft, Options, Unfit
from jeval.imports.transcript import message_list, steps

__all__ = ["fits", "read"]

_PLACED = ("id", "messages", "metadata", "request", "response", "completion", "tools", "functions")


def fits(record: Any) -> bool:
    """Whether a record looks like a conversation."""
    return _messages(record) is not None


def read(record: Any, options: Options) -> Iterator[Draft]:
    """The cases of one conversation. Raises Unfit."""
    messages = _messages(record)
    if messages is None:
        raise Unfit("messages", "holds no list of messages", 'write {"messages": [{"role": …, "content": …}, …]}')
    whole = record if isinstance(record, dict) else {}
    found = list(steps(messages, Draft({})))
    places = answer_places(found, options)
    for number, place in enumerate(places, 1):
        draft = Draft({"metadata": _metadata(whole)})
        if "id" in whole:
            draft.body["id"] = f"{whole['id']}:{number}" if options.answers == "each" else whole["id"]
        list(steps(messages, draft))  # once more for the notes of this draft
        fill(draft, found, place, options)
        _offered(draft, whole)
        if not draft.body["metadata"]:
            del draft.body["metadata"]
        yield draft


def _messages(record: Any) -> list[Any] | None:
    if not isinstance(record, dict):
        return message_list(record)
    request = record.get("request")
    messages = message_list(record.get("messages") or (request if isinstance(request, dict) else None))
    if messages is None:
        return None
    for name in ("response", "completion"):
        reply = record.get(name)
        choices = reply.get("choices") if isinstance(reply, dict) else None
        if isinstance(choices, list) and choices and isinstance(choices[0], dict) and "message" in choices[0]:
            return [*messages, choices[0]["message"]]
    return messages


def _metadata(record: dict[str, Any]) -> dict[str, Any]:
    """The record's own metadata, and every key that has no place elsewhere."""
    own = record.get("metadata")
    found = dict(own) if isinstance(own, dict) else {} if own is None else {"metadata": own}
    return {**found, **{key: value for key, value in record.items() if key not in _PLACED}}


def _offered(draft: Draft, record: dict[str, Any]) -> None:
    """The names of the tools on offer. Where tools were offered and none was called, none was called."""
    offered = record.get("tools") or record.get("functions")
    if not isinstance(offered, list):
        return
    tools = [one["function"] if isinstance(one, dict) and "function" in one else one for one in offered]
    names = [tool.get("name") for tool in tools if isinstance(tool, dict)]
    draft.body["metadata"]["tools"] = [name for name in names if isinstance(name, str)]
    draft.note("definitions of tools left out, their names kept")
    draft.body.setdefault("toolEvents", [])
