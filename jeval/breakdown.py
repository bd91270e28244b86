"""One question of a metric and its answer: its value, whether it applies and whether it passes. Pure.

The value is P(true) of a noul, the expected level over the highest of a score, and the mean credit of a
choice's credited options. A choice does not apply where its options without credit hold at least half of the
probability, or those with credit none.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from jeval.metric import Choice, MetricQuestion, Noul, Score
from jeval.question import Answer, Question, check_answer

__all__ = ["QuestionScore", "bounded", "number", "question_score", "words_of"]

NOT_APPLICABLE = 0.5
STRICT_NOUL = 0.5
# Authors write decimals and judges answer in them; the binary noise of adding them up must decide nothing.
_DIGITS = 12
_TIE = 1e-9


class QuestionScore(NamedTuple):
    """One row of a breakdown.

    `position` counts from 1. `probabilities` names a noul's true and false, a score's levels by their text
    and a choice's options. `value` is 0 to 1, or None where the question does not apply. `passed` is None
    where the metric is not strict or the question does not apply. `confidence` is 0 to 1, or None where the
    judge gave none.
    """

    position: int
    type: Literal["noul", "score", "choice"]
    question: str
    weight: float
    probabilities: Mapping[str, float]
    value: float | None
    applicable: bool
    passed: bool | None
    confidence: float | None

    def as_dict(self) -> dict[str, Any]:
        """The row under the names the store uses."""
        return {
            "position": self.position,
            "type": self.type,
            "question": self.question,
            "weight": self.weight,
            "probabilities": dict(self.probabilities),
            "value": self.value,
            "applicable": self.applicable,
            "passed": self.passed,
            "confidence": self.confidence,
        }


def question_score(
    position: int, asked: MetricQuestion, question: Question, answer: Answer, *, strict: bool
) -> QuestionScore:
    """The row of one answer; `question` is `asked` as it was sent. Raises MalformedAnswer."""
    if not _sound(question, answer):
        answer = check_answer(question, _as_sent(question, answer))
    probabilities = answer.probabilities
    value: float | None
    match asked:
        case Noul():
            return _noul_row(position, asked.text, asked.weight, probabilities["true"], strict)
        case Score():
            # The judge's own expected level, not one worked out from its rounded probabilities.
            value = bounded((answer.score or 0.0) / (len(asked.levels) - 1))
            probabilities = dict(zip(asked.levels, probabilities.values(), strict=True))
        case Choice():
            value = _credit(asked, probabilities)
    passed = _passes(asked, probabilities) if strict and value is not None else None
    return QuestionScore(
        position,
        asked.type,
        asked.text,
        asked.weight,
        probabilities,
        value,
        value is not None,
        passed,
        answer.confidence,
    )


# Answers come in hundredths, so the same few rows occur over and over.
@lru_cache(maxsize=8192)
def _noul_row(position: int, text: str, weight: float, p: float, strict: bool) -> QuestionScore:
    probabilities = MappingProxyType({"true": p, "false": bounded(1 - p)})
    passed = p >= STRICT_NOUL if strict else None
    confidence = bounded(abs(2 * p - 1))
    return QuestionScore(position, "noul", text, weight, probabilities, p, True, passed, confidence)


def _sound(question: Question, answer: Answer) -> bool:
    """Whether an answer is beyond doubt, at a glance. Most are, for judges check what comes over the wire."""
    p = answer.probabilities
    if question.type == "noul":
        # NaN is equal to nothing and not above anything.
        return len(p) == 1 and type(true := p.get("true")) is float and 0 <= true <= 1
    top = len(question.names) - 1
    return (
        tuple(p) == question.names
        and {float} == set(map(type, p.values()))
        and min(p.values()) >= 0
        and abs(math.fsum(p.values()) - 1) <= 0.005 * len(p) + 0.01
        and (answer.confidence is None or (type(answer.confidence) is float and 0 <= answer.confidence <= 1))
        and (question.type == "choice" or (type(answer.score) is float and 0 <= answer.score <= top))
    )


def _as_sent(question: Question, answer: Answer) -> dict[str, Any]:
    """The answer in its wire form, so that one check holds wherever it comes from."""
    if question.type == "noul":
        return {"noul": answer.probabilities.get("true")}
    return {"probabilities": answer.probabilities, "confidence": answer.confidence, "score": answer.score}


def _credit(asked: Choice, probabilities: Mapping[str, float]) -> float | None:
    """The credited options' mean credit, weighted by probability; None where the question does not apply."""
    # fsum, for decimals that make up a half must not miss it by the binary noise of adding them.
    credited = [(probabilities[name], credit) for name, credit in asked.options.items() if credit is not None]
    elsewhere = math.fsum(probabilities[name] for name, credit in asked.options.items() if credit is None)
    mass = math.fsum(p for p, _ in credited)
    if elsewhere >= NOT_APPLICABLE or mass <= 0:
        return None
    return bounded(math.fsum(p * credit for p, credit in credited) / mass)


def _passes(asked: Score | Choice, probabilities: Mapping[str, float]) -> bool:
    """Whether a question is answered in its best possible way. A tie for first place is not a pass."""
    if isinstance(asked, Score):
        return _leaders(probabilities) == [asked.levels[-1]]
    leaders = _leaders(_credited(asked, probabilities))
    return len(leaders) == 1 and asked.options[leaders[0]] == 1


def _credited(asked: Choice, probabilities: Mapping[str, float]) -> dict[str, float]:
    return {name: probabilities[name] for name, credit in asked.options.items() if credit is not None}


def _leaders(probabilities: Mapping[str, float]) -> list[str]:
    """The most probable option, or all that share the first place."""
    peak = max(probabilities.values())
    return [name for name, p in probabilities.items() if peak - p <= _TIE]


def bounded(value: float) -> float:
    """The value within 0 to 1, rid of binary noise."""
    return min(max(round(value, _DIGITS), 0.0), 1.0)


@lru_cache(maxsize=8192)
def number(value: float | None) -> str:
    """At most four decimals, for people."""
    return "unknown" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def words_of(asked: MetricQuestion, row: QuestionScore) -> str:
    """What a row says, in words and numbers, the same every time."""
    if isinstance(asked, Noul):
        return _noul_words(row.position, row.passed, row.probabilities["true"])
    head = _head(row.position, row.passed)
    match asked:
        case Score():
            best = len(asked.levels) - 1
            level = number((row.value or 0.0) * best)
            return f"{head}: {_first(row.probabilities)}, expected level {level} of {best}"
        case Choice():
            credited = _credited(asked, row.probabilities)
            if row.applicable:
                return f"{head}: {_first(credited)}, credit {number(row.value)}"
            if not math.fsum(credited.values()):
                return f"{head} does not apply: no option with a credit has any probability"
            elsewhere = math.fsum(p for name, p in row.probabilities.items() if name not in credited)
            return f"{head} does not apply: {number(elsewhere)} is on options without a credit"


def _head(position: int, passed: bool | None) -> str:
    return f"Question {position}" + ("" if passed is None else " passed" if passed else " did not pass")


@lru_cache(maxsize=8192)
def _noul_words(position: int, passed: bool | None, p: float) -> str:
    lean = "an even chance" if p == 0.5 else "likely" if p > 0.5 else "unlikely"
    return f"{_head(position, passed)}: {lean}, P(true) {number(p)}"


def _first(probabilities: Mapping[str, float]) -> str:
    leaders = [f"“{name:.60}”" for name in _leaders(probabilities)]
    peak = number(max(probabilities.values()))
    if len(leaders) == 1:
        return f"{leaders[0]} {peak}"
    return f"a tie of {' and '.join(leaders[:3])}{' and more' if len(leaders) > 3 else ''} at {peak}"
