"""grounded-values: do the response's prices, percentages, dates, times and durations occur in the evidence?

No judge is asked. Values are compared in a normal form, so "2 pm" is grounded by "14:00" (see jeval.values).
"""

from collections.abc import Mapping
from typing import Any

from jeval.case import Case
from jeval.counted import counted
from jeval.kinds.base import Asked, RubricKind
from jeval.question import Answer
from jeval.rubric import Thresholds
from jeval.ruling import Verdict
from jeval.values import Evidence, find_values

__all__ = ["GroundedValues"]

_NAMED = 5


class GroundedValues(RubricKind):
    """Settles every case by code: a value that no evidence holds fails, and is named."""

    def plan(self, case: Case) -> Asked | Verdict:
        values = [value for value in find_values(case.output) if not value.loose]
        if not values:
            reason = "the response holds no price, percentage, date, time or duration"
            return Verdict("skipped", None, "no-values", reason)
        count = len({value.written for value in values})
        if not case.context and not case.policy and case.tool_events is None:
            reason = f"the response holds {_counted(count)}, but no context, tool log or policy is there"
            return Verdict("review", None, "missing-evidence", reason)
        evidence = _evidence(case)
        missing = list(dict.fromkeys(value.written for value in values if not evidence.holds(value)))
        if not missing:
            subject = "the one value" if count == 1 else f"all {count} values"
            reason = f"{subject} in the response occur{'s' if count == 1 else ''} in the evidence"
            return Verdict("pass", "grounded", "values-grounded", reason)
        named = ", ".join(map(_shown, missing[:_NAMED]))
        more = f", … and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        verb = "occurs" if len(missing) == 1 else "occur"
        reason = f"{len(missing)} of {_counted(count)} {verb} nowhere in the evidence: {named}{more}"
        return Verdict("fail", "ungrounded", "value-missing", reason)

    def decide(self, facts: Any, answers: Mapping[str, Answer], thresholds: Thresholds) -> Verdict:
        """Never needed, for `plan` settles every case; raises TypeError."""
        raise TypeError("grounded-values asks nothing, so there is nothing to decide")


def _evidence(case: Case) -> Evidence:
    evidence = Evidence()
    for item in case.context or ():
        if item.title:
            evidence.add_text(item.title)
        evidence.add_text(item.content)
    for event in case.tool_events or ():
        evidence.add_json([event.input, event.output, event.error])
    evidence.add_text(case.input)
    if case.policy:
        evidence.add_text(case.policy)
    return evidence


def _counted(count: int) -> str:
    return counted(count, "value")


def _shown(written: str) -> str:
    """A value on one line; a broken one would break the reason."""
    return " ".join(written.split())
