"""A trace of spans, whoever recorded it, as a case: what went in, what came out, what was called between."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jeval.imports.conversation import answer_places, fill
from jeval.imports.draft import Draft, Options, Unfit, json_or_text, shown_text
from jeval.imports.events import Events
from jeval.imports.messages import message_list, message_of
from jeval.imports.passages import add_passages, documents_in
from jeval.imports.transcript import Step, steps

__all__ = ["Kind", "Span", "Trace", "case_of"]

# A model call, a tool, a retrieval; what holds others (an agent, a chain); what is beside it (a guardrail, a judge).
Kind = Literal["llm", "tool", "retriever", "other", "aside"]

# Keys under which a wrapped text stands, likeliest first.
_TEXTS = "output answer response result text content input question query prompt message completion".split()


@dataclass
class Span:
    """One step of a trace. `error` is what went wrong, None where nothing did; `order` sorts by time; `known` says
    that no error means success. `parent` is the id of the span it belongs to."""

    kind: Kind
    name: str
    input: Any = None
    output: Any = None
    error: Any = None
    order: Any = 0
    call_id: Any = None
    policy: str | None = None
    passages: list[Any] = field(default_factory=list)
    id: str = ""
    parent: str = ""
    known: bool = False


@dataclass
class Trace:
    """All that is known of one trace. `input` and `output` are those of the whole, where it has any of its own."""

    id: str
    input: Any = None
    output: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)


def case_of(trace: Trace, options: Options) -> Draft:
    """The case in a trace. Raises Unfit where it holds no answer."""
    draft = Draft({"id": trace.id, "metadata": dict(trace.metadata)})
    spans = sorted(trace.spans, key=lambda span: str(span.order).zfill(24))
    whole, outer = _filled((trace.input, trace.output), spans, "other")
    talk, of = _talk(whole, spans, draft)
    if talk:
        answer = answer_places(talk, Options())[-1]
        fill(draft, talk, answer, Options(transcript=options.transcript, failure=options.failure))
    else:
        whole, _ = _filled(whole, spans, "llm")
    _whole(draft, whole, says_what_was_seen=len(outer) < 2)
    if policies := [span.policy for span in spans if span.policy]:
        draft.body.setdefault("policy", policies[-1])
    _tools(draft, spans, options)
    add_passages(draft, _passages(spans))
    for key in ("input", "output"):
        if key not in draft.body:
            remedy = "record inputs and outputs with your spans; many recorders leave them out unless told to"
            raise Unfit(key, f"is not in trace {trace.id:.40}", remedy)
    _note_left_out(draft, [span for span in spans if not _same(span, whole)], of, outer)
    if not draft.body["metadata"]:
        del draft.body["metadata"]
    return draft


def _filled(whole: tuple[Any, Any], spans: Sequence[Span], kind: Kind) -> tuple[tuple[Any, Any], list[Span]]:
    """What went in and came out of the whole, where it lacks one of them by the outermost spans of a kind.

    Of several side by side it is the first one's input and the last one's output. The spans are returned too.
    """
    given, said = whole
    candidates = [span for span in spans if span.kind == kind and (_is(span.input) or _is(span.output))]
    if (_is(given) and _is(said)) or not candidates:
        return whole, []
    depths = _depths(spans)
    least = min(depths[id(span)] for span in candidates)
    outer = [span for span in candidates if depths[id(span)] == least]
    return (given if _is(given) else outer[0].input, said if _is(said) else outer[-1].output), outer


def _is(value: Any) -> bool:
    return value is not None and value != ""


def _same(span: Span, whole: tuple[Any, Any]) -> bool:
    """Whether a span says nothing but what the whole does."""
    return all(not _is(own) or own == value for own, value in zip((span.input, span.output), whole, strict=True))


def _depths(spans: Sequence[Span]) -> dict[int, int]:
    """How deep each span stands, by identity; 0 where its parent is not known."""
    known = {span.id: span for span in spans if span.id}
    depths = {}
    for span in spans:
        depth, at, seen = 0, span, {span.id}
        while (above := known.get(at.parent)) is not None and above.id not in seen:
            depth, at = depth + 1, above
            seen.add(above.id)
        depths[id(span)] = depth
    return depths


def _talk(whole: tuple[Any, Any], spans: Sequence[Span], draft: Draft) -> tuple[list[Step], Span | None]:
    """The conversation, and the model call that it is of, None where it is that of the whole.

    The whole's own goes before those of model calls, the last call before others, for it holds what came before it.
    But one that ends in what the whole came to is the one, and where no span tells of tools, one that does.
    """
    pairs: list[tuple[Any, Any, Span | None]] = [(*whole, None)]
    pairs += [(span.input, span.output, span) for span in reversed(spans) if span.kind == "llm"]
    found: list[tuple[list[Step], Span | None]] = []
    unfit: Unfit | None = None
    for given, said, of in pairs:
        try:
            talk = _conversation(given, said, draft)
        except Unfit as error:  # another one may do
            unfit = unfit or error
            continue
        if _last_said(talk):
            found.append((talk, of))
    if not found and unfit is not None:
        raise unfit
    outcome = _text(whole[1])
    if ends := [pair for pair in found if outcome is not None and _last_said(pair[0]) == outcome.strip()]:
        found = ends
    if not any(span.kind == "tool" for span in spans):
        found.sort(key=lambda pair: not any(step.kind == "result" for step in pair[0]))
    return found[0] if found else ([], None)


def _last_said(talk: Sequence[Step]) -> str:
    said = (step.text.strip() for step in reversed(talk) if step.kind == "say" and step.role == "assistant")
    return next((text for text in said if text), "")


def _conversation(given: Any, said: Any, draft: Draft) -> list[Step]:
    messages = message_list(given)
    if messages is None:
        return []
    answer = _answer(said)
    if answer[: len(messages)] == messages:  # some return the whole conversation
        messages = []
    found = [*steps(messages, draft), *steps(answer, draft, "output")]
    text = None if answer else _text(said)
    if text and text.strip() != _last_said(found):
        found.append(Step("say", "assistant", text))
    return found


def _answer(value: Any) -> list[dict[str, Any]]:
    """The messages that a model returned: a list, a single one, or the first choice of several."""
    value = json_or_text(value)
    if found := message_list(value):
        return found
    if isinstance(value, dict):
        for name in ("choices", "generations", "output"):
            inner = value.get(name)
            if not isinstance(inner, list) or not inner:
                continue
            if name == "output" and (found := message_list(inner)):
                return found
            first = inner[0][0] if isinstance(inner[0], list) and inner[0] else inner[0]
            if message := message_of(first):
                return [message]
    message = message_of(value)
    return [message] if message else []


def _whole(draft: Draft, whole: tuple[Any, Any], *, says_what_was_seen: bool) -> None:
    """The input and output of the whole, where they are texts: they are what the user wrote and saw.

    Where several spans say so, each a part of it, what the conversation has goes before them.
    """
    for key, role, value in zip(("input", "output"), ("user", "assistant"), whole, strict=True):
        if not _is(value) or (key in draft.body and not says_what_was_seen):
            continue
        if messages := message_list(value) or _answer(value):
            if key not in draft.body:
                said = [step.text for step in steps(messages, draft) if step.kind == "say" and step.role == role]
                draft.body[key] = said[-1] if said else ""
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
        events.whole(span.name, span.input, span.output, error=span.error, call_id=span.call_id, known=span.known)
    draft.body["metadata"].pop("callsWithoutResult", None)
    draft.body["toolEvents"] = events.finished()


def _passages(spans: Sequence[Span]) -> Iterator[Any]:
    for span in spans:
        yield from span.passages or (documents_in(span.output) if span.kind == "retriever" else [])


def _note_left_out(draft: Draft, spans: Sequence[Span], of: Span | None, outermost: Sequence[Span]) -> None:
    """Say of which spans nothing is in the case."""
    used = [id(span) for span in (*outermost, *([of] if of else []))]
    left = [span for span in spans if id(span) not in used]
    calls = sum(span.kind == "llm" for span in left)
    others = sum(span.kind in ("other", "aside") for span in left)
    if calls and of is not None:
        draft.note("model call besides the one the conversation is from left out", calls)
    if others:
        draft.note("span that is no model call, tool or retrieval left out", others)
