"""DeepEval's test cases and goldens as JSON: LLMTestCase, ConversationalTestCase, datasets and test runs.

Keys may be camelCase or snake_case, alone, in a list, or under `testCases`, `goldens` and the like. What a
case has no place for (expected output and tools, comments, tags, costs, …) is kept under `metadata.deepeval`,
which no judge sees.
"""

from collections.abc import Iterator
from typing import Any

from pydantic.alias_generators import to_camel, to_snake

from jeval.imports.draft import Draft, Options, Unfit, json_or_text, shown_text
from jeval.imports.events import Events

__all__ = ["add_calls", "fits", "read"]

# Files written as JSONL hold a list of passages as one text, joined by this sign.
_DELIMITER = "|"
_LISTS = ("test_cases", "conversational_test_cases", "goldens", "conversational_goldens", "data")
_SINGLE = {"input", "actual_output"}
_SIGNS = {
    "actual_output",
    "expected_output",
    "retrieval_context",
    "tools_called",
    "turns",
    "expected_outcome",
}
_EMPTY: tuple[Any, ...] = (None, [], {}, "", False)


def fits(record: Any) -> bool:
    """Whether a record looks like a test case or a golden, or like a file of them."""
    if not isinstance(record, dict):
        return False
    names = {to_snake(key) for key in record}
    if names & {"test_cases", "conversational_test_cases", "goldens", "conversational_goldens"}:
        return True
    return bool(names & _SIGNS) and bool(names & {"input", "turns", "scenario"})


def read(record: Any, options: Options) -> Iterator[Draft]:
    """The cases in a record. Raises Unfit."""
    if not isinstance(record, dict):
        raise Unfit("", "is not an object", "write one test case a line", record)
    whole = {to_snake(key): value for key, value in record.items()}
    lists = [whole[name] for name in _LISTS if isinstance(whole.get(name), list)]
    if lists and not _SINGLE & set(whole) and "turns" not in whole:
        for items in lists:
            for item in items:
                yield from read(item, options)
        return
    yield (_conversation(whole, options) if "turns" in whole or "scenario" in whole else _single(whole, options))


def _single(whole: dict[str, Any], options: Options) -> Draft:
    draft = Draft({"input": _text(whole, "input")})
    output = whole.pop("actual_output", None)
    if output is None:
        remedy = "run your application on it first, then capture what it answered"
        raise Unfit("actual_output", "is missing, so there is no answer to evaluate", remedy)
    if not isinstance(output, str):
        raise Unfit("actual_output", "is not a text", "write the answer as a text", output)
    draft.body["output"] = output
    retrieved = _passages(whole.pop("retrieval_context", None), "retrieval_context")
    _add_context(draft, retrieved, _passages(whole.pop("context", None), "context"))
    events = Events(options, draft)
    add_calls(events, whole.pop("tools_called", None), whole, "tools_called")
    _finish(draft, events, whole)
    return draft


def _conversation(whole: dict[str, Any], options: Options) -> Draft:
    turns = _checked_turns(json_or_text(whole.pop("turns", None)))
    answers = [i for i, turn in enumerate(turns) if turn["role"] == "assistant"]
    if not answers:
        raise Unfit("turns", "hold no turn of the assistant", "leave this conversation out")
    draft = Draft({})
    asked = [turn["content"] for turn in turns[: answers[-1]] if turn["role"] == "user"]
    if not asked:
        draft.note("no user message before the answer: input is empty")
    draft.body.update(input=asked[-1] if asked else "", output=turns[answers[-1]]["content"])
    draft.body["messages"] = [
        {"id": f"m{number}", "role": turn["role"], "content": turn["content"]} for number, turn in enumerate(turns, 1)
    ]
    events = Events(options, draft)
    retrieved, rest = _of_turns(turns, events)
    _add_context(draft, retrieved, _passages(whole.pop("context", None), "context"))
    for name in ("scenario", "expected_outcome", "chatbot_role"):
        value = whole.pop(name, None)
        if value is not None:
            draft.body[to_camel(name)] = value
    if any(rest):
        whole["turns"] = rest
    if retrieved or events.seen:
        draft.note("tools and passages of turns kept in order, without the turn they belong to")
    _finish(draft, events, whole)
    return draft


def _checked_turns(turns: Any) -> list[dict[str, Any]]:
    if not turns:
        raise Unfit("turns", "are missing, so there is no answer to evaluate", "simulate the conversation first")
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise Unfit("turns", "is no list of turns", "give each turn a role and a content", turns)
    found = [{to_snake(key): value for key, value in turn.items()} for turn in turns]
    for index, turn in enumerate(found):
        if turn.get("role") not in ("user", "assistant"):
            raise Unfit(f"turns[{index}].role", "is no role", "use user or assistant", turn.get("role"))
        if not isinstance(turn.get("content"), str):
            raise Unfit(f"turns[{index}].content", "is not a text", "write what was said", turn.get("content"))
    return found


def _of_turns(turns: list[dict[str, Any]], events: Events) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The passages of all turns, whose tool calls go to `events`, and what else each turn holds."""
    retrieved: list[dict[str, Any]] = []
    rest = []
    for index, turn in enumerate(turns):
        retrieved += _passages(turn.pop("retrieval_context", None), f"turns[{index}].retrieval_context")
        add_calls(events, turn.pop("tools_called", None), turn, f"turns[{index}].tools_called")
        rest.append({k: v for k, v in turn.items() if k not in ("role", "content") and v not in _EMPTY})
    return retrieved, rest


def _text(whole: dict[str, Any], name: str) -> str:
    value = whole.pop(name, None)
    if not isinstance(value, str):
        raise Unfit(name, "is missing" if value is None else "is not a text", "write a text", value)
    return value


def _passages(value: Any, place: str) -> list[dict[str, Any]]:
    """Passages from texts, or from the objects that name a source too."""
    value = json_or_text(value)
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = value.split(_DELIMITER)
    if not isinstance(value, list):
        raise Unfit(place, "is no list of passages", "write a list of texts", value)
    found = []
    for index, passage in enumerate(value):
        if isinstance(passage, dict) and isinstance(passage.get("context"), str):
            source = passage.get("source")
            found.append({"content": passage["context"], **({"source": source} if isinstance(source, str) else {})})
        elif isinstance(passage, str):
            found.append({"content": passage})
        else:
            raise Unfit(f"{place}[{index}]", "is not a text", "write each passage as a text", passage)
    return found


def _add_context(draft: Draft, retrieved: list[dict[str, Any]], ideal: list[dict[str, Any]]) -> None:
    if retrieved and ideal and retrieved != ideal:
        draft.note("context and retrieval_context are one list, told apart by their ids")
    elif retrieved == ideal:
        ideal = []
    items = [{"id": f"retrieved-{n}", **passage} for n, passage in enumerate(retrieved, 1)]
    items += [{"id": f"context-{n}", **passage} for n, passage in enumerate(ideal, 1)]
    if items:
        draft.body["context"] = items


def add_calls(events: Events, value: Any, left: dict[str, Any], place: str) -> None:
    """Add tool calls; what an event has no place for goes back into `left`."""
    calls = json_or_text(value)
    if calls is None:
        return
    if not isinstance(calls, list):
        raise Unfit(place, "is no list of tool calls", "write a list of objects", calls)
    events.seen = True
    rest = []
    for index, call in enumerate(calls):
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise Unfit(f"{place}[{index}]", "is no tool call", "give it a name", call)
        parts = {to_snake(key): part for key, part in call.items()}
        status, error = parts.pop("status", None), parts.pop("error", None)
        if error is None and status == "failure":
            error = parts.pop("output", None) or "failure"
        events.whole(parts.pop("name"), parts.pop("input_parameters", None), parts.pop("output", None), error=error)
        rest.append({k: v for k, v in parts.items() if v not in _EMPTY and (k, v) != ("type", "FUNCTION")})
    if any(rest):
        left["tools_called"] = rest


def _finish(draft: Draft, events: Events, whole: dict[str, Any]) -> None:
    """Tool events, the id, and everything that is left over as metadata."""
    found = events.finished()
    if found is not None:
        draft.body["toolEvents"] = found
    own = whole.pop("metadata", None)
    if own is None:
        own = whole.pop("additional_metadata", None)
    if own is not None and not isinstance(own, dict):
        own = {"metadata": own}
    identity = whole.pop("id", None)
    name = whole.get("name")
    if identity is not None:
        draft.body["id"] = identity
    elif isinstance(name, str) and name.strip():
        draft.body["id"] = name
    rest = {key: value for key, value in whole.items() if value not in _EMPTY}
    metadata = {**(own or {}), **draft.body.get("metadata", {}), **({"deepeval": rest} if rest else {})}
    if metadata:
        draft.body["metadata"] = metadata
    if shown_text(metadata).count("[DEEPEVAL:") or "[DEEPEVAL:" in draft.body["input"] + draft.body["output"]:
        draft.note("an image is left as the mark that stands for it")
