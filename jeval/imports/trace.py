"""A trace of spans, whoever recorded it, as a case: what went in, what came out, what was called between."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jeval.imports.conversation import answer_places, fill
from jeval.imports.draft import Draft, Options, Unfit, json_or_text, shown_text
from jeval.imports.events import Events
from jeval.imports.transcript import Step, message_list, steps

__all__ = ["Span", "Trace", "case_of"]

# Keys under which a wrapped text stands, likeliest first.
_TEXTS = "output answer response result text content input question query prompt message completion".split()
_PASSAGE_TEXTS = ("content", "text", "page_content", "document.content", "pageContent")


@dataclass
class Span:
    """One step of a trace. `error` is what went wrong, None where nothing did; `order` sorts by time."""

    kind: Literal["llm", "tool", "retriever", "other"]
    name: str
    input: Any = None
    output: Any = None
    error: Any = None
    order: Any = 0
    call_id: Any = None
    policy: str | None = None
    passages: list[Any] = field(default_factory=list)


@dataclass
class Trace:
    """All that is known of one trace. `input` and `output` are those of the whole, where it has any."""

    id: str
    input: Any = None
    output: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)


def case_of(trace: Trace, options: Options) -> Draft:
    """The case in a trace. Raises Unfit where it holds no answer."""
    draft = Draft({"id": trace.id, "metadata": dict(trace.metadata)})
    spans = sorted(trace.spans, key=lambda span: str(span.order).zfill(24))
    talk = _talk(trace, spans, draft)
    if talk:
        answer = answer_places(talk, Options())[-1]
        fill(draft, talk, answer, Options(transcript=options.transcript, failure=options.failure))
    _whole(draft, trace)
    policies = [span.policy for span in spans if span.policy]
    if policies and "policy" not in draft.body:
        draft.body["policy"] = policies[-1]
    _tools(draft, spans, options)
    _context(draft, spans)
    for key in ("input", "output"):
        if key not in draft.body:
            remedy = "record inputs and outputs with your spans; many recorders leave them out unless told to"
            raise Unfit(key, f"is not in trace {trace.id:.40}", remedy)
    if not draft.body["metadata"]:
        del draft.body["metadata"]
    return draft


def _talk(trace: Trace, spans: Sequence[Span], draft: Draft) -> list[Step]:
    """The conversation: of the whole, or of the last model call, which holds what came before it."""
    pairs = [(trace.input, trace.output)]
    pairs += [(span.input, span.output) for span in reversed(spans) if span.kind == "llm"]
    for given, said in pairs:
        messages = message_list(given)
        if messages is None:
            continue
        found = list(steps(messages, draft))
        answer = message_list(said) or _reply(said)
        found += list(steps(answer, draft, "output")) if answer else []
        if not answer and (text := _text(said)):
            found.append(Step("say", "assistant", text))
        if any(step.kind == "say" and step.role == "assistant" and step.text.strip() for step in found):
            return found
    return []


def _reply(value: Any) -> list[Any] | None:
    """The message in a single reply, or in the choices of one."""
    value = json_or_text(value)
    if isinstance(value, dict) and isinstance(value.get("choices"), list) and value["choices"]:
        value = value["choices"][0]
    if isinstance(value, dict) and isinstance(value.get("message"), dict):
        value = value["message"]
    if isinstance(value, dict) and "role" in value:
        return [value]
    return None


def _whole(draft: Draft, trace: Trace) -> None:
    """The input and output of the whole, where they are texts: they are what the user saw."""
    for key, value in (("input", trace.input), ("output", trace.output)):
        if value is None or value == "":
            continue
        if message_list(value) or (key == "output" and _reply(value)):
            if key in draft.body:
                continue
            value = [s.text for s in steps(message_list(value) or _reply(value) or [], draft) if s.kind == "say"]
            draft.body[key] = value[-1] if value else ""
            continue
        text = _text(value)
        if text is None:
            if key in draft.body:
                continue
            draft.note(f"{key} is the JSON of an object, for no text stands in it")
            text = shown_text(value)
        draft.body[key] = text


def _text(value: Any) -> str | None:
    """The text in a value: itself, or under the one key that is known to hold it."""
    value = json_or_text(value)
    if isinstance(value, str):
        return value or None
    if isinstance(value, dict):
        for key in _TEXTS:
            if isinstance(value.get(key), str) and value[key]:
                return str(value[key])
    return None


def _tools(draft: Draft, spans: Sequence[Span], options: Options) -> None:
    """Tool spans are the log of what was called; without any, the calls in the conversation are."""
    tools = [span for span in spans if span.kind == "tool"]
    if not tools:
        if options.recorded:
            draft.body.setdefault("toolEvents", [])
        return
    for text in [text for text in draft.notes if text.startswith("tool ")]:
        del draft.notes[text]  # of the calls in the conversation, which these take the place of
    events = Events(options, draft)
    for span in tools:
        events.whole(span.name, span.input, span.output, error=span.error, call_id=span.call_id)
    draft.body["metadata"].pop("callsWithoutResult", None)
    draft.body["toolEvents"] = events.finished()


def _context(draft: Draft, spans: Sequence[Span]) -> None:
    passages: list[dict[str, Any]] = []
    for span in spans:
        found = span.passages or (_documents(span.output) if span.kind == "retriever" else [])
        for item in found:
            passage = _passage(item)
            if passage is None:
                draft.count("a retrieved passage without a text left out")
            elif passage not in passages:
                passages.append(passage)
    if passages:
        draft.body["context"] = [{"id": f"c{number}", **passage} for number, passage in enumerate(passages, 1)]


def _documents(value: Any) -> list[Any]:
    value = json_or_text(value)
    if isinstance(value, dict):
        value = next((value[key] for key in ("documents", "results", "passages") if key in value), [value])
    return value if isinstance(value, list) else [] if value is None else [value]


def _passage(item: Any) -> dict[str, Any] | None:
    if isinstance(item, str):
        return {"content": item} if item else None
    if not isinstance(item, dict):
        return None
    item = item.get("document", item) if isinstance(item.get("document"), dict) else item
    text = next((item[key] for key in _PASSAGE_TEXTS if isinstance(item.get(key), str)), None)
    if not text:
        return None
    source = next(
        (item[k] for k in ("source", "document_id", "document.id", "id") if isinstance(item.get(k), str)),
        None,
    )
    title = item.get("title")
    return {
        "content": text,
        **({"title": title} if isinstance(title, str) else {}),
        **({"source": source} if source else {}),
    }
