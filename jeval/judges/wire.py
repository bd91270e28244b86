"""The bytes of a request and the answers in a reply."""

import math
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import orjson

from jeval.errors import MalformedAnswer
from jeval.fingerprint import compact
from jeval.question import Answer, Question, Reply, check_answer
from jeval.state import State

__all__ = ["RequestBody", "parse_object", "read_reply"]

# Most cases of a run ask the same questions; sentence checks ask their own each time and must not pile up.
_KEPT = 256


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


def parse_object(content: bytes) -> dict[str, Any] | None:
    """A JSON object, or None for anything else."""
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:  # NaN, half a reply, text that is not UTF-8, brackets without end
        return None
    return body if isinstance(body, dict) else None


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
        raise MalformedAnswer(f"the reply is {_looks_like(content)}, not a JSON object")
    answers = body.get("answers")
    if not isinstance(answers, dict):
        raise MalformedAnswer("the reply holds no answers")
    model = body.get("model")
    if not isinstance(model, str) or not model.strip():
        raise MalformedAnswer("the reply does not say which model answered")
    usage = body.get("usage")
    if not isinstance(usage, dict):
        usage = {}
    input_tokens = _count(usage.get("input_tokens"))
    cost = _amount(usage.get("cost"))
    if cost is None and input_tokens is not None and usd_per_million_input is not None:
        cost = input_tokens * usd_per_million_input / 1e6
    own_id = body.get("id")
    if request_id is None and isinstance(own_id, str):
        request_id = own_id
    return Reply(
        answers={key: _answer(key, question, answers) for key, question in questions.items()},
        model=_shown(model),
        input_tokens=input_tokens,
        output_tokens=_count(usage.get("output_tokens")),
        cost_usd=cost,
        request_id=_shown(request_id) if request_id else None,
    )


def _answer(key: str, question: Question, answers: Mapping[str, Any]) -> Answer:
    if key not in answers:
        raise MalformedAnswer(f"the answer to {key:.40} is missing")
    try:
        return check_answer(question, answers[key])
    except MalformedAnswer as error:
        raise MalformedAnswer(f"the answer to {key:.40}: {error.message}") from None


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return int(value)


def _amount(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return float(value)


def _shown(text: str) -> str:
    """At most 200 printable characters of what a reply calls itself."""
    text = text.strip()[:200]
    return text if text.isprintable() else "".join(char for char in text if char.isprintable())


def _looks_like(content: bytes) -> str:
    start = content[:200].lstrip().lower()
    if not start:
        return "empty"
    if start.startswith(b"<"):
        return "an HTML page"
    if start.startswith((b"{", b"[")):
        return "broken or cut-off JSON"
    return "text"
