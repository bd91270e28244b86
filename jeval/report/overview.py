"""A run from above, as plain data: what was judged by whom, counts and rates, each rubric and metric."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["STATUSES", "CheckLine", "Overview", "RubricLine", "ScoreLine", "dollars"]

STATUSES = ("pass", "fail", "review", "skipped", "error")


def dollars(usd: float) -> str:
    """A cost in US dollars; one too small for four decimals is no nought."""
    return "under $0.0001" if 0 < usd < 0.0001 else f"${usd:.4f}" if usd else "$0"


class CheckLine(NamedTuple):
    """One check; the fields are the columns of the store's `checks`. `evidence` says what was shown."""

    case_id: str
    rubric_id: str
    rubric_version: str
    kind: str
    severity: str
    required: bool
    status: str
    outcome: str | None
    probabilities: Mapping[str, Any] | None
    confidence: float | None
    reason: str
    rule: str
    criterion: str | None
    evidence: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it."""
        return self._asdict()


class RubricLine(NamedTuple):
    """One rubric and how often it gave each status."""

    id: str
    version: str
    kind: str
    severity: str
    required: bool
    counts: Mapping[str, int]


class ScoreLine(NamedTuple):
    """One metric over the cases of a run. `mean` is None where none was scored."""

    id: str
    version: str
    mean: float | None
    scored: int
    passed: int
    skipped: int
    errors: int


@dataclass(frozen=True, slots=True)
class Overview:
    """A run. Unknown is None; tokens, cost and seconds are of the whole run."""

    id: str
    name: str | None
    status: str
    """running, complete, incomplete or interrupted."""
    exit_code: int | None
    started_at: str
    finished_at: str | None
    dataset: str
    cases: int | None
    """Cases of the dataset."""
    evaluated: int
    """Cases the run came to."""
    thresholds: str | None
    threshold_pass: float | None
    threshold_fail: float | None
    judge: str
    model: str
    """The model that answered, several with commas between; the model asked where none has."""
    simulated: bool
    requests: int
    asked: int
    reused: int
    oldest_reused_at: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    wall_s: float | None
    stopped_because: str | None
    sweep_id: str | None
    tags: Mapping[str, Any]
    rubrics: tuple[RubricLine, ...]
    scores: tuple[ScoreLine, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Checks by status."""
        return {status: sum(line.counts[status] for line in self.rubrics) for status in STATUSES}

    @property
    def critical_failures(self) -> int:
        """Failed checks of rubrics of critical severity."""
        return sum(line.counts["fail"] for line in self.rubrics if line.severity == "critical")

    @property
    def decided(self) -> int:
        """Checks that passed or failed."""
        return self.counts["pass"] + self.counts["fail"]

    @property
    def applicable(self) -> int:
        """Checks that were not skipped."""
        return sum(self.counts.values()) - self.counts["skipped"]

    @property
    def errors(self) -> int:
        """Checks and metrics without a usable answer."""
        return self.counts["error"] + sum(score.errors for score in self.scores)

    @property
    def ended(self) -> bool:
        """Whether the run came to an end of some sort; one that did not is going on, or its process died."""
        return self.status != "running"

    def as_dict(self) -> dict[str, Any]:
        """As a machine reads it, under the names that `jeval run --json` uses."""
        return {
            "run_id": self.id,
            "name": self.name,
            "status": self.status,
            "exit_code": self.exit_code,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "dataset": self.dataset,
            "cases": self.evaluated,
            "dataset_cases": self.cases,
            "checks": sum(self.counts.values()),
            "counts": self.counts,
            "critical_failures": self.critical_failures,
            "scores": {score.id: score.mean for score in self.scores},
            "thresholds": {"name": self.thresholds, "pass": self.threshold_pass, "fail": self.threshold_fail},
            "judge": self.judge,
            "model": self.model,
            "simulated": self.simulated,
            "requests": self.requests,
            "judgments": {
                "asked": self.asked,
                "reused": self.reused,
                "oldest_reused_at": self.oldest_reused_at,
            },
            "usage": {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens},
            "cost_usd": self.cost_usd,
            "wall_s": self.wall_s,
            "stopped_because": self.stopped_because,
            "sweep_id": self.sweep_id,
            "tags": dict(self.tags),
        }
