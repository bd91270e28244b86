"""Counts and rates of a run, each with its denominator."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jeval.result import CaseResult
from jeval.rubric import Rubric
from jeval.ruling import STATUSES, Status

__all__ = ["RubricTally", "ScoreTally", "Summary"]


@dataclass(slots=True)
class RubricTally:
    """How often each status was given by one rubric."""

    rubric: Rubric
    counts: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))


@dataclass(slots=True)
class ScoreTally:
    """One metric's scores: how many cases were scored, their sum, and what was not scored."""

    scored: int = 0
    total: float = 0.0
    passed: int = 0
    skipped: int = 0
    errors: int = 0

    @property
    def mean(self) -> float | None:
        """The mean score, or None where no case was scored."""
        return self.total / self.scored if self.scored else None


class Summary:
    """Adds up results as they come; knows no order and keeps no cases."""

    def __init__(self) -> None:
        self.cases = 0
        self.rubrics: dict[str, RubricTally] = {}
        self.scores: dict[str, ScoreTally] = {}

    def add(self, result: CaseResult) -> None:
        """Count one case."""
        self.cases += 1
        for check in result.checks:
            tally = self.rubrics.get(check.rubric.id)
            if tally is None:
                tally = self.rubrics[check.rubric.id] = RubricTally(check.rubric)
            tally.counts[check.verdict.status] += 1
        for score in result.scores:
            total = self.scores.setdefault(score.metric_id, ScoreTally())
            if score.score is not None:
                total.scored += 1
                total.total += score.score
                total.passed += bool(score.passed)
            elif score.status == "error":
                total.errors += 1
            else:
                total.skipped += 1

    @property
    def counts(self) -> Mapping[Status, int]:
        """Checks by status."""
        return {status: sum(t.counts[status] for t in self.rubrics.values()) for status in STATUSES}

    @property
    def checks(self) -> int:
        """All checks."""
        return sum(self.counts.values())

    @property
    def critical_failures(self) -> int:
        """Failed checks of rubrics of critical severity."""
        return sum(t.counts["fail"] for t in self.rubrics.values() if t.rubric.severity == "critical")

    @property
    def decided(self) -> int:
        """Checks that passed or failed: the denominator of the pass rate."""
        return self.counts["pass"] + self.counts["fail"]

    @property
    def applicable(self) -> int:
        """Checks that were not skipped: the denominator of coverage and review rate."""
        return self.checks - self.counts["skipped"]

    @property
    def errors(self) -> int:
        """Checks and metrics without a usable answer."""
        return self.counts["error"] + sum(score.errors for score in self.scores.values())

    @property
    def pass_rate(self) -> float | None:
        """Passes among the decided, None where none is."""
        return self.counts["pass"] / self.decided if self.decided else None

    @property
    def decided_coverage(self) -> float | None:
        """The decided among the applicable, None where none is."""
        return self.decided / self.applicable if self.applicable else None

    @property
    def review_rate(self) -> float | None:
        """Reviews among the applicable, None where none is."""
        return self.counts["review"] / self.applicable if self.applicable else None

    @property
    def skipped_everywhere(self) -> list[Rubric]:
        """Required rubrics that were skipped for every case."""
        required = (tally for tally in self.rubrics.values() if tally.rubric.required)
        return [tally.rubric for tally in required if self.cases and tally.counts["skipped"] == self.cases]
