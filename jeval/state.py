"""What the judge may see of a case: the evidence under fixed names, and nothing else.

`expected` and `metadata` are not read here, so they cannot reach a judge.
"""

from hashlib import sha256 as _sha256
from typing import Any, NamedTuple

from jeval.case import Case
from jeval.digest import digest
from jeval.fingerprint import compact

__all__ = ["State", "build_state", "state_of"]


class State(NamedTuple):
    """The evidence as the judge sees it.

    `json` is the text as sent, keys in their written order; `sha256` is the hash of that text, 64 hex digits.
    `fields` names the top-level fields in it, `cut` says in words what was left out to fit the judge's
    limit, and is empty where nothing was.
    """

    json: str
    sha256: str
    fields: tuple[str, ...]
    cut: tuple[str, ...] = ()


def case_fields(case: Case) -> dict[str, Any]:
    """The state of a case as a JSON value; absent evidence is absent."""
    body: dict[str, Any] = {"user_input": case.input, "assistant_response": case.output}
    if case.messages:
        body["conversation"] = [{"id": m.id, "role": m.role, "content": m.content} for m in case.messages]
    if case.context:
        body["reference_material"] = [_passage(item) for item in case.context]
    if case.policy:
        body["policy"] = case.policy
    if case.tool_events is not None:  # an empty list is evidence that no tool was called
        body["tool_events"] = [_event(event) for event in case.tool_events]
    return body


def _passage(item: Any) -> dict[str, Any]:
    passage = {"id": item.id}
    if item.title is not None:
        passage["title"] = item.title
    if item.source is not None:
        passage["source"] = item.source
    passage["content"] = item.content
    return passage


def _event(event: Any) -> dict[str, Any]:
    shown = {"id": event.id, "name": event.name, "status": event.status}
    for name in ("input", "output", "error"):
        value = getattr(event, name)
        if value is not None:
            shown[name] = value
    return shown


def state_of(body: dict[str, Any], room: int) -> State:
    """A state from a JSON object, digested to `room` bytes of JSON text where it is larger."""
    text = compact(body)
    cut: tuple[str, ...] = ()
    data = text.encode()
    if len(data) > room:
        body, cut = digest(body, room)
        text = compact(body)
        data = text.encode()
    return State(text, _sha256(data).hexdigest(), tuple(body), cut)


def build_state(case: Case, room: int) -> State:
    """What every rubric question of a case sees, digested to `room` bytes of JSON text."""
    return state_of(case_fields(case), room)
