"""The fields a metric may name, under DeepEval's names, and which of them a case can hold."""

from typing import Literal

__all__ = ["ALL", "FROM_CASE", "STATE_FIELDS", "SingleTurnField", "TurnField"]

ALL = ("all",)
"""The fields of a metric that sees what the rubrics see: all evidence of a case, under the names rubrics use."""

# DeepEval's names, so that a metric can be carried over as it is; "all" is ours.
SingleTurnField = Literal[
    "all",
    "input",
    "actual_output",
    "expected_output",
    "context",
    "retrieval_context",
    "metadata",
    "tags",
    "tools_called",
    "expected_tools",
    "mcp_servers",
    "mcp_tools_called",
    "mcp_resources_called",
    "mcp_prompts_called",
]
TurnField = Literal[
    "role",
    "content",
    "provider_transcript",
    "audio",
    "metadata",
    "tags",
    "scenario",
    "expected_outcome",
    "context",
    "user_description",
    "retrieval_context",
    "chatbot_role",
    "tools_called",
    "mcp_tools_called",
    "mcp_resources_called",
    "mcp_prompts_called",
]

FROM_CASE = frozenset(
    "all input actual_output context retrieval_context tools_called"
    " role content scenario expected_outcome chatbot_role".split()
)
"""The fields a case can hold. The others are understood, but no case has them: labels, expectations and
metadata never reach a judge, and cases hold no audio, tags or MCP records."""

STATE_FIELDS = frozenset(
    {"user_input", "assistant_response", "conversation", "reference_material", "policy", "tool_events"}
)
"""What the judge sees of a case for the rubrics, under these names."""
