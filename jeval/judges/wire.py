"""The bytes of a request and the answers in a reply: what a protocol is, and System One's."""

import json
import math
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import orjson

from jeval.errors import MalformedAnswer
from jeval.fingerprint import compact
from jeval.judges.gateways import HttpSettings
from jeval.question import Answer, Question, Reply, check_answer
from jeval.state import State

if TYPE_CHECKING:
    from jeval.judges.faults import AttemptFailed

__all__ = [
    "RequestBody",
    "SystemOne",
    "Usage",
    "Wire",
    "cost_usd",
    "forgiving_object",
    "looks_like",
    "parse_object",
    "printable",
    "read_reply",
    "token_count",
    "usage_of",
]

# Most cases of a run ask the same questions; sentence checks ask their own each time and must not pile up.
_KEPT = 256

_Number = TypeVar("_Number", int, float)


class Usage(NamedTuple):
    """What replies took, None where they do not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    def plus(self, other: "Usage") -> "Usage":
        """Both together; what is unknown of one adds nothing to the other."""
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cost_usd, other.cost_usd),
        )


def _sum(one: _Number | None, other: _Number | None) -> _Number | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


class Wire(Protocol):
    """How a judge is talked to. All else, from attempts to pace, is the same for every judge over HTTP."""

    def build(self, state: State, questions: Mapping[str, Question]) -> bytes:
        """The body of a request that asks all questions about the state."""
        ...

    def read(self, content: bytes, headers: Mapping[str, str], questions: Mapping[str, Question]) -> Reply:
        """The reply in a 200, its latency and attempts left at their defaults.

        Raises MalformedAnswer where the questions are not answered in it, and AttemptFailed where it says why.
        """
        ...

    def usage(self, content: bytes) -> Usage:
        """What a 200 took whose answers are of no use. Never raises; it may be half a reply, or none."""
        ...

    def advised(self, failure: "AttemptFailed") -> "AttemptFailed":
        """A failure with what this protocol knows to do about it."""
        ...


class RequestBody:
    """Builds `{"model", "state", "questions"}` from parts that are JSON already; no key is ever sorted."""

    def __init__(self, model: str) -> None:
        self._head = f'{{"model":{compact(model)},"state":'
        self._questions: OrderedDict[tuple[tuple[str, str], ...], str] = OrderedDict()

    def build(self, state: State, questions: Mapping[str, Question]) -> bytes:
        """UTF-8 JSON, questions under their own keys in the order given."""
        # What UTF-8 cannot hold, a lone surrogate, becomes the \\uXXXX that JSON writes for it.
        return f"{self._head}{state.json}{self._tail(questions)}".encode("utf-8", "backslashreplace")

    def _tail(self, questions: Mapping[str, Question]) -> str:
        key = tuple((name, question.sha256) for name, question in questions.items())
        tail = self._questions.get(key)
        if tail is None:
            body = ",".join(f"{compact(name)}:{question.wire}" for name, question in questions.items())
            tail = self._questions[key] = f',"questions":{{{body}}}}}'
            if len(self._questions) > _KEPT:
                self._questions.popitem(last=False)
        return tail


class SystemOne:
    """System One's protocol: questions and probabilities as they are."""

    def __init__(self, settings: HttpSettings) -> None:
        self.build = RequestBody(settings.model).build
        self._price = settings.usd_per_million_input

    def read(self, content: bytes, headers: Mapping[str, str], questions: Mapping[str, Question]) -> Reply:
        """As `read_reply`; the request's id is in a header."""
        request_id = headers.get("x-typesafe-request-id")
        return read_reply(content, questions, request_id=request_id, usd_per_million_input=self._price)

    def usage(self, content: bytes) -> Usage:
        """As read from a reply with answers."""
        return usage_of(forgiving_object(content), self._price)

    def advised(self, failure: "AttemptFailed") -> "AttemptFailed":
        """As it is."""
        return failure


def parse_object(content: bytes) -> dict[str, Any] | None:
    """A JSON object, or None for anything else."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:  # NaN, half a reply, text that is not UTF-8, brackets without end
        return None
    return body if isinstance(body, dict) else None


def forgiving_object(content: bytes) -> Mapping[str, Any]:
    """A JSON object, even one that holds NaN, as Python writes it; an empty one for anything else."""
    try:
        body = json.loads(content, parse_int=float)  # an int of any length would be one that no float holds
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def usage_of(body: Mapping[str, Any], usd_per_million_input: float | None) -> Usage:
    """What a reply says it took, priced by what it read where it names no cost."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        usage = {}
    tokens = token_count(usage.get("input_tokens"))
    cost = cost_usd(usage.get("cost"), (tokens, usd_per_million_input))
    return Usage(tokens, token_count(usage.get("output_tokens")), cost)


def read_reply(
    content: bytes,
    questions: Mapping[str, Question],
    *,
    request_id: str | None,
    usd_per_million_input: float | None,
) -> Reply:
    """The reply in the body of a 200, its latency and attempts left at their defaults.

    Raises MalformedAnswer where it is not an object, names no model, or leaves an answer out or out of shape.
    """
    body = parse_object(content)
    if body is None:
        raise MalformedAnswer(f"the reply is {looks_like(content)}, not a JSON object")
    answers = body.get("answers")
    if not isinstance(answers, dict):
        raise MalformedAnswer("the reply holds no answers")
    model = body.get("model")
    if not isinstance(model, str) or not model.strip():
        raise MalformedAnswer("the reply does not say which model answered")
    used = usage_of(body, usd_per_million_input)
    own_id = body.get("id")
    if request_id is None and isinstance(own_id, str):
        request_id = own_id
    return Reply(
        answers={key: _answer(key, question, answers) for key, question in questions.items()},
        model=printable(model),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
        request_id=printable(request_id) if request_id else None,
    )


def _answer(key: str, question: Question, answers: Mapping[str, Any]) -> Answer:
    if key not in answers:
        raise MalformedAnswer(f"the answer to {key:.40} is missing")
    try:
        return check_answer(question, answers[key])
    except MalformedAnswer as error:
        raise MalformedAnswer(f"the answer to {key:.40}: {error.message}") from None


def token_count(value: Any) -> int | None:
    """Tokens as a reply counts them, None where it does not."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return int(value)


def cost_usd(stated: Any, *priced: tuple[int | None, float | None]) -> float | None:
    """The cost a reply states, else that of its tokens: (how many, US dollars a million), None where not known."""
    if not isinstance(stated, bool) and isinstance(stated, int | float) and math.isfinite(stated) and stated >= 0:
        return float(stated)
    total = 0.0
    for tokens, price in priced:
        if tokens is None or price is None:
            return None
        total += tokens * price / 1e6
    return total


def printable(text: str) -> str:
    """At most 200 printable characters of what a reply calls itself."""
    text = text.strip()[:200]
    return text if text.isprintable() else "".join(char for char in text if char.isprintable())


def looks_like(content: bytes) -> str:
    """What a reply that is no JSON object is, in words."""
    start = content[:200].lstrip().lower()
    if not start:
        return "empty"
    if start.startswith(b"<"):
        return "an HTML page"
    if start.startswith((b"{", b"[")):
        return "broken or cut-off JSON"
    return "text"
