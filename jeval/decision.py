"""From a plan and answers to checks. Pure: the same judgments and thresholds give the same checks."""

from collections.abc import Mapping

from jeval.plan import CasePlan, PlannedCheck
from jeval.question import Answer
from jeval.result import Check, Failure
from jeval.rubric import Thresholds
from jeval.ruling import Verdict
from jeval.score import MetricResult, score_case

__all__ = ["decide_case", "decide_check", "decide_scores"]

UNASKED = Failure("unasked", "no judgment is stored for it and asking is off (judge.reuse=only)")


def decide_check(
    case_id: str,
    planned: PlannedCheck,
    answers: Mapping[str, Answer],
    thresholds: Thresholds,
    failure: Failure | None = None,
) -> Check:
    """One check. `answers` is by question sha256; where one is missing the check is an error with `failure`."""
    rubric = planned.rubric
    if planned.settled is not None:
        return Check(case_id, rubric, planned.settled, None, None, None, planned.evidence)
    given: dict[str, Answer] = {}
    for part, sha in planned.parts:
        answer = answers.get(sha)
        if answer is None:
            kind, message = failure or UNASKED
            verdict = Verdict("error", None, kind, f"{kind}: {message}")
            return Check(case_id, rubric, verdict, None, None, planned.criterion, planned.evidence)
        given[part] = answer
    verdict = planned.kind.decide(planned.facts, given, rubric.effective(thresholds))
    if "" in given:
        answer = given[""]
        return Check(
            case_id, rubric, verdict, answer.probabilities, answer.confidence, planned.criterion, planned.evidence
        )
    known = [a.confidence for a in given.values() if a.confidence is not None]
    probabilities = {part: answer.probabilities for part, answer in given.items()}
    confidence = min(known) if len(known) == len(given) else None
    return Check(case_id, rubric, verdict, probabilities, confidence, planned.criterion, planned.evidence)


def decide_case(
    plan: CasePlan, answers: Mapping[str, Answer], thresholds: Thresholds, failure: Failure | None = None
) -> tuple[Check, ...]:
    """Every check of a case, in the rubrics' order."""
    return tuple(decide_check(plan.case.id, check, answers, thresholds, failure) for check in plan.checks)


def decide_scores(
    plan: CasePlan, answers: Mapping[str, Mapping[str, Answer]], failure: Failure | None = None
) -> tuple[MetricResult, ...]:
    """Every metric's result. `answers` is by state sha256, then by question sha256, for metrics may see different
    states of one case."""
    return score_case(plan.metrics, answers, failure or UNASKED) if plan.metrics else ()
