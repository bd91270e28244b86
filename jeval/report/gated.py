"""What the gate made of a run that was made with `--ci`, as the store keeps it."""

import json
from typing import Any, NamedTuple

from jeval.gate import GateReason, GateVerdict

__all__ = ["StoredGate", "gate_word", "stored_gate"]

_WORDS = {0: "passed", 1: "failed", 2: "not passed: incomplete"}


def gate_word(exit_code: int) -> str:
    """A verdict in words, to stand after the gate."""
    return _WORDS.get(exit_code, "not passed")


class StoredGate(NamedTuple):
    """A gate by its name, and its verdict."""

    name: str
    verdict: GateVerdict

    @property
    def passed(self) -> bool:
        """Whether it let the run through."""
        return self.verdict.exit_code == 0

    @property
    def word(self) -> str:
        """The verdict in words, to stand after the gate's name."""
        return gate_word(self.verdict.exit_code)

    @property
    def holding(self) -> tuple[GateReason, ...]:
        """The rules that hold; those that do not are `verdict.broken`."""
        return tuple(reason for reason in self.verdict.reasons if reason.holds)

    @property
    def reviews_fail(self) -> bool:
        """Whether it stopped the run for what is for review."""
        return any(reason.rule == "max_review_rate" for reason in self.verdict.broken)


def stored_gate(text: str | None, exit_code: int | None) -> StoredGate | None:
    """From a run's columns `gate` and `exit_code`; None where no gate was asked, or what is kept is not a verdict."""
    try:
        kept: Any = json.loads(text or "null")
        reasons = tuple(
            GateReason(str(rule["rule"]), bool(rule["holds"]), str(rule["text"]), int(rule["exit_code"]))
            for rule in kept["rules"]
        )
        name = str(kept["name"])
    except (ValueError, TypeError, KeyError):
        return None
    broken = max((reason.exit_code for reason in reasons if not reason.holds), default=0)
    return StoredGate(name, GateVerdict(broken if exit_code is None else exit_code, reasons))
