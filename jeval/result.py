"""What a run leaves behind: checks, case results and what they took."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from jeval.question import Answer, Question
from jeval.rubric import Rubric
from jeval.ruling import Status, Verdict
from jeval.score import MetricResult

__all__ = ["CaseResult", "Check", "Exchange", "Failure"]


class Check(NamedTuple):
    """One rubric applied to one case: its status and why.

    `probabilities` is {option: p} for one question, {part: {option: p}} for several, None where nothing was
    asked; `confidence` the provider's statistic (the least of several), never an accuracy. `criterion` is the
    text as sent, `evidence` a JSON text of the fields and ids shown.
    """

    case_id: str
    rubric: Rubric
    verdict: Verdict
    probabilities: Mapping[str, Any] | None
    confidence: float | None
    criterion: str | None
    evidence: str

    @property
    def status(self) -> Status:
        return self.verdict.status

    @property
    def outcome(self) -> str | None:
        return self.verdict.outcome

    @property
    def rule(self) -> str:
        return self.verdict.rule

    @property
    def reason(self) -> str:
        return self.verdict.reason

    @property
    def critical_failure(self) -> bool:
        """Whether a check of critical severity failed."""
        return self.verdict.status == "fail" and self.rubric.severity == "critical"

    def as_dict(self) -> dict[str, Any]:
        """The check under the names the store uses."""
        return {
            "case_id": self.case_id,
            "rubric_id": self.rubric.id,
            "rubric_version": self.rubric.version,
            "kind": self.rubric.kind,
            "severity": self.rubric.severity,
            "required": self.rubric.required,
            "status": self.verdict.status,
            "outcome": self.verdict.outcome,
            "probabilities": self.probabilities,
            "confidence": self.confidence,
            "reason": self.verdict.reason,
            "rule": self.verdict.rule,
            "criterion": self.criterion,
            "evidence": self.evidence,
        }


class Failure(NamedTuple):
    """Why a request brought nothing: a stable kind and one line."""

    kind: str
    message: str


class Exchange(NamedTuple):
    """One request and what came of it: the answers by question sha256, or the failure.

    `id` is unique within a run; `repeat` counts from 0 where the judge is asked the same thing several times.
    """

    id: int
    state_sha256: str
    answers: Mapping[str, Answer]
    questions: Mapping[str, Question]
    repeat: int = 0
    model: str | None = None
    latency_ms: float | None = None
    attempts: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    request_id: str | None = None
    failure: Failure | None = None
    asked_at: str | None = None
    replies: int = 0


class CaseResult(NamedTuple):
    """All that one case brought: its checks, its metric scores, and the exchanges with the judge.

    `asked` and `reused` count (state, question) pairs; `sources` are the ids of the requests its answers rest
    on, its own and reused ones. `repeats` holds every check's status in each repeat, where there are several.
    """

    case_id: str
    checks: tuple[Check, ...]
    scores: tuple[MetricResult, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    asked: int = 0
    reused: int = 0
    sources: tuple[int, ...] = ()
    repeats: tuple[tuple[Status, ...], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether any check or metric is an error."""
        checks = any(check.verdict.status == "error" for check in self.checks)
        return checks or any(score.status == "error" for score in self.scores)
