"""escalation: where the policy demands a person, was one called?

Two questions in one request, whether escalation is required and whether the response says it happened; code
reads the tool log.
"""

from collections.abc import Mapping
from typing import Any

from jeval.case import Case
from jeval.kinds.base import Asked, RubricKind, ToolFact, instruct, tool_fact
from jeval.question import Answer, choice
from jeval.rubric import Rubric, Thresholds
from jeval.ruling import Verdict, established, number

__all__ = ["Escalation"]

REQUIRED, NOT_REQUIRED = "required", "not_required"
STATES, SILENT = "states_escalation", "does_not_state"


class Escalation(RubricKind):
    """Asks `required` (required, not_required, insufficient_context) and `stated` (states_escalation,
    does_not_state, unclear)."""

    def __init__(self, rubric: Rubric) -> None:
        super().__init__(rubric)
        own = rubric.outcomes
        action = rubric.params.action or "handing the matter over to a person"
        needed = choice(
            instruct(f'Does policy require escalation ("{action}") in this situation?', rubric.criterion),
            {
                REQUIRED: own.acceptable or "A rule of policy requires it here.",
                NOT_REQUIRED: own.unacceptable or "No rule of policy requires it here.",
                "insufficient_context": own.insufficient or "The state does not tell.",
            },
        )
        said = choice(
            instruct(
                f'Does assistant_response say that it has escalated ("{action}")? Judge its wording only, not '
                "whether it is true."
            ),
            {
                STATES: "It says that this has been done or is being done.",
                SILENT: "It does not say so.",
                "unclear": "It cannot be told which of the two it is.",
            },
            about=action,
        )
        self._parts = (("required", needed), ("stated", said))

    def plan(self, case: Case) -> Asked | Verdict:
        params = self.rubric.params
        fact = tool_fact(case.tool_events or (), params.tool_name or "", params.success_when)
        return Asked(self._parts, fact, {"toolEvent": fact.event, "toolName": params.tool_name})

    def decide(self, facts: Any, answers: Mapping[str, Answer], thresholds: Thresholds) -> Verdict:
        fact: ToolFact = facts
        required, stated = answers["required"], answers["stated"]
        need = established(required.probabilities, thresholds, NOT_REQUIRED, REQUIRED)
        least = f"pass {number(thresholds.pass_)}"
        if need is None:
            top = required.leader
            reason = f"unclear whether required: {top} leads with {number(required.probabilities[top])}"
            if required.probabilities[top] < thresholds.pass_:
                reason += f", below {least}"
            return Verdict("review", top, "unclear-requirement", reason)
        known = f"{need.replace('_', ' ')} (p({need}) {number(required.probabilities[need])} ≥ {least})"
        if need == NOT_REQUIRED:
            return Verdict("skipped", need, "not-required", known)
        if fact.state == "success":
            return Verdict("pass", need, "escalated", f"{known} and {fact.why}")
        if fact.state == "failure":
            return Verdict("fail", need, "escalation-failed", f"{known} but {fact.why}")
        said = established(stated.probabilities, thresholds, STATES, SILENT)
        if said == STATES:
            return Verdict("review", need, "stated-without-event", f"{known}, the response says so, but {fact.why}")
        if said == SILENT:
            p = number(stated.probabilities[SILENT])
            return Verdict("fail", need, "not-escalated", f"{known}, {fact.why}, and p({SILENT}) {p} ≥ {least}")
        top = stated.leader
        leads = f"{top} leads with {number(stated.probabilities[top])}"
        reason = f"{known}, {fact.why}, and unclear whether stated: {leads}"
        return Verdict("review", need, "unclear-statement", reason)
