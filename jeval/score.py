"""From a metric's answers to its score: one fixed equation, the same on every run, pure.

    score = Σ wᵢ·vᵢ / Σ wᵢ    over the questions that apply

vᵢ is what `jeval.breakdown` makes of an answer, wᵢ the question's weight. It is 1 where nothing applies.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from jeval.breakdown import QuestionScore, bounded, number, question_score, words_of
from jeval.counted import counted
from jeval.errors import MalformedAnswer
from jeval.fingerprint import compact_finite
from jeval.metric import Metric
from jeval.metric_state import metric_questions
from jeval.question import Answer

__all__ = ["MetricResult", "QuestionScore", "metric_error", "metric_skipped", "score_case", "score_metric"]

NOTHING_APPLIED = 1.0

# A metric planned for a case: itself, the sha256 of the state asked about (None where the case lacks
# something), those of its questions in order, why nothing is asked, and what the judge was not shown.
Planned = tuple[Metric, str | None, tuple[str, ...], str, tuple[str, ...]]


class MetricResult(NamedTuple):
    """One metric applied to one case.

    `status` is "scored"; "skipped" where the case lacks what the metric asks for; "error" where the judge
    gave no usable answer. Only a scored result has a score (0 to 1), `passed` and a breakdown; the others say
    why in `reason`. `applied` is whether any question applied: without one the score is 1. `confidence` is
    that of the least decisive question, dropped ones too, and None where one is unknown; it is never an
    accuracy.
    """

    metric_id: str
    metric_version: str
    status: Literal["scored", "skipped", "error"]
    score: float | None
    passed: bool | None
    strict: bool
    threshold: float
    confidence: float | None
    reason: str
    breakdown: tuple[QuestionScore, ...] = ()
    applied: bool | None = None

    def breakdown_json(self) -> str:
        """The breakdown as a JSON text. Values and probabilities were checked, so they are finite."""
        return compact_finite([row.as_dict() for row in self.breakdown])

    def as_dict(self) -> dict[str, Any]:
        """The result under the names the store uses, its breakdown as a list of objects."""
        return {
            "metric_id": self.metric_id,
            "metric_version": self.metric_version,
            "status": self.status,
            "score": self.score,
            "passed": self.passed,
            "strict": self.strict,
            "threshold": self.threshold,
            "confidence": self.confidence,
            "reason": self.reason,
            "breakdown": [row.as_dict() for row in self.breakdown],
            "applied": self.applied,
        }


def metric_skipped(metric: Metric, reason: str) -> MetricResult:
    """The result where the judge was not asked."""
    return _without_score(metric, "skipped", reason)


def metric_error(metric: Metric, reason: str) -> MetricResult:
    """The result where the judge was asked and did not answer usably."""
    return _without_score(metric, "error", reason)


def _without_score(metric: Metric, status: Literal["skipped", "error"], reason: str) -> MetricResult:
    return MetricResult(metric.id, metric.version, status, None, None, metric.strict, metric.threshold, None, reason)


def score_case(
    planned: Iterable[Planned],
    found: Mapping[str, Mapping[str, Answer]],
    failure: tuple[str, str] | None = None,
) -> tuple[MetricResult, ...]:
    """The results of a case's metrics, in order.

    `found` holds the answers by the sha256 of the state and then of the question; `failure` is the kind and
    the message of what went wrong, told where answers are missing.
    """
    results = []
    for metric, state, questions, reason, cut in planned:
        if state is None:
            results.append(metric_skipped(metric, reason))
            continue
        answers = found.get(state, {})
        mine = [answers.get(question) for question in questions]
        if failure is not None and None in mine:
            results.append(metric_error(metric, f"{failure[0]}: {failure[1]}"))
        else:
            results.append(score_metric(metric, mine, left_out=cut))
    return tuple(results)


def score_metric(metric: Metric, answers: Sequence[Answer | None], *, left_out: Sequence[str] = ()) -> MetricResult:
    """The score of a case from the answers to the metric's questions, in their order.

    A missing or malformed answer makes the whole result an error, never a guess. `left_out` is what the judge
    was not shown (`State.cut`); the reason repeats it.
    """
    questions = metric_questions(metric)
    if len(answers) != len(questions):
        return metric_error(metric, f"{len(questions)} questions were asked and {len(answers)} answered")
    rows = []
    for position, (asked, question, answer) in enumerate(zip(metric.questions, questions, answers, strict=True), 1):
        if answer is None:
            return metric_error(metric, f"question {position} has no answer")
        try:
            rows.append(question_score(position, asked, question, answer, strict=metric.strict))
        except MalformedAnswer as error:
            return metric_error(metric, f"the answer to question {position} is malformed: {error.message}")
    applied = [row for row in rows if row.applicable]
    score = _strict(applied) if metric.strict else _mean(applied)
    return MetricResult(
        metric_id=metric.id,
        metric_version=metric.version,
        status="scored",
        score=score,
        passed=score >= metric.threshold,
        strict=metric.strict,
        threshold=metric.threshold,
        confidence=_least(row.confidence for row in rows),
        reason=_reason(metric, score, rows, left_out),
        breakdown=tuple(rows),
        applied=bool(applied),
    )


def _strict(applied: Sequence[QuestionScore]) -> float:
    return 1.0 if all(row.passed for row in applied) else 0.0


def _mean(applied: Sequence[QuestionScore]) -> float:
    if not applied:
        return NOTHING_APPLIED
    # Relative to the heaviest, so that no weights, however large or small, leave the range of numbers.
    heaviest = max(row.weight for row in applied)
    weights = [row.weight / heaviest for row in applied]
    total = math.fsum(weight * (row.value or 0.0) for weight, row in zip(weights, applied, strict=True))
    return bounded(total / math.fsum(weights))


def _least(confidences: Iterable[float | None]) -> float | None:
    known = list(confidences)
    # One that is unknown may be the least.
    return None if None in known else min(c for c in known if c is not None)


def _reason(metric: Metric, score: float, rows: Sequence[QuestionScore], left_out: Sequence[str]) -> str:
    """How the score came about, in words and numbers, the same every time."""
    applied = [row for row in rows if row.applicable]
    if not applied:
        parts = ["1: no question applied to this case, so there was nothing to fail"]
    elif metric.strict:
        failed = [str(row.position) for row in applied if not row.passed]
        what = f"question{'s' if len(failed) > 1 else ''} {', '.join(failed)}"
        outcome = f"{what} did not pass" if failed else "every applicable question passed"
        parts = [f"{score:g}: strict, and {outcome}"]
    else:
        shown, threshold = number(score), number(metric.threshold)
        if shown == threshold:
            shown, threshold = f"{score:.12g}", f"{metric.threshold:.12g}"
        verdict = "reaches" if score >= metric.threshold else "stays below"
        parts = [f"{shown} {verdict} the threshold {threshold}", _equation(applied, len(rows))]
    parts += [words_of(asked, row) for asked, row in zip(metric.questions, rows, strict=True)]
    if left_out:
        parts.append(f"The judge did not see everything: {'; '.join(left_out)}")
    return ". ".join(parts) + "."


def _equation(applied: Sequence[QuestionScore], asked: int) -> str:
    terms = " + ".join(
        number(row.value) if row.weight == 1 else f"{row.weight:g} × {number(row.value)}" for row in applied
    )
    # Not fsum, which refuses a sum beyond the largest number.
    total = sum(row.weight for row in applied)
    return f"It is ({terms}) / {total:g}, over {len(applied)} of {counted(asked, 'question')}"
