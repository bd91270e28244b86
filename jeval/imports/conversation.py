"""From the steps of a conversation to a case: policy, turns, tool events, the answer and what it answers."""

from collections.abc import Sequence
from typing import Any

from jeval.imports.draft import Draft, Options, Unfit, shown_text
from jeval.imports.events import Events
from jeval.imports.transcript import Step

__all__ = ["answer_places", "fill"]


def answer_places(steps: Sequence[Step], options: Options) -> list[int]:
    """The positions of the answers to make cases of: the last one, or each."""
    places = [
        i for i, step in enumerate(steps) if step.kind == "say" and step.role == "assistant" and step.text.strip()
    ]
    if not places:
        raise Unfit("messages", "no message of the assistant holds a text", "leave this conversation out")
    return places if options.answers == "each" else places[-1:]


def fill(draft: Draft, steps: Sequence[Step], answer: int, options: Options) -> None:
    """Fill a draft from a conversation. With `answers` "each" the case ends with its answer."""
    if options.answers == "each":
        steps = steps[: answer + 1]
    body = draft.body
    body["output"] = steps[answer].text
    asked = [step.text for step in steps[:answer] if step.kind == "say" and step.role == "user"]
    if not asked:
        draft.note("no user message before the answer: input is empty")
    body["input"] = asked[-1] if asked else ""
    policy = [step.text for step in steps if step.kind == "say" and step.role == "system"]
    if policy and "policy" not in body:
        body["policy"] = "\n\n".join(policy)
    events = Events(options, draft)
    for step in steps:
        if step.kind == "call":
            events.call(step.name, step.value, step.call_id)
        elif step.kind == "result":
            events.result(step.value, step.call_id, step.name, failure=step.failure)
    found = events.finished()
    if found is not None:
        body["toolEvents"] = found
    turns = [turn for step in steps if (turn := _turn(step, options)) is not None]
    if turns:
        body["messages"] = [{"id": f"m{number}", **turn} for number, turn in enumerate(turns, 1)]


def _turn(step: Step, options: Options) -> dict[str, Any] | None:
    full = options.transcript == "full"
    if step.kind == "say":
        return {"role": step.role, "content": step.text} if full or step.role in ("user", "assistant") else None
    if not full:
        return None
    if step.kind == "call":
        arguments = "" if step.value is None else shown_text(step.value)
        return {"role": "assistant", "content": f"[calls {step.name} {arguments}]"}
    return {"role": "tool", "content": shown_text(step.value) if step.value is not None else ""}
