"""The kinds of rubric, one file each: what it asks, and how the answers become a status."""

from jeval.kinds.base import Asked, RubricKind
from jeval.kinds.claim_support import claim_support
from jeval.kinds.custom import Custom
from jeval.kinds.escalation import Escalation
from jeval.kinds.grounded_values import GroundedValues
from jeval.kinds.policy_compliance import PolicyCompliance
from jeval.kinds.tool_claim import ToolClaim
from jeval.rubric import Rubric

__all__ = ["Asked", "RubricKind", "kind_of"]

_KINDS = {
    "policy-compliance": PolicyCompliance,
    "claim-support": claim_support,
    "tool-claim": ToolClaim,
    "escalation": Escalation,
    "custom": Custom,
    "grounded-values": GroundedValues,
}


def kind_of(rubric: Rubric) -> RubricKind:
    """The rubric, its questions worded."""
    return _KINDS[rubric.kind](rubric)
