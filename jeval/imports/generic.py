"""Any records that hold an input and an output: rows of a table, or JSON objects with keys of their own.

`Options.fields` says where each field of a case stands, as a dotted path. Fields it does not name are looked
for under the names people commonly use. What is left goes into the metadata.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jeval.imports.deepeval import add_calls
from jeval.imports.draft import Draft, Options, Unfit, json_or_text
from jeval.imports.events import Events
from jeval.imports.transcript import message_list, steps

__all__ = ["FIELDS", "fits", "read"]

# The fields that can be mapped, and the names each is looked for under, likeliest first.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "case_id", "caseId", "uuid"),
    "input": ("input", "question", "query", "prompt", "user_input", "instruction", "request"),
    "output": (
        "output", "answer", "response", "completion", "actual_output", "model_output", "generated_answer",
        "reply",
    ),
    "context": (
        "context", "contexts", "retrieved_contexts", "passages", "documents", "reference", "knowledge",
    ),
    "policy": ("policy", "system_prompt", "system", "instructions"),
    "messages": ("messages", "conversation", "history", "turns"),
    "toolEvents": ("toolEvents", "tool_events", "tool_calls", "tools_called"),
    "scenario": ("scenario",),
    "expectedOutcome": ("expectedOutcome", "expected_outcome"),
    "chatbotRole": ("chatbotRole", "chatbot_role"),
}  # fmt: skip
_TEXT_KEYS = ("content", "text", "page_content", "document", "passage", "context")


def fits(record: Any) -> bool:
    """Whether a record has an input and an output under names that are known."""
    return isinstance(record, dict) and all(
        any(record.get(name) is not None for name in FIELDS[field]) for field in ("input", "output")
    )


def read(record: Any, options: Options) -> Iterator[Draft]:
    """The case in a record. Raises Unfit."""
    if not isinstance(record, dict):
        raise Unfit("", "is not an object", "write one object a line, or name another --format", record)
    rest = dict(record)
    draft = Draft({})
    for field in FIELDS:
        path, value = _found(record, field, options)
        if value is None or (value == "" and field not in ("input", "output")):
            rest.pop(path, None)
            continue
        _place(draft, field, path, value, options)
        rest.pop(path, None)
    for field in ("input", "output"):
        if field not in draft.body:
            known = ", ".join(FIELDS[field])
            wanted = options.fields.get(field)
            looked = f"nothing stands at {wanted}" if wanted else f"none of its names is there ({known})"
            raise Unfit(field, f"is not found: {looked}", f"say where it is with --map {field}=PATH")
    metadata = rest.pop("metadata", None)
    own = dict(metadata) if isinstance(metadata, dict) else {} if metadata is None else {"metadata": metadata}
    own.update(draft.body.pop("metadata", {}))
    own.update({key: value for key, value in rest.items() if value is not None})
    if own:
        draft.body["metadata"] = own
    yield draft


def _found(record: dict[str, Any], field: str, options: Options) -> tuple[str, Any]:
    """Where a field stands and what stands there; a mapped field is looked for nowhere else."""
    wanted = options.fields.get(field)
    if wanted is not None:
        return wanted, _at(record, wanted)
    for name in FIELDS[field]:
        if record.get(name) is not None:
            return name, record[name]
    return "", None


def _at(record: Any, path: str) -> Any:
    """The value at a dotted path; a key that holds dots itself is found too."""
    if isinstance(record, dict) and path in record:
        return record[path]
    head, dot, tail = path.partition(".")
    if isinstance(record, list) and head.isdigit() and int(head) < len(record):
        value = record[int(head)]
    elif isinstance(record, dict) and head in record:
        value = record[head]
    else:
        return None
    return _at(value, tail) if dot else value


def _place(draft: Draft, field: str, path: str, value: Any, options: Options) -> None:
    if field == "context":
        draft.body[field] = _context(value, path)
    elif field == "messages":
        messages = message_list(value)
        if messages is None:
            raise Unfit(path, "is no list of messages", "give each a role and a content", value)
        said = [step for step in steps(messages, draft, path) if step.kind == "say"]
        draft.body[field] = [
            {"id": f"m{number}", "role": step.role, "content": step.text} for number, step in enumerate(said, 1)
        ]
    elif field == "toolEvents":
        _tools(draft, value, path, options)
    elif field == "id":
        draft.body[field] = value
    elif isinstance(value, dict | list) or value is True or value is False:
        raise Unfit(
            path,
            f"is no text, so it cannot be the {field}",
            f"name a text in it with --map {field}={path}.KEY",
            value,
        )
    else:
        draft.body[field] = value if isinstance(value, str) else str(value)


def _context(value: Any, path: str) -> list[dict[str, Any]]:
    value = json_or_text(value)
    items = value if isinstance(value, list) else [value]
    found = []
    for number, item in enumerate(items, 1):
        passage: dict[str, Any] = {"id": f"c{number}"}
        if isinstance(item, dict):
            key = next((key for key in _TEXT_KEYS if isinstance(item.get(key), str)), None)
            if key is None:
                remedy = f"give it a text under one of {', '.join(_TEXT_KEYS)}"
                raise Unfit(f"{path}[{number - 1}]", "is a passage without a text", remedy, item)
            passage["content"] = item[key]
            passage |= {name: item[name] for name in ("title", "source") if isinstance(item.get(name), str)}
        elif isinstance(item, str):
            passage["content"] = item
        else:
            raise Unfit(f"{path}[{number - 1}]", "is no passage", "write each passage as a text", item)
        found.append(passage)
    return found


def _tools(draft: Draft, value: Any, path: str, options: Options) -> None:
    """Tool events in our own form as they are, calls in DeepEval's form made into events."""
    value = json_or_text(value)
    if isinstance(value, list) and all(isinstance(one, dict) and "status" in one and "id" in one for one in value):
        draft.body["toolEvents"] = value
        return
    events = Events(options, draft)
    left: dict[str, Any] = {}
    add_calls(events, value, left, path)
    found = events.finished()
    if found is not None:
        draft.body["toolEvents"] = found
    if left:
        draft.body.setdefault("metadata", {}).update(left)
