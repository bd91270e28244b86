"""The form in which a chat model answers: whole-number percentages under short keys, and probabilities made of them.

Questions are `q1`, `q2` … in the order given. An option goes by its own name where that is a plain word, as do all
of its question's; else by `option_1`, `option_2` …, so that no name can break a schema, or pose as another. Levels are
`level_0` (worst), `level_1` …

Nothing is guessed. What is no whole number from 0 to 100, lacks an option, has one too many, is written twice, or
adds up to less than 98 or more than 102, is a MalformedAnswer.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jeval.errors import MalformedAnswer
from jeval.question import Answer, Question, check_answer

__all__ = ["asked", "option_keys", "read_percentages", "schema"]

_ROUNDING = 2
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


def option_keys(question: Question) -> tuple[str, ...]:
    """What the question's options are called in an answer, in its order; nothing for a noul."""
    if question.type == "score":
        return tuple(f"level_{name}" for name in question.names)
    if all(_PLAIN.fullmatch(name) for name in question.names):
        return question.names
    return tuple(f"option_{number}" for number in range(1, len(question.names) + 1))


def asked(questions: Sequence[Question]) -> dict[str, Any]:
    """The questions as a model reads them, a JSON object."""
    return {f"q{number}": _asked(question) for number, question in enumerate(questions, 1)}


def _asked(question: Question) -> dict[str, Any]:
    if question.type == "noul":
        return {"kind": "proposition", "instructions": question.instructions, **dict(question.options)}
    kind = "levels" if question.type == "score" else "options"
    keys = option_keys(question)
    named = kind == "options" and keys != question.names
    options = []
    for key, (name, meaning) in zip(keys, question.options, strict=True):
        option = {"key": key, "option": name if named else None, "meaning": meaning}
        options.append({field: text for field, text in option.items() if text is not None})
    return {"kind": kind, "instructions": question.instructions, kind: options}


def schema(questions: Sequence[Question]) -> dict[str, Any]:
    """JSON Schema of the answer to these questions, within what strict modes take: no ranges, no optional keys."""
    return _object({f"q{number}": _answered(question) for number, question in enumerate(questions, 1)})


def _answered(question: Question) -> dict[str, Any]:
    percentage = {"type": "integer"}
    return percentage if question.type == "noul" else _object(dict.fromkeys(option_keys(question), percentage))


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_percentages(text: str, questions: Mapping[str, Question]) -> dict[str, Answer]:
    """Every question's answer under its key, from what a model wrote. Raises MalformedAnswer."""
    written = _written(text)
    answers = {}
    for number, (key, question) in enumerate(questions.items(), 1):
        if f"q{number}" not in written:
            raise MalformedAnswer(f"the answer to {key:.40} is missing")
        try:
            answers[key] = _answer(question, written[f"q{number}"])
        except MalformedAnswer as error:
            raise MalformedAnswer(f"the answer to {key:.40}: {error.message}") from None
    return answers


def _answer(question: Question, given: Any) -> Answer:
    if question.type == "noul":
        return check_answer(question, {"noul": _percentage(given, "it") / 100})
    if not isinstance(given, dict):
        raise MalformedAnswer(f"it is {given!r:.40}, not a percentage for each option")
    keys = option_keys(question)
    percentages = []
    for key, name in zip(keys, question.names, strict=True):
        if key not in given:
            raise MalformedAnswer(f"the percentage of {name!r:.40} is missing")
        percentages.append(_percentage(given[key], f"the percentage of {name!r:.40}"))
    if len(given) != len(keys):
        extra = next(key for key in given if key not in keys)
        raise MalformedAnswer(f"{extra!r:.40} was not among the options")
    total = sum(percentages)
    if abs(total - 100) > _ROUNDING:
        raise MalformedAnswer(f"the percentages add up to {total}, not to 100")
    shares = [percentage / total for percentage in percentages]
    level = sum(number * share for number, share in enumerate(shares))
    body = {"probabilities": dict(zip(question.names, shares, strict=True)), "score": level}
    return check_answer(question, body)


def _percentage(value: Any, what: str) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not 0 <= value <= 100:
        raise MalformedAnswer(f"{what} is {value!r:.40}, not a whole number from 0 to 100")
    return int(value)


def _written(text: str) -> dict[str, Any]:
    """The one JSON object in what a model wrote, be it fenced, after its thoughts, or amid prose."""
    for candidate in _candidates(text):
        try:
            found = json.loads(candidate, object_pairs_hook=_once)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    raise MalformedAnswer("the model wrote no JSON object, or more than one")


def _candidates(text: str) -> Iterator[str]:
    text = text.rpartition("</think>")[2]
    if "<think>" in text.partition("{")[0]:  # thoughts without an end: what they weigh is no answer
        return
    yield text
    parts = text.split("```")
    if len(parts) <= 3:  # of two fenced blocks, none is the answer
        inside = parts[1] if len(parts) == 3 else text
        yield inside[max(inside.find("{"), 0) : inside.rfind("}") + 1]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key twice")
    return found
