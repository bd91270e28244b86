"""What became of a run while it goes, and why it should stop."""

from dataclasses import dataclass, field
from typing import Any

from jeval.errors import JudgeError
from jeval.result import CaseResult, Exchange
from jeval.summary import Summary

__all__ = ["Outcome", "Stop"]

# Failures to reach the judge, in a row and with nothing answered between, after which the rest is left for later.
_LOST = 100


@dataclass
class Outcome:
    """What became of a run. `requests` counts HTTP calls that got a reply; tokens and cost are None if unknown."""

    run_id: str
    name: str | None
    simulated: bool = False
    status: str = "complete"
    exit_code: int = 0
    summary: Summary = field(default_factory=Summary)
    requests: int = 0
    asked: int = 0
    reused: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    wall_s: float = 0.0
    left: int = 0
    stopped_because: str | None = None
    oldest_reused: str | None = None
    models: list[str] = field(default_factory=list)
    gate: dict[str, Any] | None = None
    """The gate's verdict: its name, whether it passed, and the rules that do not hold. None without --ci."""

    def add(self, result: CaseResult) -> None:
        """Count one case and what it took."""
        self.summary.add(result)
        self.asked += result.asked
        self.reused += result.reused
        for exchange in result.exchanges:
            self.spent(exchange)

    def spent(self, what: Exchange | JudgeError) -> None:
        """Count what an exchange took, or one that ended the run."""
        self.requests += what.replies
        self.input_tokens = _plus(self.input_tokens, what.input_tokens)
        self.output_tokens = _plus(self.output_tokens, what.output_tokens)
        self.cost_usd = _plus(self.cost_usd, what.cost_usd)


def _plus(total: Any, more: Any) -> Any:
    return total if more is None else more if total is None else total + more


class Stop:
    """Why no further case should be begun, if anything."""

    def __init__(self, max_usd: float | None, outcome: Outcome) -> None:
        self._max_usd, self._outcome = max_usd, outcome
        self._failures = 0
        self._begun = 0
        self.because: str | None = None

    def look(self, result: CaseResult) -> None:
        """Take note of one result."""
        for exchange in result.exchanges:
            lost = exchange.failure is not None and exchange.failure.kind in ("connection", "timeout")
            self._failures = self._failures + 1 if lost else 0
            if self._failures >= _LOST and exchange.failure is not None:
                self.because = f"the judge cannot be reached ({exchange.failure.message})"
        self._spend()

    def _spend(self) -> None:
        """Stop once what is paid, and what is under way at the mean price so far, reaches the limit."""
        cost, done = self._outcome.cost_usd, self._outcome.summary.cases
        if self._max_usd is None or cost is None or not done:
            return
        under_way = (self._begun - done) * cost / done
        if cost + under_way >= self._max_usd:
            self.because = f"judge.max_usd={self._max_usd:g} is reached (${cost:.4f}, and what was under way)"

    def __call__(self) -> bool:
        """Asked before each case is begun."""
        self._spend()
        if self.because is None:
            self._begun += 1
        return self.because is not None
