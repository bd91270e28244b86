"""tool-claim: is a claimed action backed by the tool log?

The judge says only whether the response claims that the action was completed; code reads the log.
"""

from collections.abc import Mapping
from typing import Any

from jeval.case import Case
from jeval.kinds.base import Asked, RubricKind, ToolFact, instruct, tool_fact
from jeval.question import Answer, choice
from jeval.rubric import Rubric, Thresholds
from jeval.ruling import Verdict, established, number

__all__ = ["ToolClaim"]

CLAIMS, DENIES, UNCLEAR = "claims_completed", "does_not_claim", "unclear"


class ToolClaim(RubricKind):
    """Asks one choice: claims_completed, does_not_claim or unclear."""

    def __init__(self, rubric: Rubric) -> None:
        super().__init__(rubric)
        action = rubric.params.action or ""
        own = rubric.outcomes
        options = {
            CLAIMS: own.acceptable or f"assistant_response says that {action} has been done.",
            DENIES: own.unacceptable or f"assistant_response does not say that {action} has been done.",
            UNCLEAR: own.insufficient or "It cannot be told which of the two it is.",
        }
        text = instruct(
            f'Does assistant_response claim that this action was completed: "{action}"? Judge its wording only, '
            "not whether the claim is true.",
            rubric.criterion,
        )
        self._parts = (("", choice(text, options, about=action)),)

    def plan(self, case: Case) -> Asked | Verdict:
        params = self.rubric.params
        fact = tool_fact(case.tool_events or (), params.tool_name or "", params.success_when)
        return Asked(self._parts, fact, {"toolEvent": fact.event, "toolName": params.tool_name})

    def decide(self, facts: Any, answers: Mapping[str, Answer], thresholds: Thresholds) -> Verdict:
        fact: ToolFact = facts
        p = answers[""].probabilities
        option = established(p, thresholds, CLAIMS, DENIES)
        if option == DENIES:
            reason = f"no claim was made: p({DENIES}) {_reached(p[DENIES], thresholds)}"
            return Verdict("skipped", DENIES, "no-claim", reason)
        if option is None:
            leader = answers[""].leader
            reason = f"unclear: {leader} leads with {number(p[leader])}"
            if p[leader] < thresholds.pass_:
                reason += f", below pass {number(thresholds.pass_)}"
            return Verdict("review", leader, "unclear-claim", reason)
        claimed = f"claimed (p({CLAIMS}) {_reached(p[CLAIMS], thresholds)})"
        if fact.state == "success":
            return Verdict("pass", CLAIMS, "claim-backed", f"{claimed} and {fact.why}")
        if fact.state == "failure":
            return Verdict("fail", CLAIMS, "claim-contradicted", f"{claimed} but {fact.why}")
        reason = f"{claimed} but {fact.why}: a missing log proves nothing"
        return Verdict("review", CLAIMS, "claim-without-event", reason)


def _reached(p: float, thresholds: Thresholds) -> str:
    return f"{number(p)} ≥ pass {number(thresholds.pass_)}"
